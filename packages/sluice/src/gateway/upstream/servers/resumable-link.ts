// A session's link to a server that is a process, and whose process may end before the session does: when
// it is idle, or another session needs its place. The next message starts it again and repeats the
// handshake of the client; the client does not notice. What the gate knows of the session (labels,
// counters, tools) is not in the process and stays.

import type { JsonRpcMessage, ParsedMembers, RequestId } from '../../../protocol/message.ts'
import { writeNotification, writeRequest } from '../../../protocol/write-message.ts'
import { LISTEN } from '../../call/pending-requests.ts'
import { SERVER_DRAIN_MS } from '../../config/limits.ts'
import type { Evictable } from '../../processes/evict-idle.ts'
import type { ProcessLease } from '../../processes/process-quota.ts'
import { MEMBER_BEGIN_MS_MAX } from '../../shared/limits.ts'
import { SmallSet } from '../../shared/small-set.ts'
import type { MessageContext } from '../../shared/transport.ts'
import { TrialRequests } from '../adapters/probe-generation.ts'
import { MessageQueue } from '../adapters/waiting-messages.ts'
import type {
  OutboundRequest,
  Upstream,
  UpstreamEvents,
  UpstreamFailure,
  UpstreamSendOptions,
} from '../upstream.ts'
import { readMessageHead } from '../upstream-state.ts'

export interface ResumableOptions {
  readonly name: string
  /** Starts the process. */
  readonly start: (events: UpstreamEvents) => Upstream
  /** Waits for the quota of processes; rejects if it stays used up for too long. */
  readonly enter: (user: Evictable) => Promise<ProcessLease>
  /** How easily the session can do without its process; undefined: not now. */
  readonly spare: () => number | undefined
}

/** `draining`: it is to be another process; what is open is still answered by this one. */
type State = 'asleep' | 'waking' | 'awake' | 'draining'

const INITIALIZED = 'notifications/initialized'
const TOOLS_CHANGED = 'notifications/tools/list_changed'

export class ResumableLink implements Upstream {
  readonly handle = undefined
  readonly pausesApart = false
  readonly #ended = Promise.withResolvers<void>()
  readonly ended = this.#ended.promise
  readonly #options: ResumableOptions
  readonly #events: UpstreamEvents
  readonly #trials = new TrialRequests()
  readonly #waiting = new MessageQueue()
  #state: State = 'asleep'
  #inner: Upstream | undefined
  #failure: UpstreamFailure | undefined
  /** What the client began the session with, and whether that was answered. */
  #opening: OutboundRequest | undefined
  #isBegun = false
  #isInitialized = false
  #level: OutboundRequest | undefined
  readonly #subscriptions = new Map<string, OutboundRequest>()
  /** Open subscriptions of a stateless client: what they wait for comes from the process. */
  /** Requests that the process has and has not answered, but for subscriptions. */
  readonly #open = new SmallSet<RequestId>()
  readonly #listens = new Map<RequestId, { text: string; carried: UpstreamSendOptions }>()
  /** Tasks live in the process: it stays as long as the session. */
  #hasTasks = false
  #isPaused = false
  /** Another process is wanted as soon as the one that is being started is up. */
  #isStale = false
  #drainTimer: NodeJS.Timeout | undefined
  #runs = 0
  #lastId = 0
  #closed = false

  /** Starts the process at once, as it would be without a gate. */
  constructor(options: ResumableOptions, events: UpstreamEvents) {
    this.#options = options
    this.#events = events
    this.#wake()
  }

  get failure(): UpstreamFailure | undefined {
    return this.#inner?.failure ?? this.#failure
  }

  get isBusy(): boolean {
    const isWanted = this.#hasTasks || this.#listens.size > 0 || this.#waiting.size > 0
    return isWanted || this.#inner?.isBusy === true
  }

