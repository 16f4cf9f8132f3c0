// Remembers what a client has sent to a server's process and what the next process must be sent again, so that the
// session goes on there: `initialize`, the log level and subscriptions. Also says whether the session needs its present
// process: because requests or subscriptions are open there, or because tasks run in it.

import { LruMap } from '@sluice/policy/structures/lru-map'
import type { JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { writeNotification, writeRequest } from '@sluice/protocol/write-message'
import { LISTEN } from '../../call/pending-requests.ts'
import { LISTEN_RESOURCES_MAX } from '../../shared/limits.ts'
import { SmallMap } from '../../shared/small-map.ts'
import type { OwnRequest, TrialRequests, TrialResult } from '../adapters/probe-generation.ts'
import type {
  OutboundRequest,
  Upstream,
  UpstreamFailure,
  UpstreamSendOptions,
} from '../upstream.ts'
import { readMessageHead } from '../upstream-state.ts'
import type { QueuedMessage } from './message-queue.ts'

const INITIALIZED = 'notifications/initialized'

export class SessionReplay {
  readonly #isProcess: boolean
  /** What the client began the session with, and whether that was answered. */
  #opening: OutboundRequest | undefined
  #isBegun = false
  /** The client has sent `notifications/initialized`, or the gate has in its place. */
  isInitialized = false
  #lastId = 0
  #level: OutboundRequest | undefined
  readonly #subscriptions = new LruMap<string, OutboundRequest>(LISTEN_RESOURCES_MAX)
  /** Open subscriptions of a stateless client, which only the present process can answer. */
  readonly listens = new Map<RequestId, QueuedMessage>()
  /** Requests that the process has not answered, without subscriptions. */
  readonly open = new SmallMap<RequestId, true>()
  /** Tasks live in the process: it stays as long as the session. */
  #hasTasks = false

  /** `isProcess`: the server is a process, so it is also noted what needs that process. */
  constructor(isProcess: boolean) {
    this.#isProcess = isProcess
  }

  /** The gate has begun the session. */
  begin(opening: OutboundRequest): void {
    this.#opening = opening
    this.#isBegun = true
    this.isInitialized = true
  }

  /** What the session was begun with; undefined if none has begun. */
  get opening(): OutboundRequest | undefined {
    return this.#isBegun ? this.#opening : undefined
  }

  get needsProcess(): boolean {
    return this.#hasTasks || this.listens.size > 0
  }

  note(text: string, carried: UpstreamSendOptions | undefined): void {
    const passing = carried?.passing
    // Nothing of a call is repeated, and only a process has tasks that need it.
    if (passing?.method === 'tools/call' && !this.#isProcess) return
    if (passing !== undefined) this.#noteRequest(text, carried, passing)
    else if (!this.isInitialized && readMessageHead(text).method === INITIALIZED)
      this.isInitialized = true
  }

  #noteRequest(
    text: string,
    carried: UpstreamSendOptions | undefined,
    passing: OutboundRequest,
  ): void {
    const { method, params } = passing
    if (params?.value.task !== undefined || method.startsWith('tasks/')) this.#hasTasks = true
    if (method === 'tools/call') return
    if (method === 'initialize') this.#opening = passing
    else if (method === LISTEN && this.#isProcess) this.listens.set(passing.id, { text, carried })
    else if (method === 'logging/setLevel') this.#level = passing
    else if (method === 'resources/subscribe')
      this.#subscriptions.set(String(params?.value.uri), passing)
    else if (method === 'resources/unsubscribe')
      this.#subscriptions.delete(String(params?.value.uri))
  }

  noteSent(passing: OutboundRequest | undefined): void {
    if (this.#isProcess && passing !== undefined && passing.method !== LISTEN)
      this.open.set(passing.id, true)
  }

  noteAnswer({ id, error }: JsonRpcResponse): void {
    if (!this.#isBegun && id === this.#opening?.id) this.#isBegun = error === undefined
    if (this.listens.size > 0) this.listens.delete(id as RequestId)
    if (error === undefined) return
    // A subscription that the server refused is not made again in the next process.
    for (const [uri, subscription] of [...this.#subscriptions])
      if (subscription.id === id) this.#subscriptions.delete(uri)
  }

  /** Forgets the tasks and requests of a process that has ended. */
  processEnded(): void {
    this.#hasTasks = false
    this.open.clear()
  }

  /** Makes a request of the client one of the gate's own, with an id that no client uses. */
  asOwn(passing: OutboundRequest, isRepeated = true): OwnRequest {
    const id = `again-${++this.#lastId}`
    const text = writeRequest(id, passing.method, passing.params?.text)
    return { text, carried: { passing: { ...passing, id }, isRepeated } }
  }

  /** Sends what follows `initialize`. The answers are dropped; the server has the requests in order. */
  replay(link: Upstream, trials: TrialRequests): void {
    if (this.isInitialized)
      link.send(writeNotification(INITIALIZED, undefined), { isRepeated: true })
    for (const passing of this.#following) void trials.send(link, this.asOwn(passing))
  }

  /** The requests that follow `initialize`. */
  get #following(): OutboundRequest[] {
    const subscriptions = [...this.#subscriptions].map(([, request]) => request)
    return this.#level === undefined ? subscriptions : [this.#level, ...subscriptions]
  }
}

/** The failure of messages that wait for a session which the server did not begin. `what` is what did not work. */
export function describeNotBegun(
  server: string,
  what: string,
  { answer, failure }: TrialResult,
): Omit<UpstreamFailure, 'request'> {
  const why = failure?.message ?? answer?.error?.message ?? 'it did not answer `initialize`'
  const message = `the server \`${server}\` ${what}: ${why}`
  return { code: 'UPSTREAM_NOT_STARTED', message, repeatable: true }
}
