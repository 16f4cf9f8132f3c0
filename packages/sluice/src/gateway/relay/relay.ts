// One client session and one server, with the gate between them: every message is judged, renamed
// and carried over. What goes wrong in here ends with an answer to whoever waits, never with the gate.

import { Buffer } from 'node:buffer'
import type { Answer, Id, Message, Notification } from '../../protocol/message.ts'
import { LIST_CHANGES, META, metaOf } from '../../protocol/protocol-generation.ts'
import { RPC } from '../../protocol/rpc-codes.ts'
import { oneLine, writeError, writeNotification } from '../../protocol/write-message.ts'
import { Deliveries, type InspectDelivery, isDefinition } from '../call/deliveries.ts'
import { expireQuestions } from '../call/expire-questions.ts'
import { type JudgeContext, RequestJudge } from '../call/handle-requests.ts'
import { type Asking, askingIn, type Refused, refusedQuestion } from '../call/input-requests.ts'
import { type Crossed, Crossing, writeAnswer } from '../call/pending-requests.ts'
import { frozenAnswer, refusalAnswer, withoutOurNames } from '../call/replies.ts'
import { BackPressure } from '../session/back-pressure.ts'
import { ClientQuestions } from '../session/client-elicitations.ts'
import { ClientRoots, type NameRoots } from '../session/client-roots.ts'
import { KnownNames } from '../session/known-names.ts'
import { OwnTasks } from '../session/session-tasks.ts'
import { OwnQuestions } from '../session/upstream-queries.ts'
import type { SeenLists } from '../session/visible-lists.ts'
import { enterStep } from '../shared/current-step.ts'
import { errorAnswer } from '../shared/error-reply.ts'
import { ANSWER_AT_ONCE_LENGTH_MAX, CALL_MS_MAX, INPUT_ROUNDS_MAX } from '../shared/limits.ts'
import { notificationPassage } from '../shared/parse-call.ts'
import { declaredIn } from '../shared/server-questions.ts'
import { declaredBefore, writeSessionHandle } from '../shared/session-handle.ts'
import { takeTurn } from '../shared/slices.ts'
import type { ClientLink, Related } from '../shared/transport.ts'
import { type Frozen, frozenReason } from '../state/freezes.ts'
import { failureAnswer } from '../upstream/failure-response.ts'
import type { UpstreamFailure, UpstreamLink } from '../upstream/upstream.ts'
import { noticesOfChange } from './route-notifications.ts'
import { ServerNotifications } from './server-notifications.ts'
import { AnswerTeller } from './tell-answers.ts'

/** Nobody knows whether the call was carried out. */
const UNKNOWN_ENDS: ReadonlySet<string> = new Set(['UPSTREAM_OUTCOME_UNKNOWN', 'UPSTREAM_TIMEOUT'])

export interface RelayContext
  extends Omit<JudgeContext, 'lists' | 'names' | 'tasks' | 'era' | 'questions'> {
  readonly lists: (ask: OwnQuestions['ask']) => SeenLists
  /** A server introduces itself: what of that may be told. */
  readonly onHello: (result: string) => string
  /** Every message towards the client, before it is sent: adds the labels that it brings. */
  readonly onDelivery: InspectDelivery
  readonly nameRoots: NameRoots
  readonly onEnd: (why: string) => void
  /** Of a session from before the gate was started again. */
  readonly handle?: string | undefined
}

export class Relay {
  readonly #client: ClientLink
  readonly #server: UpstreamLink
  readonly #context: RelayContext
  /** Requests of the client's, and requests of the server's. */
  readonly #down: Crossing
  readonly #up: Crossing
  readonly #own: OwnQuestions
  readonly #lists: SeenLists
  readonly #names: KnownNames
  readonly #tasks = new OwnTasks()
  readonly #judge: RequestJudge
  readonly #deliveries: Deliveries
  readonly #questions: ClientQuestions
  readonly #roots: ClientRoots
  readonly #teller: AnswerTeller
  readonly #notifications: ServerNotifications
  #lastId = 0
  #closed = false

