// A server's answer as this caller may see it: without names that are the gate's, lists with what is
// visible, handles sealed, and in the form of the client's protocol generation. Called by
// inspect-result.ts for every answer.

import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { JsonRpcResponse } from '../../protocol/message.ts'
import { toStatelessResult } from '../session/stateless-results.ts'
import type { CallSession } from './call-session.ts'
import type { SentRequest } from './pending-requests.ts'
import { stripGateMeta, unknownError } from './replies.ts'

/** Answers by which a server introduces itself. */
const HELLOS: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

export interface FilterOptions {
  readonly sent: Pick<SentRequest, 'method' | 'name' | 'progressToken'>
  readonly response: JsonRpcResponse
  readonly session: CallSession
}

/** A promise only for a long list. */
export function filterResult(options: FilterOptions): JsonRpcResponse | Promise<JsonRpcResponse> {
  const { response, sent, session } = options
  const { method, name } = sent
  const { client, generation, lists, names, tasks } = session
  const told = stripGateMeta(response)
  if (told.error !== undefined && names.isVague(method, name)) {
    session.log(`told as "not found": ${told.error.message}`)
    return { ...told, error: unknownError(method, name, generation) }
  }
  if (told.result === undefined) return told
  if (method === 'initialize') client.revision = revisionOf(told.result)
  const own =
    method === 'tasks/list'
      ? tasks.filter(told.result)
      : HELLOS.has(method)
        ? session.onHello(told.result)
        : told.result
  const visible = lists.filter(method, own, session.facts)
  if (typeof visible === 'string') return sealResult(options, told, visible)
  return visible.then((list) => sealResult(options, told, list))
}

function sealResult(
  { sent: { method, progressToken }, session: { generation, handles, tasks } }: FilterOptions,
  told: JsonRpcResponse,
  visible: string,
): JsonRpcResponse {
  const shown = handles.sealCursor(method, visible)
  if (generation === 'stateless')
    return { ...told, result: toStatelessResult(method, handles.sealTask(method, shown)) }
  if (method === TOOL_CALL) tasks.learn(shown, progressToken)
  return shown === told.result ? told : { ...told, result: shown }
}

function revisionOf(result: string): string {
  const value = JSON.parse(result) as { protocolVersion?: unknown } | null
  const revision = value?.protocolVersion
  return typeof revision === 'string' ? revision : ''
}
