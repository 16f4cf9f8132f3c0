// A call of a client's before it is decided: its headers must agree with its body, it counts as a sign
// of life of the session, and what its client said to a pending approval is heard. Called by
// handle-call.ts, once for each call.

import type { Call, Facts } from '@sluice/policy/calls/call'
import { isVisible } from '@sluice/policy/decide/decide'
import { describeMismatch, listParamHeaders } from '@sluice/protocol/mcp-headers'
import { RPC } from '@sluice/protocol/rpc-codes'
import { BASE64 } from '../shared/base64.ts'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import type { CallRequest } from './call-request.ts'
import type { CallSession } from './call-session.ts'
import type { ParsedCall } from './parsed-request.ts'

export interface AcceptOptions {
  readonly parsed: ParsedCall
  readonly request: CallRequest
  readonly session: CallSession
}

/** The reply to a call that is not even decided; undefined for any other. */
export function acceptCall({
  parsed,
  request: { call, facts },
  session,
}: AcceptOptions): RpcReply | undefined | Promise<undefined> {
  const { headers, message, retry, sender } = parsed
  if (sender === 'server') return undefined
  const mismatch = headers && findHeaderMismatch(headers, { call, facts, session })
  if (mismatch !== undefined) return buildErrorReply(message.id, RPC.headerMismatch, mismatch)
  session.onAsked()
  return retry && session.prompts.acceptRetry(retry, facts).then(() => undefined)
}

/** What a balancer would read in the headers must be what the server reads in the body. Which headers a
 * hidden tool wants is hidden too: nothing tells it from an unknown one. */
function findHeaderMismatch(
  headers: ReadonlyMap<string, string>,
  { call, facts, session }: { call: Call; facts: Facts; session: CallSession },
): string | undefined {
  const { generation, pipeline } = session
  const declared = listParamHeaders(facts.tool?.definition.inputSchema) ?? []
  // A session wants none: of those that come, each must say what the body says.
  const wanted =
    generation === 'session' ? declared.filter(({ header }) => headers.has(header)) : declared
  if (headers.size === 0 && wanted.length === 0) return undefined
  const isShown = isVisible(pipeline.policy().policy, call, facts, pipeline.now())
  return describeMismatch(headers, isShown ? wanted : [], call.args, BASE64)
}
