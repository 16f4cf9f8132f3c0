// A server's answer as this caller may see it: without names that are the gate's, lists with what is
// visible, handles sealed, and in the form of the client's era. Used by the relay for every answer.

import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { JsonRpcResponse } from '../../protocol/message.ts'
import type { PendingRequest } from '../call/pending-requests.ts'
import { stripGateMeta, unknownError } from '../call/replies.ts'
import type { KnownNames } from '../session/known-names.ts'
import type { SessionTasks } from '../session/session-tasks.ts'
import { toStatelessResult } from '../session/stateless-results.ts'
import type { VisibleLists } from '../session/visible-lists.ts'
import type { ClientTransport } from '../shared/transport.ts'
import type { RelayContext } from './relay-context.ts'

/** Answers by which a server introduces itself. */
const HELLOS: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

export interface AnswerTellerParts {
  readonly client: ClientTransport
  readonly lists: VisibleLists
  readonly names: KnownNames
  readonly tasks: SessionTasks
  readonly context: Pick<RelayContext, 'facts' | 'handles' | 'onHello' | 'log'>
}

export class AnswerTeller {
  readonly #parts: AnswerTellerParts

  constructor(parts: AnswerTellerParts) {
    this.#parts = parts
  }

  /** A promise only for a long list. */
  tell(
    crossed: Pick<PendingRequest, 'method' | 'name' | 'progressToken'>,
    answer: JsonRpcResponse,
  ): JsonRpcResponse | Promise<JsonRpcResponse> {
    const { method, name } = crossed
    const { client, context, lists, names, tasks } = this.#parts
    const told = stripGateMeta(answer)
    if (told.error !== undefined && names.isVague(method, name)) {
      context.log(`told as "not found": ${told.error.message}`)
      return { ...told, error: unknownError(method, name, client.era) }
    }
    if (told.result === undefined) return told
    if (method === 'initialize') client.revision = revisionOf(told.result)
    const own =
      method === 'tasks/list'
        ? tasks.filter(told.result)
        : HELLOS.has(method)
          ? context.onHello(told.result)
          : told.result
    const visible = lists.filter(method, own, context.facts)
    if (typeof visible !== 'string') return visible.then((list) => this.#seal(crossed, told, list))
    return this.#seal(crossed, told, visible)
  }

  #seal(
    { method, progressToken }: Pick<PendingRequest, 'method' | 'progressToken'>,
    told: JsonRpcResponse,
    visible: string,
  ): JsonRpcResponse {
    const { client, context, tasks } = this.#parts
    const shown = context.handles.sealCursor(method, visible)
    if (client.era === 'stateless')
      return { ...told, result: toStatelessResult(method, context.handles.sealTask(method, shown)) }
    if (method === TOOL_CALL) tasks.learn(shown, progressToken)
    return shown === told.result ? told : { ...told, result: shown }
  }
}

function revisionOf(result: string): string {
  const value = JSON.parse(result) as { protocolVersion?: unknown } | null
  const revision = value?.protocolVersion
  return typeof revision === 'string' ? revision : ''
}
