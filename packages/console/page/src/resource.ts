// Data of a page: one request for all components that show it, kept while it is fetched again, with an error
// beside it if that fails.

import { QueryClient, useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { type ApiError, get } from './api.ts'

/** What was fetched a moment ago is shown as it is: several parts of a page ask for the same. */
const FRESH_MS = 1_000

export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: FRESH_MS, networkMode: 'always', gcTime: 60_000 },
  },
})

export interface Resource<Value> {
  readonly value: Value | undefined
  readonly error: ApiError | undefined
  readonly reload: () => void
}

/** What `useResource` shows, for what a person does with it: fetched unless it is there and fresh. */
export function fetchResource<Value>(path: string): Promise<Value> {
  return queries.fetchQuery({
    queryKey: [path],
    queryFn: ({ signal }) => get<Value>(path, signal),
  })
}

/** Nothing is fetched while `path` is undefined. `everyMs`: polling interval. */
export function useResource<Value>(
  path: string | undefined,
  everyMs?: number,
  /** What an earlier page has fetched is not shown first: it may be edited here. */
  isNew = false,
): Resource<Value> {
  const { data, error } = useQuery<Value, ApiError>({
    queryKey: [path],
    queryFn: ({ signal }) => get<Value>(path as string, signal),
    enabled: path !== undefined,
    // Every answer begins the time of all parts that poll the path again, so that one request is enough for them.
    staleTime: everyMs ?? FRESH_MS,
    ...(isNew && { gcTime: 0 }),
    // Who may not see it is not answered otherwise the next time.
    refetchInterval: ({ state }) => (state.error?.status === 403 ? false : (everyMs ?? false)),
  })
  const reload = useCallback(() => void queries.invalidateQueries({ queryKey: [path] }), [path])
  return { value: data, error: error ?? undefined, reload }
}
