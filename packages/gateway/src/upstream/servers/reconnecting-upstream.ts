// The link of a session to a server, over all connections and processes that the session has one after the
// other. It finds out the protocol generation of the server with the first message, and puts an adapter between
// if that is not the client's. A process may end before the session does, when it is idle or another session
// needs its place, and a server over HTTP may forget the session: it is begun again as it began, and the client
// does not notice. What cannot be sent meanwhile waits in one queue.

import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { writeNotification, writeRequest } from '@sluice/protocol/write-message'
import { SERVER_DRAIN_MS } from '../../config/limits.ts'
import type { Evictable } from '../../processes/evict-idle.ts'
import type { ProcessLease } from '../../processes/process-quota.ts'
import { MEMBER_BEGIN_MS_MAX } from '../../shared/limits.ts'
import { takeTurn } from '../../shared/slices.ts'
import type { MessageContext } from '../../shared/transport.ts'
import { withTimeout } from '../../shared/with-timeout.ts'
import {
  isAboutGeneration,
  type OwnRequest,
  type ProbeResult,
  probeGeneration,
  TrialRequests,
  type TrialResult,
} from '../adapters/probe-generation.ts'
import { SessionOverStateless } from '../adapters/session-over-stateless.ts'
import { openingFor, StatelessOverSession } from '../adapters/stateless-over-session.ts'
import { GENERATION_PROBE_HTTP_MS_MAX, GENERATION_PROBE_PROCESS_MS_MAX } from '../limits.ts'
import type {
  OutboundRequest,
  Upstream,
  UpstreamEvents,
  UpstreamFailure,
  UpstreamSendOptions,
} from '../upstream.ts'
import { MessageQueue, type QueuedMessage } from './message-queue.ts'
import { INITIALIZED, SessionReplay } from './session-replay.ts'

export interface ReconnectingOptions {
  readonly name: string
  readonly clientGeneration: ProtocolGeneration
  /** What is known of the server, and learnt: which generations it does or does not speak. */
  readonly generations: Partial<Record<ProtocolGeneration, boolean>>
  /** A process speaks both generations over one link; over HTTP each has its own. */
  readonly start: (
    generation: ProtocolGeneration,
    events: UpstreamEvents,
    handle?: string,
  ) => Upstream
  readonly isProcess: boolean
  /** Of a process that may end before the session does. */
  readonly places?: ProcessPlaces | undefined
  /** Of a session that began over another link. */
  readonly handle?: string | undefined
  readonly log: (text: string) => void
}

export interface ProcessPlaces {
  /** Waits for the quota of processes; rejects if it stays used up for too long. */
  readonly enter: (user: Evictable) => Promise<ProcessLease>
  /** How easily the session can do without its process; undefined: not now. */
  readonly spare: () => number | undefined
}

/** `draining`: it is to be another process; what is open is still answered by this one. */
type State = 'asleep' | 'waking' | 'awake' | 'draining'

const TOOLS_CHANGED = 'notifications/tools/list_changed'

export class ReconnectingUpstream implements Upstream {
  readonly #ended = Promise.withResolvers<void>()
  readonly ended = this.#ended.promise
  readonly #options: ReconnectingOptions
  readonly #events: UpstreamEvents
  readonly #queue = new MessageQueue()
  readonly #session: SessionReplay
  /** Requests of the gate's own to the server as it is: to know its generation, and to begin. */
  readonly #trials = new TrialRequests()
  /** Those that begin the session again in the client's generation. */
  readonly #again = new TrialRequests()
  /** To be sent again, as they are, when the server that has forgotten the session knows another. */
  readonly #unsent = new MessageQueue()
  #state: State
  /** What was started and is not closed; a process stands for both. */
  readonly #started = new Map<ProtocolGeneration, Upstream>()
  /** What client messages go over: a started link, or an adapter around it. Undefined until it is decided. */
  #link: Upstream | undefined
  #generation: ProtocolGeneration | undefined
  /** Where messages of the started link go: to the client, or into the adapter. */
  #receiver: UpstreamEvents
  readonly #outside: UpstreamEvents
  #isOpening = false
  #failure: UpstreamFailure | undefined
  #isPaused = false
  /** Another process is wanted as soon as the one that is being started is up. */
  #isStale = false
  #drainTimer: NodeJS.Timeout | undefined
  /** Which process it is: what an earlier one still says is dropped. */
  #run = 0
  /** Links that have not ended, and places that are waited for. */
  #alive = 0
  #lastId = 0
  #closed = false

