// A server's answer as this caller may see it: without names that are the gate's, lists with what is
// visible, handles sealed, and in the form of the client's protocol generation. Called by
// inspect-result.ts for every answer.

import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { JsonRpcResponse } from '@sluice/protocol/message'
import { toStatelessResult } from '../session/stateless-results.ts'
import { runInSlices } from '../shared/slices.ts'
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

/** Filters a result. The result is a promise only for a list of tasks and for a long list. */
export function filterResult(options: FilterOptions): JsonRpcResponse | Promise<JsonRpcResponse> {
  const { response, sent, session } = options
  const { method, name } = sent
  const { client, generation, lists, names, tasks } = session
  const stripped = stripGateMeta(response)
  if (stripped.error !== undefined && names.isVague(method, name)) {
    session.log(`answered as "not found": ${stripped.error.message}`)
    return { ...stripped, error: unknownError(method, name, generation) }
  }
  if (stripped.result === undefined) return stripped
  if (method === 'initialize') client.revision = revisionOf(stripped.result)
  if (method === 'tasks/list')
    return runInSlices(tasks.filter(stripped.result), 'list').then((list) =>
      sealResult(options, stripped, list),
    )
  const own = HELLOS.has(method) ? session.onHello(stripped.result) : stripped.result
  const visible = lists.filter(method, own, session.facts)
  if (typeof visible === 'string') return sealResult(options, stripped, visible)
  return visible.then((list) => sealResult(options, stripped, list))
}

function sealResult(
  { sent: { method, progressToken }, session: { generation, handles, tasks } }: FilterOptions,
  stripped: JsonRpcResponse,
  visible: string,
): JsonRpcResponse {
  const shown = handles.sealCursor(method, visible)
  if (generation === 'stateless')
    return { ...stripped, result: toStatelessResult(method, handles.sealTask(method, shown)) }
  if (method === TOOL_CALL) tasks.learn(shown, progressToken)
  return shown === stripped.result ? stripped : { ...stripped, result: shown }
}

function revisionOf(result: string): string {
  const value = JSON.parse(result) as { protocolVersion?: unknown } | null
  const revision = value?.protocolVersion
  return typeof revision === 'string' ? revision : ''
}
