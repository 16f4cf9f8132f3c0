// `resources/read` of what was cut off of an answer: the gate answers it from the session's vault, under
// the rules of the answer that it is the rest of. Nothing is decided or recorded again, since the call that
// brought it was. Called by parse-request.ts.

import type { JsonRpcRequest } from '../../protocol/message.ts'
import { RPC } from '../../protocol/rpc-codes.ts'
import { writeResult } from '../../protocol/write-message.ts'
import { toStatelessResult } from '../session/stateless-results.ts'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import { parseRestUri, REST_SCHEME } from '../shared/rest-uri.ts'
import type { CallSession } from './call-session.ts'
import { buildWithheldReply } from './replies.ts'

const READ = 'resources/read'

export function isRestRequest({ method, params }: JsonRpcRequest): boolean {
  const uri = params?.value.uri
  return method === READ && typeof uri === 'string' && uri.startsWith(REST_SCHEME)
}

export async function readRest(message: JsonRpcRequest, session: CallSession): Promise<RpcReply> {
  const { id } = message
  const uri = String(message.params?.value.uri)
  const parsed = parseRestUri(uri)
  const rest = parsed && session.vault().findRest(parsed.id)
  if (rest === undefined || rest.source.server !== session.server)
    return buildErrorReply(id, RPC.invalidParams, 'the rest of this answer is no longer kept')
  const { source, text } = rest
  const result = JSON.stringify({ contents: [{ uri, mimeType: 'text/plain', text }] })
  const converted = session.generation === 'stateless' ? toStatelessResult(READ, result) : result
  const filtered = await session.answers.filter({
    text: writeResult(id, converted),
    sources: [source],
    schema: undefined,
  })
  session.answers.recordChanges(filtered.changes)
  if (filtered.status === 'denied')
    return buildWithheldReply(message, filtered.reason, session.generation)
  return { text: filtered.text }
}
