// The session with a server that stands behind clients of the stateless generation: begun with what the first
// request says of its client, and kept. Requests that come before it has begun wait. What the gate
// asks in it by itself (to begin, log levels, subscriptions) is answered here.

import { isObject, type JsonValue } from '@sluice/policy/core/json'
import { splitMembers } from '../../../protocol/json/raw-members.ts'
import { patchObject, withMembers } from '../../../protocol/members.ts'
import type { JsonRpcResponse, RequestId } from '../../../protocol/message.ts'
import { getMeta, META, STATELESS_REVISION } from '../../../protocol/protocol-generation.ts'
import { negotiateRevision } from '../../../protocol/revisions.ts'
import { writeMembers, writeNotification, writeRequest } from '../../../protocol/write-message.ts'
import {
  type DeclaredCapabilities,
  listDeclaredCapabilities,
} from '../../shared/server-questions.ts'
import type { OutboundRequest, Upstream, UpstreamFailure } from '../upstream.ts'
import { withoutTasks } from './translate.ts'

export interface KeptSessionEvents {
  /** Those that waited, in order. */
  readonly onBegun: (waiting: readonly OutboundRequest[]) => void
  readonly onRefused: (waiting: readonly OutboundRequest[], why: string) => void
  readonly onFailed: (waiting: readonly OutboundRequest[], failure: UpstreamFailure) => void
}

export class UpstreamSession {
  readonly #inner: Upstream
  readonly #events: KeptSessionEvents
  #state: 'none' | 'beginning' | 'begun' = 'none'
  #begun: ReadonlyMap<string, string> = new Map()
  capabilities: JsonValue = {}
  /** By the client that it was begun for. */
  declared: DeclaredCapabilities = []
  #waiting: OutboundRequest[] = []
  /** Asked by the gate; bounded by what clients may have open. */
  readonly #pending = new Map<RequestId, (answer: JsonRpcResponse) => void>()
  #lastId = 0

  constructor(inner: Upstream, events: KeptSessionEvents) {
    this.#inner = inner
    this.#events = events
  }

  /** True if it has begun; else the request waits for that. */
  isBegunFor(passing: OutboundRequest): boolean {
    if (this.#state === 'begun') return true
    this.#waiting.push(passing)
    if (this.#state === 'none') this.#begin(passing)
    return false
  }

  /** Nobody waits for this request any more: false if it has left already. */
  withdraw(request: RequestId): boolean {
    const at = this.#waiting.findIndex(({ id }) => id === request)
    if (at >= 0) this.#waiting.splice(at, 1)
    return at >= 0
  }

  /** What still waits, given up; undefined if it has begun. */
  release(): OutboundRequest[] | undefined {
    return this.#state === 'begun' ? undefined : this.#waiting.splice(0)
  }

  can(capability: string): boolean {
    return isObject(this.capabilities) && this.capabilities[capability] !== undefined
  }

  ask(
    method: string,
    texts: Readonly<Record<string, string>>,
    answered: (answer: JsonRpcResponse) => void = () => {},
  ): void {
    const id = `own-${++this.#lastId}`
    const params = withMembers(undefined, texts)
    this.#pending.set(id, answered)
    const passing = { id, method, params }
    if (!this.#inner.send(writeRequest(id, method, params.text), { passing }))
      this.#pending.delete(id)
  }

  /** False if the answer is to somebody else's question. */
  answered(answer: JsonRpcResponse): boolean {
    const answered = this.#pending.get(answer.id as RequestId)
    this.#pending.delete(answer.id as RequestId)
    answered?.(answer)
    return answered !== undefined
  }

  failed(failure: UpstreamFailure): boolean {
    if (!this.#pending.delete(failure.request as RequestId)) return false
    if (this.#state !== 'beginning') return true
    this.#state = 'none'
    this.#events.onFailed(this.#waiting.splice(0), failure)
    return true
  }

  /** The answer to `server/discover`. */
  get discovered(): string {
    const server = this.#begun.get('serverInfo')
    return patchObject('{}', {
      resultType: '"complete"',
      supportedVersions: JSON.stringify([STATELESS_REVISION]),
      capabilities: withoutTasks(this.#begun.get('capabilities')),
      instructions: this.#begun.get('instructions'),
      _meta: server === undefined ? undefined : writeMembers(new Map([[META.server, server]])),
    })
  }

  #begin({ params }: OutboundRequest): void {
    this.#state = 'beginning'
    const meta = splitMembers(params?.text.get('_meta') ?? '{}')
    this.declared = listDeclaredCapabilities(getMeta(params)[META.capabilities])
    const texts = {
      protocolVersion: JSON.stringify(negotiateRevision(undefined)),
      capabilities: withoutTasks(meta.get(META.capabilities)),
      clientInfo: meta.get(META.client) ?? '{"name":"sluice","version":"1"}',
    }
    this.ask('initialize', texts, ({ result, error }) => {
      if (result === undefined) {
        this.#state = 'none'
        return this.#events.onRefused(this.#waiting.splice(0), error?.message ?? 'no reason given')
      }
      this.#begun = splitMembers(result)
      this.capabilities = JSON.parse(this.#begun.get('capabilities') ?? '{}') as JsonValue
      this.#state = 'begun'
      this.#inner.send(writeNotification('notifications/initialized', undefined))
      this.#events.onBegun(this.#waiting.splice(0))
    })
  }
}
