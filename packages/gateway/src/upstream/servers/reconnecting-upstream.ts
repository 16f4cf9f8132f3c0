// The link of a session to a server, over all connections and processes that the session has one after the
// other. A process may end before the session does, when it is idle or another session needs its place, and a server
// over HTTP may forget the session: it is begun again as it began, and the client does not notice. What cannot be
// sent meanwhile waits in one queue. This file joins the queue to the state of the link (link-state.ts), the place of
// its process (process-place.ts), the run of its server (server-run.ts) and what is repeated (session-replay.ts).

import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import { writeNotification } from '@sluice/protocol/write-message'
import type { ProcessLease } from '../../processes/process-quota.ts'
import type { MessageContext } from '../../shared/transport.ts'
import type { TrialResult } from '../adapters/probe-generation.ts'
import type {
  OutboundRequest,
  Upstream,
  UpstreamEvents,
  UpstreamFailure,
  UpstreamSendOptions,
} from '../upstream.ts'
import { beginAgain } from './begin-again.ts'
import { chooseGeneration, type GenerationSearch } from './choose-generation.ts'
import { LINK_TRANSITIONS, type LinkEvent, type LinkState } from './link-state.ts'
import { MessageQueue } from './message-queue.ts'
import { OpenResources } from './open-resources.ts'
import { ProcessPlace, type ProcessPlaces } from './process-place.ts'
import { ServerRun, type ServerRunEvents, type ServerRunOptions } from './server-run.ts'
import { describeNotBegun, SessionReplay } from './session-replay.ts'

export interface ReconnectingOptions extends ServerRunOptions {
  /** The quota of a process that may end before the session does. Undefined for every other link. */
  readonly places?: ProcessPlaces | undefined
  /** `handle` of the link over which the session began; undefined for a new session. */
  readonly handle?: string | undefined
}

const TOOLS_CHANGED = 'notifications/tools/list_changed'

export class ReconnectingUpstream implements Upstream {
  /** Links that have not ended, and places that are waited for. */
  readonly #resources = new OpenResources()
  readonly ended: Promise<void> = this.#resources.ended
  readonly #options: ReconnectingOptions
  readonly #events: UpstreamEvents
  readonly #runEvents: ServerRunEvents
  /** The place of the link's process; undefined if the link does not start and end one of its own. */
  readonly #place: ProcessPlace | undefined
  readonly #session: SessionReplay
  readonly #queue = new MessageQueue()
  /** Messages that a server refused because it has forgotten the session. They are sent again, as they are, when it
   * knows another. */
  readonly #unsent = new MessageQueue()
  #state: LinkState
  /** The process or the connections that messages go to now. */
  #run: ServerRun
  /** Why the link closed by itself. */
  #failure: UpstreamFailure | undefined
  /** The client reads no further, and the next link has to be told so too. */
  #isPaused = false

