// A link to a server whose generation is not known yet: finds it out with the first message, and bridges
// if it is not the client's. A client with a session tries `initialize` and falls back on
// `server/discover`; for a stateless client the order is reversed. What was found is remembered for the next
// link, and forgotten where it turns out to be no longer so.

import type { RequestId } from '../../../protocol/message.ts'
import type { ProtocolGeneration } from '../../../protocol/protocol-generation.ts'
import { writeRequest } from '../../../protocol/write-message.ts'
import { GENERATION_PROBE_HTTP_MS_MAX, GENERATION_PROBE_PROCESS_MS_MAX } from '../limits.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure, UpstreamSendOptions } from '../upstream.ts'
import {
  isAboutGeneration,
  isOfNewerServer,
  isProbeAnswer,
  type ProbeResult,
  probeGeneration,
  TrialRequests,
} from './probe-generation.ts'
import { SessionOverStateless } from './session-over-stateless.ts'
import { StatelessOverSession } from './stateless-over-session.ts'
import { MessageQueue } from './waiting-messages.ts'

export interface EitherGenerationOptions {
  readonly clientGeneration: ProtocolGeneration
  /** What is known of the server, and learnt: which generations it does or does not speak. */
  readonly generations: Partial<Record<ProtocolGeneration, boolean>>
  /** A process speaks both generations over one link; over HTTP each has its own. */
  readonly start: (
    generation: ProtocolGeneration,
    events: UpstreamEvents,
    handle?: string,
  ) => Upstream
  /** Of a session that began over another link. */
  readonly handle?: string | undefined
  readonly isProcess: boolean
  readonly log: (text: string) => void
}

export class NegotiatingUpstream implements Upstream {
  readonly #ended = Promise.withResolvers<void>()
  readonly ended = this.#ended.promise
  readonly #options: EitherGenerationOptions
  readonly #events: UpstreamEvents
  /** Where messages of the started link go: to the client, or into the adapter around the link. */
  #receiver: UpstreamEvents
  readonly #trials = new TrialRequests()
  /** The answer to the probe did not arrive in time, and still counts. */
  #expectsProbe = false
  readonly #waiting = new MessageQueue()
  /** What was started and is not closed; a process stands for both. */
  readonly #started = new Map<ProtocolGeneration, Upstream>()
  readonly #allEnded: Promise<void>[] = []
  #link: Upstream | undefined
  #generation: ProtocolGeneration | undefined
  #isDeciding = false
  #closed = false

  constructor(options: EitherGenerationOptions, events: UpstreamEvents) {
    this.#options = options
    this.#events = events
    const { onMessage, onFailure } = events
    this.#receiver = { onMessage, onFailure, onClose: (why) => this.close(why) }
    // A process is there from the start, as it would be without a gate.
    if (options.isProcess) this.#start(options.clientGeneration)
    if (options.handle !== undefined) this.#goOn(options.handle)
  }

  get failure(): UpstreamFailure | undefined {
    return this.#link?.failure ?? this.#started.get(this.#options.clientGeneration)?.failure
  }

