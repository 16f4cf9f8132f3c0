// The reply to a request, once: what was inspected, or that a fault prevented it. A sender that no
// longer waits gets no answer. Called by handle-call.ts.

import { describeToCaller } from '@sluice/ledger/store/outage'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeError } from '@sluice/protocol/write-message'
import type { CallOutcome } from '../shared/outcome.ts'
import type { Exchange } from './call-session.ts'
import type { InspectedResult } from './inspect-result.ts'

export function answerRequest({
  exchange: { pending, requests, session },
  inspected: { isRound, reply },
}: {
  readonly exchange: Exchange
  readonly inspected: InspectedResult
}): void {
  const isDelivered = reply !== undefined && requests.reply(pending, reply.text, reply)
  if (!isDelivered && isRound === true && pending.sent !== undefined)
    session.upstream.abort(pending.sent.ours)
}

/** A fault of the gate's, or of a server that was asked for its lists: `error` may be in its words.
 * Returns the outcome of the call, if it was admitted. */
export function answerFault({
  exchange: { pending, requests, sender, session },
  error,
}: {
  readonly exchange: Exchange
  readonly error: Error
}): CallOutcome {
  const { id, method, sent } = pending
  const what = sender === 'client' ? 'the call was not made' : 'the gate could not pass it on'
  const text = writeError(id, RPC.internal, `${what}: ${describeToCaller(error)}`)
  requests.reply(pending, text, { errorCode: RPC.internal, from: sent ?? 'server' })
  session.log(`a request could not be handled: ${error.message}, \`${method}\``)
  return sent === undefined ? { status: 'error', givenBack: true } : { status: 'unknown' }
}