  /** A process is started at once, as it would be without a gate; over HTTP the first message connects. */
  constructor(options: ReconnectingOptions, events: UpstreamEvents) {
    const { clientGeneration, handle, isProcess, places, start } = options
    this.#options = { ...options, start: (...link) => this.#count(start(...link)) }
    this.#events = events
    this.#session = new SessionReplay(places !== undefined)
    this.#place =
      places &&
      new ProcessPlace(places, {
        isIdle: () => this.#state === 'awake' && !this.isBusy,
        rest: (why) => void this.rest(why),
      })
    this.#runEvents = this.#listen()
    this.#run = new ServerRun(this.#options, this.#runEvents)
    this.#state = places === undefined ? 'awake' : 'asleep'
    if (this.#place !== undefined) this.#wake(this.#place)
    else if (isProcess) this.#run.start(clientGeneration)
    else if (handle !== undefined) this.#run.goOn(handle)
  }

  #listen(): ServerRunEvents {
    const events = this.#events
    return {
      client: {
        // Only a process is owed an account of what is open. Over HTTP answers take the short way.
        onMessage:
          this.#place === undefined
            ? events.onMessage
            : (message, from) => this.#received(message, from),
        onFailure: (failure) => this.#failed(failure),
        onSuspended: (request) => events.onSuspended?.(request),
        onClose: (why) => this.close(why),
      },
      onChosen: (link) => {
        if (this.#isPaused) link.pause()
        this.#flush()
      },
      // What has come since the queue was failed.
      onSearched: () => this.#flush(),
      onFirstResult: ({ answer, failure }) => {
        if (answer !== undefined) this.#received(answer, undefined)
        else if (failure !== undefined) this.#failed(failure)
      },
      onSent: (request) => this.#queue.withdraw(request.id),
      onUnavailable: (failure) => this.#failQueue(failure),
      onForgotten: (link, failure) => this.#forgotten(link, failure),
      findOpening: () => this.#session.opening,
    }
  }

  get failure(): UpstreamFailure | undefined {
    return this.#run.failure ?? this.#failure
  }

  get handle(): string | undefined {
    return this.#run.handle
  }

  get isBusy(): boolean {
    return this.#session.needsProcess || this.#queue.size > 0 || this.#run.isBusy
  }

  /** Changes the state. False if the event means nothing in this state. */
  #apply(event: LinkEvent): boolean {
    const next = LINK_TRANSITIONS[this.#state][event]
    if (next !== undefined) this.#state = next
    return next !== undefined
  }

  // The queue

  send(text: string, carried?: UpstreamSendOptions): boolean {
    if (this.#state === 'closed') return false
    this.#session.note(text, carried)
    const { link } = this.#run
    // Answers to the old process, and what is cancelled there, are still for it.
    const isOpen =
      this.#state === 'awake' || (this.#state === 'draining' && carried?.passing === undefined)
    if (isOpen && link !== undefined) return this.#pass(link, text, carried)
    if (!this.#queue.add(text, carried)) {
      const message = `too much waits for the server \`${this.#options.name}\` already`
      const request = carried?.passing?.id
      queueMicrotask(() =>
        this.#events.onFailure({ code: 'UPSTREAM_BUSY', message, request, repeatable: true }),
      )
    } else if (this.#place !== undefined && this.#state === 'asleep') this.#wake(this.#place)
    else this.#flush()
    return true
  }

  #pass(link: Upstream, text: string, carried: UpstreamSendOptions | undefined): boolean {
    this.#session.noteSent(carried?.passing)
    return link.send(text, carried)
  }

  /** Sends what waits. If nothing is known of the server, finds that out with the first. */
  #flush(): void {
    const run = this.#run
    const { link } = run
    const { first } = this.#queue
    if (this.#state !== 'awake' || first === undefined) return
    if (link !== undefined)
      for (const { text, carried } of this.#queue.takeAll()) this.#pass(link, text, carried)
    else if (!run.isSearching) void run.search(() => chooseGeneration(this.#searchOf(run), first))
  }

  #failQueue(failure: Omit<UpstreamFailure, 'request'>): void {
    for (const each of this.#unsent.failAll(failure)) this.#run.fail(each)
    for (const each of this.#queue.failAll(failure)) this.#events.onFailure(each)
  }

  #received(message: JsonRpcMessage, related: MessageContext | undefined): void {
    if (message.kind !== 'answer') return this.#events.onMessage(message, related)
    if (this.#run.repeats.takeAnswer(message)) return
    this.#session.noteAnswer(message)
    this.#events.onMessage(message, related)
    this.#settle(message.id as RequestId)
  }

  #failed(failure: UpstreamFailure): void {
    if (this.#run.repeats.takeFailure(failure)) return
    this.#events.onFailure(failure)
    this.#settle(failure.request)
  }

  get pausesApart(): boolean {
    return this.#run.link?.pausesApart === true
  }

  pause(request?: RequestId): void {
    if (request === undefined) this.#isPaused = true
    this.#run.link?.pause(request)
  }

  resume(request?: RequestId): void {
    if (request === undefined) this.#isPaused = false
    this.#run.link?.resume(request)
  }

  abort(request: RequestId): void {
    this.#session.listens.delete(request)
    for (const queue of [this.#queue, this.#unsent]) queue.withdraw(request)
    this.#run.link?.abort(request)
    this.#settle(request)
  }

  // The process and its place

  /** Counts a link that a run has started, until nothing of it is left. */
  #count(link: Upstream): Upstream {
    this.#resources.acquire()
    void link.ended.then(() => this.#resources.release())
    return link
  }

  #wake(place: ProcessPlace): void {
    this.#apply('wake')
    this.#resources.acquire()
    const onFull = (error: Error): void => {
      this.#apply('noPlace')
      this.#resources.release()
      this.#failQueue({ code: 'UPSTREAM_BUSY', message: error.message, repeatable: true })
    }
    place
      .enter()
      .then((lease) => this.#enter(lease), onFull)
      .catch((error: Error) => this.close(error.message))
  }

  /** Starts the process that the lease is for, and begins the session in it if it has begun before. */
  async #enter(lease: ProcessLease): Promise<void> {
    const { clientGeneration } = this.#options
    if (this.#state === 'closed') lease.ended()
    else void this.#run.start(clientGeneration).ended.then(() => lease.ended())
    this.#resources.release()
    if (this.#state === 'closed') return
    // A stateless client has begun nothing: its next request begins again.
    const opening = clientGeneration === 'session' && this.#session.opening
    if (opening && !(await this.#beginAgain(opening))) return
    if (!this.#apply('begun')) return
    if (this.#state === 'draining') return this.#drain('another process takes its place')
    this.#flush()
    // It may be another version of the server by now: what is known of its tools is looked at again.
    if (opening) this.#events.onMessage(notification(TOOLS_CHANGED))
  }

  /** Ends the process and keeps the session. False if it is in use, or the link is to no process. */
  rest(why: string): boolean {
    if (this.#place === undefined) return this.#run.link?.rest?.(why) === true
    if (this.isBusy || !this.#apply('rest')) return false
    this.#dropRun(why)
    return true
  }

  /** Puts another process in the place of this one: requests from now on are for the next, open ones
   * are answered by this one for a while. The session goes on. */
  restart(why: string): void {
    if (this.#place === undefined || !this.#apply('restart')) return
    if (this.#state === 'draining') this.#drain(why)
  }

  #drain(why: string): void {
    this.#place?.startDrain(() => this.close(why))
    this.#settle(undefined)
  }

  /** The process owes nothing for this request any more. */
  #settle(request: RequestId | undefined): void {
    const { open, listens } = this.#session
    if (request !== undefined) open.delete(request)
    if (open.size > 0 || this.#place === undefined || !this.#apply('drained')) return
    this.#place.endDrain()
    this.#session.processEnded()
    this.#dropRun('another process takes its place')
    for (const [id, { text, carried }] of listens)
      if (!this.#queue.has(id)) this.#queue.add(text, carried)
    this.#wake(this.#place)
  }

  /** The process exits on its own; what it still sends is dropped. */
  #dropRun(why: string): void {
    this.#run.drop(why)
    this.#session.open.clear()
    this.#run = new ServerRun(this.#options, this.#runEvents)
  }

  close(why: string): void {
    this.#close(why, undefined)
  }

  #close(why: string, failure: UpstreamFailure | undefined): void {
    const wasAwake = this.#state === 'awake'
    if (!this.#apply('close')) return
    this.#place?.endDrain()
    this.#failure = this.#run.failure ?? failure
    // Known never to have been sent.
    if (!wasAwake) this.#failQueue({ code: 'UPSTREAM_UNREACHABLE', message: why, repeatable: true })
    this.#run.close(why)
    this.#events.onClose(why)
    this.#resources.close()
  }

  // The session in another process, or another session at the server

  #searchOf(run: ServerRun): GenerationSearch {
    return { run, session: this.#session, options: this.#options, events: this.#runEvents }
  }

  /** False if the session could not be begun in the new process: what waited has failed. */
  async #beginAgain(opening: OutboundRequest): Promise<boolean> {
    const run = this.#run
    const result = await beginAgain(this.#searchOf(run), opening)
    if (this.#state === 'closed') return false
    const { link } = run
    if (link !== undefined && result.answer?.result !== undefined) {
      this.#session.replay(link, run.repeats)
      return true
    }
    this.#apply('notBegun')
    this.#dropRun('it could not be begun again')
    this.#failQueue(describeNotBegun(this.#options.name, 'could not be started again', result))
    return false
  }

  /** The server has forgotten the session (HTTP): another is begun as the first was, and what was refused is sent
   * once more. Without a beginning to repeat the client has to begin again. */
  #forgotten(link: Upstream, failure: UpstreamFailure): void {
    const { unsent } = failure
    const { opening } = this.#session
    if (unsent === undefined || opening === undefined) {
      this.#run.fail(failure)
      return this.#close('session gone', failure)
    }
    if (!this.#unsent.add(unsent.text, unsent.carried)) this.#run.fail(failure)
    else if (this.#apply('forgotten')) void this.#renew(link, opening)
  }

  async #renew(link: Upstream, opening: OutboundRequest): Promise<void> {
    const { log, name } = this.#options
    const run = this.#run
    log(`the server \`${name}\` has forgotten the session: initialized again`)
    const result = await run.trials.send(link, this.#session.asOwn(opening))
    if (this.#state === 'closed') return
    if (result.answer?.result === undefined) return this.#notRenewed(result)
    this.#session.replay(link, run.trials)
    this.#apply('begun')
    for (const { text, carried } of this.#unsent.takeAll())
      link.send(text, { ...carried, isRepeated: true })
    this.#flush()
  }

  #notRenewed(result: TrialResult): void {
    const { name } = this.#options
    const failure = result.failure ?? describeNotBegun(name, 'began no new session', result)
    this.#failQueue(failure)
    if (result.failure?.retryAfterMs === undefined)
      this.#close('session gone', { ...failure, request: undefined })
    // The next message is refused, and tries again.
    else this.#apply('postponed')
  }
}

function notification(method: string): JsonRpcMessage {
  const params = undefined
  return { kind: 'notification', method, params, source: writeNotification(method, params) }
}