  get handle(): string | undefined {
    const inner = this.#link?.handle
    const { isProcess } = this.#options
    if (this.#generation === undefined || inner === undefined || isProcess) return undefined
    return JSON.stringify([this.#generation, inner])
  }

  get isBusy(): boolean {
    return this.#waiting.size > 0 || [...this.#started.values()].some(({ isBusy }) => isBusy)
  }

  send(text: string, carried?: UpstreamSendOptions): boolean {
    if (this.#closed) return false
    if (this.#link !== undefined) return this.#link.send(text, carried)
    if (!this.#waiting.add(text, carried)) {
      const message = 'too much waits for the server already'
      const request = carried?.passing?.id
      queueMicrotask(() =>
        this.#events.onFailure({ code: 'UPSTREAM_BUSY', message, request, repeatable: true }),
      )
    } else if (!this.#isDeciding)
      this.#decide(text, carried).catch((error: Error) => this.close(error.message))
    return true
  }

  get pausesApart(): boolean {
    return this.#link?.pausesApart === true
  }

  pause(request?: RequestId): void {
    this.#link?.pause(request)
  }

  resume(request?: RequestId): void {
    this.#link?.resume(request)
  }

  abort(request: RequestId): void {
    this.#waiting.withdraw(request)
    this.#link?.abort(request)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    for (const link of [this.#link, ...this.#started.values()]) link?.close(why)
    this.#events.onClose(why)
    void Promise.all(this.#allEnded).then(() => this.#ended.resolve())
  }

  async #decide(text: string, carried: UpstreamSendOptions | undefined): Promise<void> {
    this.#isDeciding = true
    const { clientGeneration } = this.#options
    if (clientGeneration === 'stateless') await this.#decideForStateless()
    else await this.#decideForSession(text, carried)
    this.#isDeciding = false
  }

  async #decideForStateless(): Promise<void> {
    const { generations } = this.#options
    const known =
      generations.stateless === undefined
        ? undefined
        : generations.stateless
          ? 'stateless'
          : 'session'
    const probe: ProbeResult = known ?? (await this.#probe())
    if (this.#closed) return
    // A server that cannot be reached shows no generation: the next message finds out.
    if (typeof probe === 'object') return this.#failWaiting(probe)
    if (probe !== 'silent') {
      generations.stateless = probe === 'stateless'
      return this.#take(probe)
    }
    // It may know no such question, or not be there yet: then its answer comes late, and counts.
    this.#take('session')
    this.#expectsProbe = true
  }

  /** The server was slow: where it is of the newer generation, nothing has reached it in the other. */
  #probedLate(isNewer: boolean): void {
    const waiting = this.#link instanceof StatelessOverSession ? this.#link.release() : undefined
    this.#options.generations.stateless = isNewer
    if (!isNewer || waiting === undefined) return
    for (const passing of waiting)
      this.#waiting.add(writeRequest(passing.id, passing.method, passing.params?.text), { passing })
    this.#take('stateless')
  }

  async #decideForSession(text: string, carried: UpstreamSendOptions | undefined): Promise<void> {
    const { generations } = this.#options
    const passing = carried?.passing
    if (passing?.method !== 'initialize' || generations.session === false)
      return this.#take(generations.session === false ? 'stateless' : 'session')
    const sent = { ...carried, passing }
    const first = await this.#trials.send(this.#start('session'), text, sent, this.#patienceMs)
    if (this.#closed) return
    const mayBeNewer =
      first.answer?.error !== undefined ||
      (first.failure !== undefined && isAboutGeneration(first.failure))
    if (mayBeNewer && (await this.#probe()) === 'stateless') {
      generations.session = false
      return this.#take('stateless')
    }
    this.#waiting.withdraw(passing.id)
    this.#take('session')
    if (first.answer !== undefined) this.#events.onMessage(first.answer)
    else if (first.failure !== undefined) this.#events.onFailure(first.failure)
  }

  #probe(): Promise<ProbeResult> {
    return probeGeneration(this.#trials, this.#start('stateless'), this.#patienceMs)
  }

  /** Silence of a process is a server that knows no such question, or is not there yet, and what it
   * says late still counts; silence over HTTP is more likely a slow answer. */
  get #patienceMs(): number {
    return this.#options.isProcess ? GENERATION_PROBE_PROCESS_MS_MAX : GENERATION_PROBE_HTTP_MS_MAX
  }

  #failWaiting(failure: UpstreamFailure): void {
    for (const each of this.#waiting.failAll(failure)) this.#events.onFailure(each)
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
    const link: Upstream = start(
      generation,
      {
        // Messages besides the answer that shows the generation are for the receiver, too.
        onMessage: (message, related) => {
          if (this.#trials.takeAnswer(message)) return
          if (this.#expectsProbe && isProbeAnswer(message))
            this.#probedLate(isOfNewerServer(message))
          else this.#receiver.onMessage(message, related)
        },
        onFailure: (failure) => {
          if (!this.#trials.takeFailure(failure)) this.#receiver.onFailure(failure)
        },
        onSuspended: (request) => this.#events.onSuspended?.(request),
        onClose: (why) => {
          // A link of the other generation was closed on purpose.
          if (![...this.#started.values()].includes(link)) return
          this.#trials.end(link.failure)
          this.#receiver.onClose(why)
        },
      },
      handle,
    )
    this.#allEnded.push(link.ended)
    this.#started.set(generation, link)
    if (isProcess) this.#started.set(generation === 'session' ? 'stateless' : 'session', link)
    return link
  }

  /** From here on everything goes over this one link. */
  #take(generation: ProtocolGeneration): void {
    if (this.#closed) return
    const { clientGeneration, log } = this.#options
    const inner = this.#start(generation)
    for (const [of, other] of this.#started) {
      if (other === inner) continue
      this.#started.delete(of)
      other.close('another generation is spoken')
    }
    const { onMessage } = this.#events
    const events: UpstreamEvents = {
      onMessage,
      onFailure: (failure) => {
        this.#doubt(generation, failure)
        this.#events.onFailure(failure)
      },
      onClose: (why) => this.close(why),
    }
    const onBegun = (hasBegun: boolean): void => this.#begun(hasBegun)
    const adapt = (inside: UpstreamEvents): Upstream => {
      this.#receiver = inside
      return inner
    }
    this.#expectsProbe = false
    const link =
      generation === clientGeneration
        ? adapt(events)
        : generation === 'session'
          ? new StatelessOverSession(adapt, { log, onBegun }, events)
          : new SessionOverStateless(adapt, { log, onBegun }, events)
    this.#link = link
    this.#generation = generation
    for (const { text, carried } of this.#waiting.takeAll()) link.send(text, carried)
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
