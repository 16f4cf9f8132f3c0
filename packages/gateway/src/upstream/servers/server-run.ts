// One run of a server for a session: a process, or the connections over HTTP. It starts the links, one for each
// protocol generation that is tried, and once the generation is chosen it puts an adapter between if that is not the
// client's. A link that goes on in another process makes a new run, so what an earlier one still sends is dropped.

import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { TrialRequests, type TrialResult } from '../adapters/probe-generation.ts'
import { SessionOverStateless } from '../adapters/session-over-stateless.ts'
import { StatelessOverSession } from '../adapters/stateless-over-session.ts'
import type { OutboundRequest, Upstream, UpstreamEvents, UpstreamFailure } from '../upstream.ts'

export interface ServerRunOptions {
  /** Name of the server in sluice.yaml. */
  readonly name: string
  readonly clientGeneration: ProtocolGeneration
  /** Which generations the server has shown to speak, or not to. Shared by all sessions, and written here. */
  readonly generations: Partial<Record<ProtocolGeneration, boolean>>
  /** Starts a link. A process speaks both generations over one link; over HTTP each has its own. */
  readonly start: (
    generation: ProtocolGeneration,
    events: UpstreamEvents,
    handle?: string,
  ) => Upstream
  readonly isProcess: boolean
  readonly log: (text: string) => void
}

/** What a run reports to the reconnecting link that it belongs to. */
export interface ServerRunEvents {
  /** Receives what the chosen link reports, in the client's generation. */
  readonly client: UpstreamEvents
  /** From now on messages go over this link. */
  readonly onChosen: (link: Upstream) => void
  /** The generation has been looked for. If it was not found, the next message looks again. */
  readonly onSearched: () => void
  /** Settles the first message, with which the generation was found out and which has its result by now. */
  readonly onFirstResult: (result: TrialResult) => void
  /** The message was sent while the generation was found out: it no longer waits. */
  readonly onSent: (request: OutboundRequest) => void
  /** Nothing that waits can be sent. */
  readonly onUnavailable: (failure: Omit<UpstreamFailure, 'request'>) => void
  /** The server refused a message because it no longer knows the session. */
  readonly onForgotten: (link: Upstream, failure: UpstreamFailure) => void
  /** What the session was begun with; undefined if it has not begun. */
  readonly findOpening: () => OutboundRequest | undefined
}

type RunPhase =
  /** Messages are sent and received. */
  | 'running'
  /** Nothing more is sent. What the links report while they close still reaches the client. */
  | 'closing'
  /** Another run has taken its place. What the links report is ignored. */
  | 'dropped'

type GenerationChoice =
  /** The next message finds the generation out. */
  | { readonly kind: 'unknown' }
  /** It is being found out with the first message; what comes meanwhile waits. */
  | { readonly kind: 'searching' }
  /** Messages go over `link`: a started link, or an adapter around it. */
  | {
      readonly kind: 'chosen'
      readonly generation: ProtocolGeneration
      readonly link: Upstream
    }

const UNKNOWN: GenerationChoice = { kind: 'unknown' }

export class ServerRun {
  /** Requests of the gate to the server as it is: to find out the generation, and to begin the session. */
  readonly trials = new TrialRequests()
  /** Requests of the gate in the client's generation: they begin the session again. */
  readonly repeats = new TrialRequests()
  readonly #options: ServerRunOptions
  readonly #events: ServerRunEvents
  /** Links that were started and are not closed. A process stands for both generations. */
  readonly #started = new Map<ProtocolGeneration, Upstream>()
  /** Receives what the started link reports: the client, or the adapter. */
  #receiver: UpstreamEvents
  #choice: GenerationChoice = UNKNOWN
  #phase: RunPhase = 'running'

  constructor(options: ServerRunOptions, events: ServerRunEvents) {
    this.#options = options
    this.#events = events
    this.#receiver = events.client
  }

  /** The link; undefined until the generation is chosen. */
  get link(): Upstream | undefined {
    return this.#choice.kind === 'chosen' ? this.#choice.link : undefined
  }

  get isRunning(): boolean {
    return this.#phase === 'running'
  }

  get isSearching(): boolean {
    return this.#choice.kind === 'searching'
  }