  /** A process is started at once, as it would be without a gate; over HTTP the first message connects. */
  constructor(options: ReconnectingOptions, events: UpstreamEvents) {
    this.#options = options
    this.#events = events
    const { clientGeneration, handle, isProcess, places } = options
    this.#session = new SessionReplay(places !== undefined)
    this.#outside = {
      onMessage:
        places === undefined ? events.onMessage : (message, from) => this.#received(message, from),
      onFailure: (failure) => this.#failed(failure),
      onClose: (why) => this.close(why),
    }
    this.#receiver = this.#outside
    this.#state = places === undefined ? 'awake' : 'asleep'
    if (places !== undefined) this.#wake(places)
    else if (isProcess) this.#start(clientGeneration)
    else if (handle !== undefined) this.#goOn(handle)
  }

  get failure(): UpstreamFailure | undefined {
    const link = this.#link ?? this.#started.get(this.#options.clientGeneration)
    return link?.failure ?? this.#failure
  }

  get handle(): string | undefined {
    const inner = this.#link?.handle
    const { isProcess } = this.#options
    if (this.#generation === undefined || inner === undefined || isProcess) return undefined
    return JSON.stringify([this.#generation, inner])
  }

  get isBusy(): boolean {
    const isWanted = this.#session.needsProcess || this.#queue.size > 0
    return isWanted || [...this.#started.values()].some(({ isBusy }) => isBusy)
  }

  send(text: string, carried?: UpstreamSendOptions): boolean {
    if (this.#closed) return false
    const { name, places } = this.#options
    this.#session.note(text, carried)
    // Answers to the old process, and what is cancelled there, are still for it.
    const isOpen =
      this.#state === 'awake' || (this.#state === 'draining' && carried?.passing === undefined)
    if (isOpen && this.#link !== undefined) return this.#pass(this.#link, text, carried)
    if (!this.#queue.add(text, carried)) {
      const message = `too much waits for the server \`${name}\` already`
      const request = carried?.passing?.id
      queueMicrotask(() =>
        this.#events.onFailure({ code: 'UPSTREAM_BUSY', message, request, repeatable: true }),
      )
    } else if (places !== undefined && this.#state === 'asleep') this.#wake(places)
    else this.#flush()
    return true
  }

  #pass(link: Upstream, text: string, carried: UpstreamSendOptions | undefined): boolean {
    this.#session.noteSent(carried?.passing)
    return link.send(text, carried)
  }

  /** Sends what waits; if nothing is known of the server, finds that out with the first. */
  #flush(): void {
    const link = this.#link
    const { first } = this.#queue
    if (this.#state !== 'awake' || first === undefined) return
    if (link !== undefined)
      for (const { text, carried } of this.#queue.takeAll()) this.#pass(link, text, carried)
    else if (!this.#isOpening) void this.#open(first)
  }

  get pausesApart(): boolean {
    return this.#link?.pausesApart === true
  }

  pause(request?: RequestId): void {
    if (request === undefined) this.#isPaused = true
    this.#link?.pause(request)
  }

  resume(request?: RequestId): void {
    if (request === undefined) this.#isPaused = false
    this.#link?.resume(request)
  }

  abort(request: RequestId): void {
    this.#session.listens.delete(request)
    for (const queue of [this.#queue, this.#unsent]) queue.withdraw(request)
    this.#link?.abort(request)
    this.#settle(request)
  }

  /** Ends the process and keeps the session. False if it is in use, or the link is to no process. */
  rest(why: string): boolean {
    if (this.#options.places === undefined) return this.#link?.rest?.(why) === true
    if (this.#state !== 'awake' || this.isBusy) return false
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
    this.#settle(undefined)
  }

  /** The process owes nothing for this request any more. */
  #settle(request: RequestId | undefined): void {
    const { open, listens } = this.#session
    if (request !== undefined) open.delete(request)
    if (this.#state !== 'draining' || open.size > 0) return
    clearTimeout(this.#drainTimer)
    this.#session.processEnded()
    this.#letGo('another process takes its place')
    for (const [id, { text, carried }] of listens)
      if (!this.#queue.has(id)) this.#queue.add(text, carried)
    this.#wake(this.#options.places as ProcessPlaces)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#drainTimer)
    this.#failure = this.failure
    // Known never to have been sent.
    if (this.#state !== 'awake')
      this.#failQueue({ code: 'UPSTREAM_UNREACHABLE', message: why, repeatable: true })
    this.#closeLinks(why)
    this.#events.onClose(why)
    if (this.#alive === 0) this.#ended.resolve()
  }

  #closeLinks(why: string): void {
    this.#again.end(undefined)
    for (const link of [this.#link, ...this.#started.values()]) link?.close(why)
  }

  /** The process exits on its own; what it still sends is dropped. */
  #letGo(why: string): void {
    this.#state = 'asleep'
    this.#run += 1
    this.#trials.end(undefined)
    this.#closeLinks(why)
    this.#started.clear()
    this.#session.open.clear()
    this.#link = undefined
    this.#receiver = this.#outside
    this.#isOpening = false
  }

  #failQueue(failure: Omit<UpstreamFailure, 'request'>): void {
    for (const each of this.#unsent.failAll(failure)) this.#receiver.onFailure(each)
    for (const each of this.#queue.failAll(failure)) this.#events.onFailure(each)
  }

  #wake({ enter, spare }: ProcessPlaces): void {
    this.#state = 'waking'
    const findSpare = () => (this.#state === 'awake' && !this.isBusy ? spare() : undefined)
    const user: Evictable = {
      get spare() {
        return findSpare()
      },
      close: (why) => void this.rest(why),
    }
    this.#alive += 1
    const onFull = (error: Error): void => {
      this.#state = 'asleep'
      this.#oneEnded()
      this.#failQueue({ code: 'UPSTREAM_BUSY', message: error.message, repeatable: true })
    }
    enter(user)
      .then((place) => this.#enter(place), onFull)
      .catch((error: Error) => this.close(error.message))
  }

  async #enter(place: ProcessLease): Promise<void> {
    if (this.#closed) place.ended()
    else void this.#start(this.#options.clientGeneration).ended.then(() => place.ended())
    this.#oneEnded()
    // A stateless client has begun nothing: its next request begins again.
    const opening = this.#options.clientGeneration === 'session' && this.#session.opening
    if (this.#closed || (opening && !(await this.#beginAgain(opening)))) return
    this.#state = 'awake'
    if (this.#isStale) {
      this.#isStale = false
      return this.restart('another process takes its place')
    }
    this.#flush()
    // It may be another version of the server by now: what is known of its tools is looked at again.
    if (opening) this.#events.onMessage(notification(TOOLS_CHANGED))
  }

  async #beginAgain(opening: OutboundRequest): Promise<boolean> {
    const again = this.#asOwn(opening)
    const begin = async (): Promise<TrialResult> => {
      const result = await this.#openForSession(again, this.#stillCurrent())
      return result ?? (this.#link && this.#again.send(this.#link, again)) ?? {}
    }
    const result = (await withTimeout(begin(), MEMBER_BEGIN_MS_MAX)) ?? {}
    if (this.#closed) return false
    if (result.answer?.result === undefined) {
      this.#letGo('it could not be begun again')
      this.#failQueue(this.#notBegun('could not be started again', result))
      return false
    }
    this.#replay(this.#link as Upstream, this.#again)
    return true
  }

  #notBegun(what: string, { answer, failure }: TrialResult): Omit<UpstreamFailure, 'request'> {
    const why = failure?.message ?? answer?.error?.message ?? 'it did not answer `initialize`'
    const message = `the server \`${this.#options.name}\` ${what}: ${why}`
    return { code: 'UPSTREAM_NOT_STARTED', message, repeatable: true }
  }

  /** What follows `initialize`. The answers are dropped; the server has the requests in order. */
  #replay(link: Upstream, trials: TrialRequests): void {
    const { isInitialized, following } = this.#session
    if (isInitialized) link.send(writeNotification(INITIALIZED, undefined), { isRepeated: true })
    for (const passing of following) void trials.send(link, this.#asOwn(passing))
  }

  /** A request as one of the gate's own. */
  #asOwn(passing: OutboundRequest, isRepeated = true): OwnRequest {
    const id = `again-${++this.#lastId}`
    const text = writeRequest(id, passing.method, passing.params?.text)
    return { text, carried: { passing: { ...passing, id }, isRepeated } }
  }

  /** The server has forgotten the session (HTTP): another is begun as the first was, and what was refused is sent
   * once more. Without a beginning to repeat the client has to begin again. */
  #forgotten(link: Upstream, failure: UpstreamFailure): void {
    const { unsent } = failure
    const { opening } = this.#session
    if (unsent === undefined || opening === undefined) {
      this.#receiver.onFailure(failure)
      this.#failure = failure
      return this.close('session gone')
    }
    if (!this.#unsent.add(unsent.text, unsent.carried)) this.#receiver.onFailure(failure)
    else if (this.#state === 'awake') void this.#renew(link, opening)
  }

  async #renew(link: Upstream, opening: OutboundRequest): Promise<void> {
    const { log, name } = this.#options
    log(`the server \`${name}\` has forgotten the session: initialized again`)
    this.#state = 'waking'
    const result = await this.#trials.send(link, this.#asOwn(opening))
    if (this.#closed) return
    if (result.answer?.result === undefined) {
      const failure = result.failure ?? this.#notBegun('began no new session', result)
      this.#failQueue(failure)
      // It is begun again with the next request.
      if (result.failure?.retryAfterMs !== undefined) {
        this.#state = 'awake'
        return
      }
      this.#failure = { ...failure, request: undefined }
      return this.close('session gone')
    }
    this.#replay(link, this.#trials)
    this.#state = 'awake'
    for (const { text, carried } of this.#unsent.takeAll())
      link.send(text, { ...carried, isRepeated: true })
    this.#flush()
  }

  #received(message: JsonRpcMessage, related: MessageContext | undefined): void {
    if (message.kind !== 'answer') return this.#events.onMessage(message, related)
    if (this.#again.takeAnswer(message)) return
    this.#session.noteAnswer(message)
    this.#events.onMessage(message, related)
    this.#settle(message.id as RequestId)
  }

  #failed(failure: UpstreamFailure): void {
    if (this.#again.takeFailure(failure)) return
    this.#events.onFailure(failure)
    this.#settle(failure.request)
  }

  #oneEnded(): void {
    this.#alive -= 1
    if (this.#closed && this.#alive === 0) this.#ended.resolve()
  }

  async #open(first: QueuedMessage): Promise<void> {
    this.#isOpening = true
    const isCurrent = this.#stillCurrent()
    try {
      if (this.#options.clientGeneration === 'stateless')
        await this.#openForStateless(first, isCurrent)
      else {
        const { answer, failure } = (await this.#openForSession(first, isCurrent)) ?? {}
        if (answer !== undefined) this.#received(answer, undefined)
        else if (failure !== undefined) this.#failed(failure)
      }
    } catch (error) {
      this.close((error as Error).message)
    }
    if (!isCurrent()) return
    this.#isOpening = false
    // What has come since the queue was failed.
    this.#flush()
  }

  /** Whether the link is as it is now, later. */
  #stillCurrent(): () => boolean {
    const run = this.#run
    return () => !this.#closed && run === this.#run
  }

  async #openForStateless({ carried }: QueuedMessage, isCurrent: () => boolean): Promise<void> {
    const { generations } = this.#options
    const known = generations.stateless && 'stateless'
    const probing: Promise<ProbeResult> =
      known === undefined ? this.#probe() : Promise.resolve(known || 'session')
    const probe = await withTimeout(probing, this.#patienceMs)
    if (!isCurrent()) return
    // A server that cannot be reached shows no generation: the next message finds out.
    if (typeof probe === 'object') return this.#failQueue(probe)
    generations.stateless = probe === 'stateless'
    if (probe === 'stateless') return this.#take(probe)
    const opening = openingFor(carried?.passing)
    const link = this.#start('session')
    const begins = this.#trials.send(link, this.#asOwn(opening, false))
    await Promise.race([begins, probing])
    // A silent server may know no such question, or not be there yet: then its answer comes late, and counts.
    const late = await Promise.race([probing, takeTurn()])
    if (isCurrent() && late === 'stateless') {
      generations.stateless = true
      return this.#take(late)
    }
    const begun = await begins
    if (!isCurrent()) return
    const { answer, failure } = begun
    if (answer?.result !== undefined) {
      this.#session.begin(opening)
      this.#replay(link, this.#trials)
      return this.#take('session', answer.result)
    }
    if (failure === undefined) this.#forget()
    this.#failQueue(failure ?? this.#notBegun('did not begin a session', begun))
  }

  /** Sends `initialize` to the server as it is. Undefined if it is not that, or the server is of the other
   * generation: then it goes over the adapter. */
  async #openForSession(
    first: QueuedMessage,
    isCurrent: () => boolean,
  ): Promise<TrialResult | undefined> {
    const { generations } = this.#options
    const passing = first.carried?.passing
    if (passing?.method !== 'initialize' || generations.session === false) {
      this.#take(generations.session === false ? 'stateless' : 'session')
      return undefined
    }
    const own = { text: first.text, carried: { ...first.carried, passing } }
    const result = await this.#trials.send(this.#start('session'), own)
    if (!isCurrent()) return undefined
    const { answer, failure } = result
    const mayBeNewer =
      answer?.error !== undefined || (failure !== undefined && isAboutGeneration(failure))
    const probe = mayBeNewer ? await withTimeout(this.#probe(), this.#patienceMs) : undefined
    if (!isCurrent()) return undefined
    if (probe === 'stateless') {
      generations.session = false
      this.#take(probe)
      return undefined
    }
    this.#queue.withdraw(passing.id)
    this.#take('session')
    return result
  }

  #probe(): Promise<ProbeResult> {
    return probeGeneration(this.#trials, this.#start('stateless'))
  }

  /** Silence of a process is a server that knows no such question, or is not there yet, and what it
   * says late still counts; silence over HTTP is more likely a slow answer. */
  get #patienceMs(): number {
    return this.#options.isProcess ? GENERATION_PROBE_PROCESS_MS_MAX : GENERATION_PROBE_HTTP_MS_MAX
  }

  #goOn(handle: string): void {
    const [generation, inner] = JSON.parse(handle) as [ProtocolGeneration, string]
    this.#start(generation, generation === 'session' ? inner : undefined)
    this.#take(generation)
    if (this.#link instanceof SessionOverStateless) this.#link.takeUp(inner)
  }

  #start(generation: ProtocolGeneration, handle?: string): Upstream {
    const { isProcess, start } = this.#options
    const there = this.#started.get(generation)
    if (there !== undefined) return there
    const run = this.#run
    const link: Upstream = start(
      generation,
      {
        // Messages besides the answer that shows the generation are for the receiver, too.
        onMessage: (message, related) => {
          if (run === this.#run && !this.#trials.takeAnswer(message))
            this.#receiver.onMessage(message, related)
        },
        onFailure: (failure) => {
          if (run !== this.#run || this.#trials.takeFailure(failure)) return
          if (failure.code === 'UPSTREAM_SESSION_GONE') this.#forgotten(link, failure)
          else this.#receiver.onFailure(failure)
        },
        onSuspended: (request) => this.#events.onSuspended?.(request),
        onClose: (why) => {
          // A link of the other generation was closed on purpose.
          if (run !== this.#run || ![...this.#started.values()].includes(link)) return
          this.#trials.end(link.failure)
          this.#receiver.onClose(why)
        },
      },
      handle,
    )
    this.#alive += 1
    void link.ended.then(() => this.#oneEnded())
    this.#started.set(generation, link)
    if (isProcess) this.#started.set(generation === 'session' ? 'stateless' : 'session', link)
    return link
  }

  /** From here on everything goes over this one link. `begun` is what the server answered to `initialize`, if the
   * gate began the session. */
  #take(generation: ProtocolGeneration, begun = '{}'): void {
    const { clientGeneration, log } = this.#options
    const inner = this.#start(generation)
    for (const [of, other] of this.#started) {
      if (other === inner) continue
      this.#started.delete(of)
      other.close('another generation is spoken')
    }
    const events: UpstreamEvents = {
      ...this.#outside,
      onFailure: (failure) => {
        this.#doubt(generation, failure)
        this.#failed(failure)
      },
    }
    const { opening } = this.#session
    const options = { log, opening, begun, onBegun: (hasBegun: boolean) => this.#begun(hasBegun) }
    const adapt = (inside: UpstreamEvents): Upstream => {
      this.#receiver = inside
      return inner
    }
    this.#generation = generation
    this.#link =
      generation === clientGeneration
        ? adapt(events)
        : generation === 'session'
          ? new StatelessOverSession(adapt, options, events)
          : new SessionOverStateless(adapt, options, events)
    if (this.#isPaused) this.#link.pause()
    this.#flush()
  }

  /** A bridge to a server: where that did not work, the server may have become another. */
  #begun(hasBegun: boolean): void {
    const { clientGeneration, generations } = this.#options
    if (hasBegun) generations[clientGeneration] = false
    else this.#forget()
  }

  /** A server that was of the newer generation refuses with a status, as one with sessions would. */
  #doubt(generation: ProtocolGeneration, { code, status = 0 }: UpstreamFailure): void {
    const isBoth = generation === 'stateless' && this.#options.clientGeneration === 'stateless'
    if (isBoth && code === 'UPSTREAM_STATUS' && status < 500) this.#forget()
  }

  /** The next message finds out again. */
  #forget(): void {
    delete this.#options.generations[this.#options.clientGeneration]
    this.#link = undefined
  }
}

function notification(method: string): JsonRpcMessage {
  const params = undefined
  return { kind: 'notification', method, params, source: writeNotification(method, params) }
}