  send(text: string, carried?: UpstreamSendOptions): boolean {
    if (this.#closed) return false
    if (carried?.passing !== undefined) this.#note(text, { ...carried, passing: carried.passing })
    else if (!this.#isInitialized && readMessageHead(text).method === INITIALIZED)
      this.#isInitialized = true
    const isDraining = this.#state === 'draining'
    // Answers to the old process, and what is cancelled there, are still for it.
    if (this.#state === 'awake' || (isDraining && carried?.passing === undefined))
      return this.#pass(text, carried)
    if (!this.#waiting.add(text, carried)) {
      const message = `too much waits for the server \`${this.#options.name}\` to be started`
      const request = carried?.passing?.id
      queueMicrotask(() =>
        this.#events.onFailure({ code: 'UPSTREAM_BUSY', message, request, repeatable: true }),
      )
    } else this.#wake()
    return true
  }

  #pass(text: string, carried: UpstreamSendOptions | undefined): boolean {
    const passing = carried?.passing
    if (passing !== undefined && passing.method !== LISTEN) this.#open.add(passing.id)
    return this.#inner?.send(text, carried) === true
  }

  pause(): void {
    this.#isPaused = true
    this.#inner?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#inner?.resume()
  }

  abort(request: RequestId): void {
    this.#listens.delete(request)
    this.#waiting.withdraw(request)
    this.#inner?.abort(request)
    this.#settle(request)
  }

  /** The process owes nothing for this request any more. */
  #settle(request: RequestId | undefined): void {
    if (request !== undefined) this.#open.delete(request)
    if (this.#state === 'draining') this.#drained('another process takes its place')
  }

  /** Ends the process and keeps the session. False if it is in use. */
  rest(why: string): boolean {
    if (this.#state !== 'awake' || this.isBusy) return false
    this.#state = 'asleep'
    this.#letGo(why)
    return true
  }

  /** Puts another process in the place of this one: requests from now on are for the next, open ones
   * are answered by this one for a while. The session goes on. */
  restart(why: string): void {
    if (this.#state === 'waking') this.#isStale = true
    if (this.#state !== 'awake') return
    this.#state = 'draining'
    this.#drainTimer = setTimeout(() => this.close(why), SERVER_DRAIN_MS).unref()
    this.#drained(why)
  }

  #drained(why: string): void {
    if (this.#state !== 'draining' || this.#open.size > 0) return
    clearTimeout(this.#drainTimer)
    this.#state = 'asleep'
    // What lived in the process is gone with it.
    this.#hasTasks = false
    this.#letGo(why)
    for (const [request, { text, carried }] of this.#listens)
      if (!this.#waiting.has(request)) this.#waiting.add(text, carried)
    this.#wake()
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#drainTimer)
    this.#failure = this.#inner?.failure
    // Known never to have been sent.
    this.#failWaiting({ code: 'UPSTREAM_UNREACHABLE', message: why, repeatable: true })
    this.#letGo(why)
    this.#events.onClose(why)
    if (this.#runs === 0) this.#ended.resolve()
  }

  /** What it takes to begin again. */
  #note(text: string, carried: UpstreamSendOptions & { passing: OutboundRequest }): void {
    const { passing } = carried
    const { method, params } = passing
    if (params?.value.task !== undefined || method.startsWith('tasks/')) this.#hasTasks = true
    if (method === 'tools/call') return
    if (method === 'initialize') this.#opening = passing
    else if (method === LISTEN) this.#listens.set(passing.id, { text, carried })
    else if (method === 'logging/setLevel') this.#level = passing
    else if (method === 'resources/subscribe')
      this.#subscriptions.set(String(params?.value.uri), passing)
    else if (method === 'resources/unsubscribe')
      this.#subscriptions.delete(String(params?.value.uri))
  }

  /** A subscription that the server refused is not made again in the next process. */
  #forgetSubscription(request: RequestId): void {
    for (const [uri, { id }] of this.#subscriptions)
      if (id === request) this.#subscriptions.delete(uri)
  }

  #wake(): void {
    if (this.#state !== 'asleep' || this.#closed) return
    this.#state = 'waking'
    const spare = () =>
      this.#state === 'awake' && !this.isBusy ? this.#options.spare() : undefined
    const user: Evictable = {
      get spare() {
        return spare()
      },
      close: (why) => void this.rest(why),
    }
    this.#runs += 1
    this.#options.enter(user).then(
      (place) => this.#start(place),
      (error: Error) => {
        this.#state = 'asleep'
        this.#runEnded()
        this.#failWaiting({ code: 'UPSTREAM_BUSY', message: error.message, repeatable: true })
      },
    )
  }

  async #start(place: ProcessLease): Promise<void> {
    if (this.#closed) {
      place.ended()
      return this.#runEnded()
    }
    const inner: Upstream = this.#options.start({
      onMessage: (message, related) => {
        // What a process says after it was let go is for no one.
        if (this.#inner !== inner || this.#trials.takeAnswer(message)) return
        this.#received(message, related)
      },
      onFailure: (failure) => {
        // At the end of the session, requests that were never written are known not to have been made.
        if (this.#inner !== inner && !this.#closed) return
        if (this.#trials.takeFailure(failure)) return
        this.#events.onFailure(failure)
        this.#settle(failure.request)
      },
      onClose: (why) => {
        if (this.#inner !== inner) return
        this.#trials.end(inner.failure)
        this.close(why)
      },
    })
    this.#inner = inner
    void inner.ended.then(() => {
      place.ended()
      this.#runEnded()
    })
    if (this.#isPaused) inner.pause()
    const again = this.#isBegun
    if (again && !(await this.#beginAgain(inner))) return
    if (this.#closed) return
    this.#state = 'awake'
    if (this.#isStale) {
      this.#isStale = false
      return this.restart('another process takes its place')
    }
    for (const { text, carried } of this.#waiting.takeAll()) this.#pass(text, carried)
    // It may be another version of the server by now: what is known of its tools is looked at again.
    if (again) this.#events.onMessage(notification(TOOLS_CHANGED))
  }

  #received(message: JsonRpcMessage, related: MessageContext | undefined): void {
    if (!this.#isBegun && message.kind === 'answer' && message.id === this.#opening?.id)
      this.#isBegun = message.error === undefined
    if (this.#listens.size > 0 && message.kind === 'answer')
      this.#listens.delete(message.id as RequestId)
    this.#events.onMessage(message, related)
    if (message.kind !== 'answer') return
    if (message.error !== undefined) this.#forgetSubscription(message.id as RequestId)
    this.#settle(message.id as RequestId)
  }

  async #beginAgain(inner: Upstream): Promise<boolean> {
    const opening = this.#opening as OutboundRequest
    const ask = (passing: OutboundRequest) => {
      const own = { ...passing, id: `again-${++this.#lastId}` }
      const text = writeRequest(own.id, own.method, own.params?.text)
      return this.#trials.send(inner, text, { passing: own }, MEMBER_BEGIN_MS_MAX)
    }
    const { answer, failure } = await ask(opening)
    if (this.#closed) return false
    if (answer?.error !== undefined || answer === undefined) {
      const why = failure?.message ?? answer?.error?.message ?? 'it did not answer `initialize`'
      this.#state = 'asleep'
      this.#letGo('it could not be begun again')
      const message = `the server \`${this.#options.name}\` could not be started again: ${why}`
      this.#failWaiting({ code: 'UPSTREAM_NOT_STARTED', message, repeatable: true })
      return false
    }
    if (this.#isInitialized) inner.send(writeNotification(INITIALIZED, undefined))
    // Their answers are dropped; the process has them in order.
    for (const passing of [this.#level, ...this.#subscriptions.values()])
      if (passing !== undefined) void ask(passing)
    return true
  }

  /** The process exits on its own; what it still sends is dropped. */
  #letGo(why: string): void {
    const inner = this.#inner
    this.#inner = undefined
    this.#open.clear()
    if (inner === undefined) return
    this.#trials.end(undefined)
    inner.close(why)
  }

  #failWaiting(failure: Omit<UpstreamFailure, 'request'>): void {
    for (const each of this.#waiting.failAll(failure)) this.#events.onFailure(each)
  }

  #runEnded(): void {
    this.#runs -= 1
    if (this.#closed && this.#runs === 0) this.#ended.resolve()
  }
}

function notification(method: string): JsonRpcMessage {
  const params: ParsedMembers | undefined = undefined
  return { kind: 'notification', method, params, source: writeNotification(method, params) }
}