  get isBusy(): boolean {
    return [...this.#started.values()].some(({ isBusy }) => isBusy)
  }

  get failure(): UpstreamFailure | undefined {
    return (this.link ?? this.#started.get(this.#options.clientGeneration))?.failure
  }

  /** What `goOn` of a later run needs; undefined if the session cannot go on over another link. */
  get handle(): string | undefined {
    if (this.#choice.kind !== 'chosen' || this.#options.isProcess) return undefined
    const { generation, link } = this.#choice
    return link.handle === undefined ? undefined : JSON.stringify([generation, link.handle])
  }

  /** Goes on with the session of an earlier link. */
  goOn(handle: string): void {
    const [generation, inner] = JSON.parse(handle) as [ProtocolGeneration, string]
    this.start(generation, generation === 'session' ? inner : undefined)
    this.choose(generation)
    if (this.link instanceof SessionOverStateless) this.link.takeUp(inner)
  }

  /** The link of a generation, started if it is not yet there. */
  start(generation: ProtocolGeneration, handle?: string): Upstream {
    const present = this.#started.get(generation)
    if (present !== undefined) return present
    const link: Upstream = this.#options.start(
      generation,
      this.#eventsOf(() => link),
      handle,
    )
    this.#started.set(generation, link)
    if (this.#options.isProcess)
      this.#started.set(generation === 'session' ? 'stateless' : 'session', link)
    return link
  }

  /** A getter of the link, because a link needs its events before it exists. */
  #eventsOf(getLink: () => Upstream): UpstreamEvents {
    return {
      // Messages besides the answer that shows the generation are for the receiver, too.
      onMessage: (message, related) => {
        if (this.#phase !== 'dropped' && !this.trials.takeAnswer(message))
          this.#receiver.onMessage(message, related)
      },
      onFailure: (failure) => {
        if (this.#phase === 'dropped' || this.trials.takeFailure(failure)) return
        if (failure.code === 'UPSTREAM_SESSION_GONE') this.#events.onForgotten(getLink(), failure)
        else this.#receiver.onFailure(failure)
      },
      onSuspended: (request) => this.#events.client.onSuspended?.(request),
      onClose: (why) => {
        const link = getLink()
        // A link of the other generation was closed on purpose.
        if (this.#phase === 'dropped' || ![...this.#started.values()].includes(link)) return
        this.trials.end(link.failure)
        this.#receiver.onClose(why)
      },
    }
  }

  /** Runs `search` to find out the generation; messages wait until it is over. */
  async search(search: () => Promise<void>): Promise<void> {
    const searching: GenerationChoice = { kind: 'searching' }
    this.#choice = searching
    try {
      await search()
    } catch (error) {
      this.#events.client.onClose((error as Error).message)
    }
    if (!this.isRunning) return
    if (this.#choice === searching) this.#choice = UNKNOWN
    this.#events.onSearched()
  }

  /** Sends everything over the link of this generation from here on. `begun` is what the server answered to
   * `initialize`, if the gate began the session. */
  choose(generation: ProtocolGeneration, begun = '{}'): void {
    const { clientGeneration, log } = this.#options
    const inner = this.start(generation)
    for (const [of, other] of this.#started) {
      if (other === inner) continue
      this.#started.delete(of)
      other.close('another generation is spoken')
    }
    const events: UpstreamEvents = {
      ...this.#events.client,
      onFailure: (failure) => {
        this.#doubt(generation, failure)
        this.#events.client.onFailure(failure)
      },
    }
    const opening = this.#events.findOpening()
    const options = { log, opening, begun, onBegun: (hasBegun: boolean) => this.#begun(hasBegun) }
    const adapt = (inside: UpstreamEvents): Upstream => {
      this.#receiver = inside
      return inner
    }
    const link =
      generation === clientGeneration
        ? adapt(events)
        : generation === 'session'
          ? new StatelessOverSession(adapt, options, events)
          : new SessionOverStateless(adapt, options, events)
    this.#choice = { kind: 'chosen', generation, link }
    this.#events.onChosen(link)
  }

  /** Reports a failure as if the link had. */
  fail(failure: UpstreamFailure): void {
    this.#receiver.onFailure(failure)
  }

  /** A bridge to a server: if the session did not begin over it, the server may have become another. */
  #begun(hasBegun: boolean): void {
    const { clientGeneration, generations } = this.#options
    if (hasBegun) generations[clientGeneration] = false
    else this.forget()
  }

  /** A server that was of the newer generation refuses with a status, as one with sessions would. */
  #doubt(generation: ProtocolGeneration, { code, status = 0 }: UpstreamFailure): void {
    const isBoth = generation === 'stateless' && this.#options.clientGeneration === 'stateless'
    if (isBoth && code === 'UPSTREAM_STATUS' && status < 500) this.forget()
  }

  /** Forgets the generation, so that the next message finds it out again. */
  forget(): void {
    delete this.#options.generations[this.#options.clientGeneration]
    if (this.#choice.kind === 'chosen') this.#choice = UNKNOWN
  }

  /** Closes the links. Failures that they report meanwhile still reach the client. */
  close(why: string): void {
    if (this.#phase === 'running') this.#phase = 'closing'
    this.repeats.end(undefined)
    for (const link of [this.link, ...this.#started.values()]) link?.close(why)
  }

  /** Closes the links because the session goes on in another run. What they still report is ignored. */
  drop(why: string): void {
    this.#phase = 'dropped'
    this.trials.end(undefined)
    this.close(why)
    this.#started.clear()
    this.#choice = UNKNOWN
  }
}
