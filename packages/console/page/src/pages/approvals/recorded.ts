// What the ledger has of decided requests: their arguments are deleted with the decision, and the values that rules
// read are on record.

import { useQueries } from '@tanstack/react-query'
import type { ApprovalRequest, LedgerPage } from '../../../../src/contract/contract.ts'
import { formatQuery, get } from '../../api.ts'
import { groupBySession } from './groups.ts'

/** Requests whose arguments are deleted have the recorded ones in their place. */
export function useRecorded(requests: readonly ApprovalRequest[]): ApprovalRequest[] {
  const deleted = requests.filter(({ args }) => args === '')
  const pages = useQueries({
    queries: groupBySession(deleted, { order: '', search: '' }).map((group) => {
      const sinceMs = Math.min(...group.requests.map(({ atMs }) => atMs))
      const query = { session: group.session, sinceMs, order: 'oldest', limit: CALLS_READ }
      const path = `/ledger${formatQuery(query)}`
      return {
        queryKey: [path, group.requests.length],
        queryFn: ({ signal }: { signal: AbortSignal }) => get<LedgerPage>(path, signal),
        refetchInterval: () => group.requests.some(isNew) && AGAIN_MS,
      }
    }),
  })
  const calls = pages.flatMap(({ data }) => data?.calls ?? [])
  const texts = new Map(calls.map(({ callId, values }) => [callId, writeArguments(values)]))
  return requests.map((request) => {
    const { args, usedBy, callId } = request
    return args === '' ? { ...request, args: texts.get(usedBy ?? callId) ?? '' } : request
  })
}

const CALLS_READ = 500
const AGAIN_MS = 2_000

/** A call that waited for the verdict is recorded a moment after it. */
function isNew({ votes }: ApprovalRequest): boolean {
  return Date.now() - (votes.at(-1)?.atMs ?? 0) < 5 * AGAIN_MS
}

/** As JSON; empty if no rule read one. */
function writeArguments(values: LedgerPage['calls'][number]['values']): string {
  const read = Object.entries(values).map(([path, value]) => [path.slice('args.'.length), value])
  return read.length === 0 ? '' : JSON.stringify(Object.fromEntries(read))
}
