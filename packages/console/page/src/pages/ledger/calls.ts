// The recorded calls that match a filter, page after page while scrolling: newest first, or oldest
// first for a timeline. New ones are counted, and shown at once while they are followed.

import { useCallback, useEffect, useRef, useState } from 'react'
import type { CallRecord, LedgerPage } from '../../../../src/contract/contract.ts'
import { type ApiError, get } from '../../api.ts'

const PAGE = 200
/** Debounce of typing. */
const TYPING_MS = 200
const AGAIN_MS = 700
const FOLLOW_MS = 1_000

export type CallOrder = 'newest' | 'oldest' | 'largest' | 'smallest'

interface Calls {
  readonly key: string
  readonly calls: readonly CallRecord[]
  readonly next: number | null
  readonly behind: number
  readonly notFollowed?: string | undefined
  /** The search goes on from here by itself. */
  readonly searchedToMs?: number | undefined
  /** Values that were looked at, in the order of a value. */
  readonly looked?: number | undefined
}

/** `key` is the query of the filter, with its order. */
function getPage(key: string, cursor = '', signal?: AbortSignal): Promise<LedgerPage> {
  return get<LedgerPage>(`/ledger${key}&limit=${PAGE}${cursor}`, signal)
}

/** The calls that match a filter, as far as they were fetched. */
export interface FilteredCalls {
  /** Undefined until there is a response to this filter. */
  readonly state: Calls | undefined
  /** Why the last request failed. */
  readonly fault: ApiError | undefined
  /** How many matching calls came after the newest that is shown; at most a page is counted. */
  readonly news: number
  /** Fetches the first page again. */
  readonly again: () => void
  /** Fetches the next page. */
  readonly more: () => void
}

export function useCalls(filter: string, order: CallOrder, isFollowing: boolean): FilteredCalls {
  const key = `${filter === '' ? '?' : `${filter}&`}order=${order}`
  const [state, setState] = useState<Calls>()
  const [fault, setFault] = useState<ApiError>()
  const asking = useRef<AbortController>(undefined)
  const latest = useRef(state)
  latest.current = state
  const ask = useCallback(async (of: string, from?: number) => {
    const mine = new AbortController()
    asking.current = mine
    const at = of.endsWith('newest') ? 'before' : 'after'
    try {
      const page = await getPage(of, from === undefined ? '' : `&${at}=${from}`, mine.signal)
      setFault(undefined)
      setState((had) => merged(had?.key === of ? had : undefined, of, page, from))
    } catch (error) {
      if (!mine.signal.aborted) setFault(error as ApiError)
    } finally {
      if (asking.current === mine) asking.current = undefined
    }
  }, [])
  useEffect(() => {
    const timer = setTimeout(() => void ask(key), latest.current === undefined ? 0 : TYPING_MS)
    return () => {
      clearTimeout(timer)
      asking.current?.abort()
    }
  }, [key, ask])
  const shown = state?.key === key ? state : undefined
  const isBehind = shown !== undefined && (shown.behind > 0 || shown.notFollowed !== undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: after every answer, until there is nothing left
  useEffect(() => {
    if (!isBehind) return
    const timer = setTimeout(() => void ask(key), AGAIN_MS)
    return () => clearTimeout(timer)
  }, [isBehind, state, key, ask])
  // A part of the ledger was searched, and it has less than a page: the next part is asked for.
  const isPartial =
    (shown?.searchedToMs !== undefined || shown?.looked !== undefined) && shown.calls.length < PAGE
  // biome-ignore lint/correctness/useExhaustiveDependencies: after every answer, until there is a page
  useEffect(() => {
    if (!isPartial || document.hidden || shown?.next === null) return
    const timer = setTimeout(() => void ask(key, shown?.next ?? undefined), 0)
    return () => clearTimeout(timer)
  }, [isPartial, state, key, ask])
  const again = useCallback(() => void ask(key), [key, ask])
  const news = useNews(filter, order === 'newest' ? shown : undefined, isFollowing, again)
  const next = shown?.next ?? null
  const more = useCallback(() => {
    if (next !== null && asking.current === undefined) void ask(key, next)
  }, [key, next, ask])
  return { state: shown, fault, news, again, more }
}

/** A call in the list. A program's calls are counted in `inner` of the call that ran it. */
export interface ListedCall extends CallRecord {
  readonly inner?: number
  readonly isUnfolded?: boolean
  /** It stands beneath the call that ran its program. */
  readonly isInner?: boolean
}

/** Puts the calls of a program beneath the call that ran it, oldest first, if that one is `unfolded`; else they are
 * left out. They stand alone if a filter leaves out the call that ran them. */
export function foldPrograms(calls: readonly CallRecord[], unfolded: string | null): ListedCall[] {
  const programs = new Map(calls.map(({ callId }) => [callId, [] as ListedCall[]]))
  for (const call of calls) programs.get(call.parent ?? '')?.unshift({ ...call, isInner: true })
  return calls.flatMap((call) => {
    if (programs.has(call.parent ?? '')) return []
    const inner = programs.get(call.callId) ?? []
    const isUnfolded = call.callId === unfolded
    return [{ ...call, inner: inner.length, isUnfolded }, ...(isUnfolded ? inner : [])]
  })
}

/** Looks while the page is visible. */
function useNews(
  filter: string,
  shown: Calls | undefined,
  isFollowing: boolean,
  again: () => void,
): number {
  const newest = shown && (shown.calls[0]?.seq ?? 0)
  const [news, setNews] = useState({ after: 0, calls: 0 })
  useEffect(() => {
    if (newest === undefined) return
    const mine = new AbortController()
    const look = async () => {
      if (document.hidden) return
      const key = `${filter === '' ? '?' : `${filter}&`}order=oldest`
      const { calls } = await getPage(key, `&after=${newest}`, mine.signal)
      if (calls.length > 0 && isFollowing) again()
      setNews({ after: newest, calls: calls.length })
    }
    // A failure shows in the next request of the list itself.
    const timer = setInterval(() => void look().catch(() => {}), FOLLOW_MS)
    return () => {
      clearInterval(timer)
      mine.abort()
    }
  }, [filter, newest, isFollowing, again])
  return newest !== undefined && news.after === newest && !isFollowing ? news.calls : 0
}

/** A later page is appended; the first page, when it is fetched again, is merged in front. */
function merged(
  had: Calls | undefined,
  key: string,
  page: LedgerPage,
  from: number | undefined,
): Calls {
  const { calls, next, behind, notFollowed, searchedToMs, looked } = page
  if (had === undefined) return { key, ...page }
  if (from !== undefined) {
    if (had.next !== from) return had
    const all = looked === undefined ? undefined : looked + (had.looked ?? 0)
    return { ...had, calls: [...had.calls, ...calls], next, searchedToMs, looked: all }
  }
  if (/est$/.test(key) && !/(new|old)est$/.test(key)) return { key, ...page }
  const isOldest = key.endsWith('oldest')
  const last = calls.at(-1)?.seq ?? 0
  const first = had.calls[0]?.seq ?? 0
  const meets = next === null || isOldest || first >= last
  if (!meets) return { key, ...page }
  const rest = had.calls.filter(({ seq }) => (isOldest ? seq > last : seq < last))
  return {
    key,
    behind,
    notFollowed,
    calls: [...calls, ...rest],
    ...(rest.length > 0
      ? { next: had.next, searchedToMs: had.searchedToMs }
      : { next, searchedToMs }),
  }
}
