// Data of a page: fetched when the page opens or its address changes, kept while it is fetched
// again, and replaced by an error if that fails.

import { useCallback, useEffect, useRef, useState } from 'react'
import { ApiError, get } from './api.ts'

export interface Resource<Value> {
  readonly value: Value | undefined
  readonly error: ApiError | undefined
  readonly reload: () => void
}

/** Nothing is fetched while `path` is undefined. `everyMs`: polling interval. */
export function useResource<Value>(path: string | undefined, everyMs?: number): Resource<Value> {
  const [state, setState] = useState<{ path?: string; value?: Value; error?: ApiError }>({})
  const asking = useRef<AbortController>(undefined)
  const isPending = useRef(false)
  const refused = useRef<string>(undefined)
  const reload = useCallback(() => {
    asking.current?.abort()
    if (path === undefined) return
    const mine = new AbortController()
    asking.current = mine
    isPending.current = true
    get<Value>(path, mine.signal).then(
      (value) => {
        isPending.current = false
        setState({ path, value })
      },
      (error: Error) => {
        if (mine.signal.aborted) return
        isPending.current = false
        const fault = error instanceof ApiError ? error : new ApiError(0, '', error.message, '')
        if (fault.status === 403) refused.current = path
        setState((before) =>
          before.path === path ? { ...before, error: fault } : { path, error: fault },
        )
      },
    )
  }, [path])
  useEffect(() => {
    reload()
    // Who may not see it is not answered otherwise the next time. An answer that takes longer than the
    // interval is waited for: asked again, it would never come.
    const again = () => refused.current !== path && !isPending.current && reload()
    const timer = everyMs === undefined ? undefined : setInterval(again, everyMs)
    return () => {
      asking.current?.abort()
      clearInterval(timer)
    }
  }, [reload, everyMs, path])
  const isMine = state.path === path
  return {
    value: isMine ? state.value : undefined,
    error: isMine ? state.error : undefined,
    reload,
  }
}
