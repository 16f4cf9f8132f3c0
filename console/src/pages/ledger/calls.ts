// The recorded calls that match a filter: newest first, page after page while scrolling. While the
// gate still indexes its newest records the first page is polled.

import { useCallback, useEffect, useRef, useState } from 'react'
import type {
  CallRecord,
  LedgerPage,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { type ApiError, get } from '../../api.ts'

const PAGE = 200
/** Debounce of typing. */
const TYPING_MS = 200
const AGAIN_MS = 700

interface Calls {
  readonly key: string
  readonly calls: readonly CallRecord[]
  readonly next: number | null
  readonly behind: number
  readonly indexRebuilt?: string | undefined
}

/** The calls before a given record. */
function getPage(
  key: string,
  limit: number,
  before?: number,
  signal?: AbortSignal,
): Promise<LedgerPage> {
  const from = before === undefined ? '' : `&before=${before}`
  return get<LedgerPage>(`/ledger${key}${key === '' ? '?' : '&'}limit=${limit}${from}`, signal)
}

/** `state` is undefined until there is a response to this filter. */
export function useCalls(key: string): {
  state: Calls | undefined
  /** Why the last request failed. */
  fault: ApiError | undefined
  again: () => void
  more: () => void
} {
  const [state, setState] = useState<Calls>()
  const [fault, setFault] = useState<ApiError>()
  const asking = useRef<AbortController>(undefined)
  const latest = useRef(state)
  latest.current = state
  const ask = useCallback(async (of: string, before?: number) => {
    const mine = new AbortController()
    asking.current = mine
    try {
      const page = await getPage(of, PAGE, before, mine.signal)
      setFault(undefined)
      setState((had) => merged(had?.key === of ? had : undefined, of, page, before))
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
  const isBehind = state !== undefined && state.key === key && state.behind > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: after every answer, until there is nothing left
  useEffect(() => {
    if (!isBehind) return
    const timer = setTimeout(() => void ask(key), AGAIN_MS)
    return () => clearTimeout(timer)
  }, [isBehind, state, key, ask])
  const next = state?.key === key ? state.next : null
  const more = useCallback(() => {
    if (next !== null && asking.current === undefined) void ask(key, next)
  }, [key, next, ask])
  const again = useCallback(() => void ask(key), [key, ask])
  return { state: state?.key === key ? state : undefined, fault, again, more }
}

/** A later page is appended; the first page, while it is polled, is merged in front. */
function merged(
  had: Calls | undefined,
  key: string,
  { calls, next, behind, indexRebuilt }: LedgerPage,
  before: number | undefined,
): Calls {
  if (had === undefined) return { key, calls, next, behind, indexRebuilt }
  if (before !== undefined)
    return had.next === before ? { ...had, calls: [...had.calls, ...calls], next } : had
  const last = calls.at(-1)?.seq ?? 0
  const meets = next === null || (had.calls[0]?.seq ?? 0) >= last
  if (!meets) return { key, calls, next, behind, indexRebuilt }
  const older = had.calls.filter(({ seq }) => seq < last)
  const rest = { next: older.length > 0 ? had.next : next, behind, indexRebuilt }
  return { key, calls: [...calls, ...older], ...rest }
}
