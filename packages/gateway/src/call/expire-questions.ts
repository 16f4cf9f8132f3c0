// Ends questions of a server that its client does not answer: else they hold the server's call, and
// keep the gate from ending it, for ever. Called by the relay when it looks for calls that are overdue.

import { RPC } from '@sluice/protocol/rpc-codes'
import { CLIENT_ANSWER_MS_MAX, CLIENT_ANSWER_QUICK_MS_MAX } from '../shared/limits.ts'
import type { PendingRequests } from './pending-requests.ts'

/** These are answered by the client alone: no model and no person has to think about them. */
const QUICK: ReadonlySet<string> = new Set(['roots/list', 'ping'])

export function expireQuestions(
  up: PendingRequests,
  nowMs: number,
  log: (text: string) => void,
): void {
  if (up.size === 0) return
  const quickMs = CLIENT_ANSWER_QUICK_MS_MAX
  for (const sent of up.overdue(nowMs, quickMs, quickMs)) {
    const { method, ours, startedMs } = sent
    const limitMs = QUICK.has(method) ? quickMs : CLIENT_ANSWER_MS_MAX
    if (nowMs - startedMs <= limitMs) continue
    const message = `the client did not answer \`${method}\` within ${limitMs} ms`
    up.tellCancelled(sent, message)
    const error = { code: RPC.internal, message }
    up.answer({ kind: 'answer', id: ours, result: undefined, error, source: '' })
    log(message)
  }
}