  constructor(client: ClientLink, server: UpstreamLink, context: RelayContext) {
    this.#client = client
    this.#deliveries = new Deliveries(client, context.onDelivery, () => this.#down.open)
    this.#server = server
    this.#context = context
    // A session that goes on after a restart: its server may still know the low ones.
    if (client.revision !== '') this.#lastId = Date.now()
    const newId = (): number => ++this.#lastId
    const { record } = context
    const { era } = client
    this.#down = new Crossing({
      from: client,
      to: server,
      newId,
      renamesTokens: era === 'stateless',
      record,
      onCancel: (theirs, sent) => {
        client.drop(theirs)
        if (sent === undefined) return
        this.#deliveries.abandon(sent.crossed)
        server.abort(sent.ours)
      },
    })
    const newName = (): string => `sluice-${newId()}`
    this.#up = new Crossing({
      from: server,
      to: client,
      newId: newName,
      renamesTokens: false,
      record,
      onCancel() {},
    })
    this.#own = new OwnQuestions(server, era, newId)
    const ask: OwnQuestions['ask'] = async (method, params) => {
      const frozen = context.frozen()
      if (frozen !== undefined) throw new Error(frozenReason(frozen))
      return this.#own.ask(method, params)
    }
    this.#lists = context.lists(ask)
    const { facts, spine } = context
    const policy = () => spine.policy().policy
    this.#names = new KnownNames({ server: context.server, policy, facts, now: spine.now, ask })
    this.#questions = new ClientQuestions(client, declaredBefore(context.handle))
    this.#roots = new ClientRoots(context.nameRoots)
    this.#judge = new RequestJudge({
      ...{ ...context, era, lists: this.#lists, names: this.#names, tasks: this.#tasks },
      questions: this.#questions,
    })
    this.#teller = new AnswerTeller({
      ...{ client, context, lists: this.#lists, names: this.#names, tasks: this.#tasks },
    })
    this.#notifications = new ServerNotifications({
      ...{ client, down: this.#down, up: this.#up, lists: this.#lists, names: this.#names },
      ...{ tasks: this.#tasks, frozen: context.frozen, log: context.log },
    })
    client.onMessage = (message, related) =>
      this.#guard(() => this.#fromClient(message, related), message, this.#down)
    client.onClose = (why) => this.close(why)
    client.onPressure = new BackPressure(server, era, (request) => this.#down.oursOf(request)).told
    server.onMessage = (message, related) =>
      this.#guard(() => this.#fromServer(message, related), message, this.#up)
    server.onFailure = (failure) => this.#guard(() => this.#serverFailed(failure))
    server.onSuspended = (request) => this.#suspend(request)
    server.onClose = (why) => this.close(`the server ended the connection: ${why}`)
  }

  get server(): string {
    return this.#context.server
  }

  /** Requests of the client's that somebody waits for. */
  get openRequests(): number {
    return this.#down.waiting
  }

  /** Ends what is open; says how many calls that were. */
  interrupt(frozen: Frozen): number {
    const why = frozenReason(frozen)
    const answer = (id: Id, isSent: boolean) => frozenAnswer(id, frozen, isSent).text
    const down = this.#down.interrupt(why, answer)
    const up = this.#up.interrupt(why, answer)
    this.#own.end(why)
    // What could not begin is over.
    if (down.some(({ method }) => method === 'initialize')) this.close(why)
    return [...down, ...up].filter(({ admission }) => admission !== undefined).length
  }

  /** Ends calls that the server has not answered in time. */
  expire(nowMs: number, idleMs: number): void {
    expireQuestions(this.#up, nowMs, this.#context.log)
    // It waits for the client or the person behind it, and not the other way round.
    if (this.#up.size > 0) return
    for (const [ours, { method, name }] of this.#down.overdue(nowMs, idleMs, CALL_MS_MAX)) {
      const what = method === 'tools/call' ? `${method} \`${name}\`` : method
      const message = `the server \`${this.server}\` did not answer ${what} in time`
      const help = 'whether it was carried out is unknown; `timeout` of the server sets the time'
      const code = 'UPSTREAM_TIMEOUT'
      this.#down.tellCancelled(ours, message)
      this.#serverFailed({ code, message, help, request: ours, repeatable: false })
      this.#server.abort(ours)
      this.#context.log(message)
    }
  }

  /** What of this conversation is frozen. */
  get frozen(): Frozen | undefined {
    return this.#context.frozen()
  }

  /** The gate itself changed what this caller may see. */
  tellListsChanged(): void {
    // Before that a client may be told nothing.
    if (this.#closed || this.#client.revision === '') return
    for (const method of LIST_CHANGES.keys()) {
      if (this.#client.era === 'session')
        this.#client.send(writeNotification(method, undefined), { from: 'gate' })
      else this.#notifications.tell(noticesOfChange(method, this.#down), 'gate')
    }
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#down.end(why)
    this.#up.end(why)
    this.#own.end(why)
    this.#client.close(why)
    this.#server.close(why)
    this.#context.onEnd(why)
  }

  /** Closes, and waits until nothing of the server is left. */
  end(why: string): Promise<void> {
    this.close(why)
    return this.#server.ended
  }

  #suspend(request: Id): void {
    const crossed = this.#down.find(request)
    if (crossed !== undefined) this.#client.suspend?.(crossed.id)
  }

  /** What cannot be handled: a notification is dropped, a request refused, the rest ends the session. */
  #guard(step: () => void | Promise<void>, message?: Message, crossing?: Crossing): void {
    const trip = (error: Error): void => {
      const why = `the gate could not handle a message: ${error.message}`
      if (message === undefined || message.kind === 'answer') return this.close(why)
      this.#context.log(`${why}, ${message.kind} \`${message.method}\``)
      if (message.kind === 'notification') return
      crossing?.fail(message.id, errorAnswer(message.id, RPC.internal, why))
    }
    try {
      step()?.catch(trip)
    } catch (error) {
      trip(error as Error)
    }
  }

  #fromClient(message: Message, related: Related | undefined): void | Promise<void> {
    if (message.kind === 'request') {
      this.#own.askFor(message.params)
      if (message.method === 'initialize') this.#questions.learn(message.params)
      const wrong = this.#roots.requested(message)
      if (wrong !== undefined) {
        this.#down.begin(message.id)
        return this.#down.refuse(message.id, errorAnswer(message.id, RPC.invalidParams, wrong))
      }
      return this.#judge.fromClient(message, this.#down, related)
    }
    if (message.kind === 'notification') return this.#clientNotification(message)
    this.#clientAnswer(message)
  }

  #fromServer(message: Message, related: Related | undefined): void | Promise<void> {
    if (message.kind === 'request' && this.#client.era === 'stateless')
      return this.#context.log(`a server may not ask by itself in this era: ${message.method}`)
    if (message.kind === 'request')
      return this.#judge.fromServer(message, this.#up, this.#notifications.relatedTo(related))
    if (message.kind === 'notification') return this.#notifications.fromServer(message, related)
    if (!this.#own.answered(message)) return this.#serverAnswer(message)
  }

  #clientNotification(notification: Notification): void {
    const { method, params } = notification
    if (method === 'notifications/cancelled') return this.#down.cancel(notification)
    if (this.#context.frozen() !== undefined) return
    const isStray = method === 'notifications/progress' && !this.#up.hasToken(params)
    if (isStray) return this.#context.log('progress of a client for a token that no server gave')
    if (notificationPassage(method) === 'plumbing')
      this.#server.send(oneLine(writeNotification(method, params?.text)))
    else this.#context.log(`a notification that does not pass: ${method}`)
  }

  #clientAnswer(answer: Answer): void {
    const crossed = this.#up.take(answer.id)
    if (crossed === undefined) {
      if (!this.#questions.answered(answer)) this.#unasked(answer)
      return
    }
    const wrong = crossed.method === 'roots/list' ? this.#roots.answered(answer) : undefined
    if (wrong !== undefined) this.#context.log(wrong)
    const text =
      wrong === undefined
        ? writeAnswer(crossed.id, answer)
        : writeError(crossed.id, RPC.internal, wrong)
    this.#server.send(text)
    this.#settle(this.#up, crossed, answer, text)
  }

  #serverAnswer(answer: Answer): void | Promise<void> {
    const crossed = this.#down.take(answer.id)
    if (crossed === undefined) return this.#unasked(answer)
    const { id } = crossed
    const trip = (error: Error): void => {
      // It is the fault of one answer, and of nobody else who uses the server.
      const text = `the server's answer cannot be passed on: ${error.message}`
      this.#down.reply(id, writeError(id, RPC.internal, text), { from: crossed })
      this.#down.settle(crossed, { status: 'error' })
    }
    const isLong = (answer.result?.length ?? 0) > ANSWER_AT_ONCE_LENGTH_MAX
    try {
      const passed = isLong
        ? takeTurn().then(() => this.#passAnswer(crossed, answer))
        : this.#passAnswer(crossed, answer)
      return passed?.catch(trip)
    } catch (error) {
      trip(error as Error)
    }
  }

  #passAnswer(crossed: Crossed, answer: Answer): void | Promise<void> {
    enterStep('answer')
    const asking = askingIn(this.#client.era, crossed.method, answer)
    if (asking !== undefined) return this.#serverAsks(crossed, answer, asking)
    return this.#deliver(crossed, answer)
  }

  #deliver(crossed: Crossed, answer: Answer): void | Promise<void> {
    const told = this.#teller.tell(crossed, answer)
    if (!(told instanceof Promise)) return this.#tellAnswer(crossed, answer, told)
    return told.then(async (list) => {
      await takeTurn()
      const frozen = this.#context.frozen()
      if (frozen === undefined) return this.#tellAnswer(crossed, answer, list)
      this.#deliveries.abandon(crossed)
      this.#down.reply(crossed.id, frozenAnswer(crossed.id, frozen, true).text, { from: 'gate' })
    })
  }

  #tellAnswer(crossed: Crossed, answer: Answer, told: Answer): void {
    const { id, method } = crossed
    const text = writeAnswer(id, told)
    if (crossed.admission) this.#names.hear(answer.result)
    if (method === 'initialize' && answer.result !== undefined) this.#begun()
    this.#down.reply(id, text, {
      errorCode: told.error?.code,
      isDefinition: isDefinition(method, told.error !== undefined),
      from: crossed,
    })
    this.#settle(this.#down, crossed, answer, text)
    // What could not begin is over.
    if (method === 'initialize' && answer.error !== undefined) this.close('it did not begin')
  }

  #begun(): void {
    const { handle } = this.#server
    const { declared } = this.#questions
    this.#client.begun?.(handle === undefined ? undefined : writeSessionHandle(handle, declared))
  }

  /** The answer asks something of the client: that is judged first. */
  async #serverAsks(crossed: Crossed, answer: Answer, asking: Asking): Promise<void> {
    const declared =
      this.#client.era === 'session'
        ? this.#questions.declared
        : declaredIn(metaOf(crossed.params)[META.capabilities])
    const refused = await refusedQuestion(asking, this.#context, declared)
    if (refused !== undefined) return this.#refuseAnswer(crossed, answer, refused)
    if (asking.wanted === undefined) return this.#deliver(crossed, answer)
    const result = this.#context.handles.sealRound(asking.wanted, crossed)
    if (result === undefined) {
      const fault = `the server wanted input more than ${INPUT_ROUNDS_MAX} times for one call`
      return this.#refuseAnswer(crossed, answer, { fault })
    }
    const { id } = crossed
    const text = writeAnswer(id, withoutOurNames({ ...answer, result }))
    // Whoever went away in the meantime will not come back with answers.
    if (!this.#down.reply(id, text, { from: crossed })) this.#server.abort(answer.id as Id)
    this.#settle(this.#down, crossed, answer, text)
  }

  /** In place of an answer that may not be told; the server need not wait for what it asked. */
  #refuseAnswer(crossed: Crossed, answer: Answer, refused: Refused): void {
    const { id, name } = crossed
    const told =
      'fault' in refused
        ? errorAnswer(id, RPC.internal, refused.fault)
        : refusalAnswer(crossed, name, { ...refused, explain: false }, undefined, this.#client.era)
    this.#server.abort(answer.id as Id)
    this.#down.reply(id, told.text, { errorCode: told.errorCode, from: crossed })
    this.#settle(this.#down, crossed, answer, told.text)
  }

  #settle(crossing: Crossing, crossed: Crossed, { error }: Answer, text: string): void {
    const bytes = Buffer.byteLength(text)
    if (error === undefined) crossing.settle(crossed, { status: 'answered', bytes })
    else crossing.settle(crossed, { status: 'error', bytes, errorCode: error.code })
  }

  /** The server was not reached, or did not answer as a peer may. */
  #serverFailed(failure: UpstreamFailure): void {
    if (this.#own.failed(failure.request, failure.message)) return
    const crossed = this.#down.take(failure.request)
    const answer = failureAnswer(failure)
    if (crossed === undefined || answer === undefined) return this.#context.log(failure.message)
    this.#down.reply(crossed.id, writeAnswer(crossed.id, answer), { from: crossed })
    const status = UNKNOWN_ENDS.has(failure.code) ? 'unknown' : 'error'
    if (failure.repeatable) this.#down.giveBack(crossed, 'error')
    else this.#down.settle(crossed, { status })
    if (crossed.method === 'initialize') this.close(failure.message)
  }

  #unasked({ id }: Answer): void {
    this.#context.log(`an answer nobody asked for, or nobody waits for: id ${id as Id}`)
  }
}
