// The reply to a request that is not forwarded. A client of the stateless generation whose approval is
// pending is asked to retry; a hidden name is answered exactly as a name that no server has. The refusal
// of a decision was handed to the ledger (admit-call.ts), which may write it after the reply has left. Called by
// handle-call.ts.

import type { Decision } from '@sluice/policy/calls/decision'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { type LocalCode, toRpcCode } from '@sluice/protocol/rpc-codes'
import { findNamedTarget } from '../session/known-names.ts'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import { describePendingToCaller } from '../tools/describe-pending.ts'
import type { CallRequest, RefusedCall } from './call-request.ts'
import type { Exchange } from './call-session.ts'
import { BUILT_IN } from './decide-call.ts'
import type { ParsedCall } from './parsed-request.ts'
import { adviseCaller } from './refusal-advice.ts'
import { buildNotFoundReply, buildRefusalReply, refusalText } from './replies.ts'

export interface DecidedRefusal {
  readonly exchange: Exchange
  readonly parsed: ParsedCall
  readonly refused: RefusedCall & { readonly request: CallRequest }
}

export type RefuseOptions =
  | { readonly exchange: Exchange; readonly reply: RpcReply }
  | DecidedRefusal

/** Answers the caller with the refusal. Does nothing if the request has been cancelled or answered. */
export function refuseCall(options: RefuseOptions): void {
  const { pending, requests } = options.exchange
  const { errorCode, notFound, text } = 'reply' in options ? options.reply : toReply(options)
  requests.reply(pending, text, { errorCode, notFound, from: 'gate' })
}

function toReply(refusal: DecidedRefusal): RpcReply {
  const { exchange, parsed, refused } = refusal
  const { message, retry, sender } = parsed
  if (sender === 'server') {
    const code = toRpcCode(refused.decision.code as LocalCode)
    return buildErrorReply(message.id, code, refusalText(refused.decision))
  }
  const { call } = refused.request
  const { pending } = refused
  return (
    (pending && exchange.session.prompts.comeAgain(message, call, pending, retry)) ??
    toClientRefusal(refusal)
  )
}

function toClientRefusal({ exchange, parsed, refused }: DecidedRefusal): RpcReply {
  const { message } = parsed
  const { session } = exchange
  const { id, method } = message
  const { generation, lists } = session
  const { call, facts } = refused.request
  const decision = withoutDefinition(refused)
  const explain = session.explain()
  const refusal = { decision, callId: refused.callId, explain }
  const target = { name: call.name, tool: facts.tool, generation }
  if (decision.action !== 'hide') {
    const { policy } = session.pipeline.policy()
    const alternatives = () => lists.findAlternatives(facts)
    const advice = adviseCaller({ decision, policy, server: call.server, explain, alternatives })
    return buildRefusalReply(message, { ...refusal, advice }, target)
  }
  // A completion is for a prompt or resource: if that is hidden, the reply says it is unknown.
  const named = findNamedTarget(message)
  if (decision.rule === BUILT_IN && named)
    return buildNotFoundReply(id, named.method, { name: named.name, generation })
  // For hidden names as for unknown ones: nothing tells which of the two it is.
  if (method === TOOL_CALL && lists.leftOut !== undefined) {
    const doubt = `not all of its server's tools are known: ${lists.leftOut}`
    return buildNotFoundReply(id, TOOL_CALL, { name: call.name, generation, doubt })
  }
  return buildRefusalReply(message, refusal, target)
}

/** The recorded reason of a definition that waits quotes the definition; the caller gets another text. */
function withoutDefinition({
  decision,
  request: { pendingDefinition },
}: DecidedRefusal['refused']): Decision {
  if (decision.code !== 'DEFINITION_CHANGED' || pendingDefinition === undefined) return decision
  return { ...decision, reason: describePendingToCaller(pendingDefinition) }
}
