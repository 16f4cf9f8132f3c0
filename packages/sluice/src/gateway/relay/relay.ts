// One client session and one server, with the gate between them: every message is judged, renamed
// and carried over. What goes wrong in here ends with an answer to whoever waits, never with the gate.

import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcResponse,
  RequestId,
} from '../../protocol/message.ts'
import { LIST_CHANGES, META, metaOf } from '../../protocol/protocol-generation.ts'
import { RPC } from '../../protocol/rpc-codes.ts'
import { oneLine, writeError, writeNotification } from '../../protocol/write-message.ts'
import { Deliveries, isDefinition } from '../call/deliveries.ts'
import { expireQuestions } from '../call/expire-questions.ts'
import { RequestHandler } from '../call/handle-requests.ts'
import {
  findInputRequests,
  findRefusedInput,
  type InputRequests,
  type RefusedInput,
} from '../call/input-requests.ts'
import { type PendingRequest, PendingRequests, writeAnswer } from '../call/pending-requests.ts'
import { buildFrozenReply, buildRefusalReply, stripGateMeta } from '../call/replies.ts'
import { BackPressure } from '../session/back-pressure.ts'
import { ClientElicitations } from '../session/client-elicitations.ts'
import { ClientRoots } from '../session/client-roots.ts'
import { KnownNames } from '../session/known-names.ts'
import { SessionTasks } from '../session/session-tasks.ts'
import { UpstreamQueries } from '../session/upstream-queries.ts'
import type { VisibleLists } from '../session/visible-lists.ts'
import { enterStep } from '../shared/current-step.ts'
import { buildErrorReply } from '../shared/error-reply.ts'
import { ANSWER_AT_ONCE_LENGTH_MAX, CALL_MS_MAX, INPUT_ROUNDS_MAX } from '../shared/limits.ts'
import { notificationPassage } from '../shared/parse-call.ts'
import { declaredIn } from '../shared/server-questions.ts'
import { declaredBefore, writeSessionHandle } from '../shared/session-handle.ts'
import { takeTurn } from '../shared/slices.ts'
import type { ClientTransport, MessageContext } from '../shared/transport.ts'
import { type Freeze, frozenReason } from '../state/freezes.ts'
import { toFailureResponse } from '../upstream/failure-response.ts'
import type { Upstream, UpstreamFailure } from '../upstream/upstream.ts'
import type { RelayContext } from './relay-context.ts'
import { noticesOfChange } from './route-notifications.ts'
import { ServerNotifications } from './server-notifications.ts'
import { AnswerTeller } from './tell-answers.ts'

/** Nobody knows whether the call was carried out. */
const UNKNOWN_ENDS: ReadonlySet<string> = new Set(['UPSTREAM_OUTCOME_UNKNOWN', 'UPSTREAM_TIMEOUT'])

export class Relay {
  readonly #client: ClientTransport
  readonly #server: Upstream
  readonly #context: RelayContext
  /** Requests of the client's, and requests of the server's. */
  readonly #down: PendingRequests
  readonly #up: PendingRequests
  readonly #own: UpstreamQueries
  readonly #lists: VisibleLists
  readonly #names: KnownNames
  readonly #tasks = new SessionTasks()
  readonly #judge: RequestHandler
  readonly #deliveries: Deliveries
  readonly #questions: ClientElicitations
  readonly #roots: ClientRoots
  readonly #teller: AnswerTeller
  readonly #notifications: ServerNotifications
  #lastId = 0
  #closed = false

  constructor(client: ClientTransport, server: Upstream, context: RelayContext) {
    this.#client = client
    this.#deliveries = new Deliveries(client, context.onDelivery, () => this.#down.open)
    this.#server = server
    this.#context = context
    // A session that goes on after a restart: its server may still know the low ones.
    if (client.revision !== '') this.#lastId = Date.now()
    const newId = (): number => ++this.#lastId
    const { record } = context
    const { era } = client
    this.#down = new PendingRequests({
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
    this.#up = new PendingRequests({
      from: server,
      to: client,
      newId: newName,
      renamesTokens: false,
      record,
      onCancel() {},
    })
    this.#own = new UpstreamQueries(server, era, newId)
    const ask: UpstreamQueries['ask'] = async (method, params) => {
      const frozen = context.frozen()
      if (frozen !== undefined) throw new Error(frozenReason(frozen))
      return this.#own.ask(method, params)
    }
    this.#lists = context.lists(ask)
    const { facts, spine } = context
    const policy = () => spine.policy().policy
    this.#names = new KnownNames({ server: context.server, policy, facts, now: spine.now, ask })
    this.#questions = new ClientElicitations(client, declaredBefore(context.handle))
    this.#roots = new ClientRoots(context.nameRoots)
    this.#judge = new RequestHandler({
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
    server.onSuspended = (request) => {
      const pending = this.#down.find(request)
      if (pending !== undefined) client.suspend?.(pending.id)
    }
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
  interrupt(frozen: Freeze): number {
    const why = frozenReason(frozen)
    const answer = (id: RequestId, isSent: boolean) => buildFrozenReply(id, frozen, isSent).text
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
  get frozen(): Freeze | undefined {
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

  /** What cannot be handled: a notification is dropped, a request refused, the rest ends the session. */
  #guard(
    step: () => void | Promise<void>,
    message?: JsonRpcMessage,
    crossing?: PendingRequests,
  ): void {
    const trip = (error: Error): void => {
      const why = `the gate could not handle a message: ${error.message}`
      if (message === undefined || message.kind === 'answer') return this.close(why)
      this.#context.log(`${why}, ${message.kind} \`${message.method}\``)
      if (message.kind === 'notification') return
      crossing?.fail(message.id, buildErrorReply(message.id, RPC.internal, why))
    }
    try {
      step()?.catch(trip)
    } catch (error) {
      trip(error as Error)
    }
  }

  #fromClient(message: JsonRpcMessage, related: MessageContext | undefined): void | Promise<void> {
    if (message.kind === 'request') {
      this.#own.askFor(message.params)
      if (message.method === 'initialize') this.#questions.learn(message.params)
      const wrong = this.#roots.requested(message)
      if (wrong !== undefined) {
        this.#down.begin(message.id)
        return this.#down.refuse(message.id, buildErrorReply(message.id, RPC.invalidParams, wrong))
      }
      return this.#judge.fromClient(message, this.#down, related)
    }
    if (message.kind === 'notification') return this.#clientNotification(message)
    this.#clientAnswer(message)
  }

  #fromServer(message: JsonRpcMessage, related: MessageContext | undefined): void | Promise<void> {
    if (message.kind === 'request' && this.#client.era === 'stateless')
      return this.#context.log(`a server may not ask by itself in this era: ${message.method}`)
    if (message.kind === 'request')
      return this.#judge.fromServer(message, this.#up, this.#notifications.relatedTo(related))
    if (message.kind === 'notification') return this.#notifications.fromServer(message, related)
    if (!this.#own.answered(message)) return this.#serverAnswer(message)
  }

  #clientNotification(notification: JsonRpcNotification): void {
    const { method, params } = notification
    if (method === 'notifications/cancelled') return this.#down.cancel(notification)
    if (this.#context.frozen() !== undefined) return
    const isStray = method === 'notifications/progress' && !this.#up.hasToken(params)
    if (isStray) return this.#context.log('progress of a client for a token that no server gave')
    if (notificationPassage(method) === 'plumbing')
      this.#server.send(oneLine(writeNotification(method, params?.text)))
    else this.#context.log(`a notification that does not pass: ${method}`)
  }

  #clientAnswer(answer: JsonRpcResponse): void {
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
    this.#up.settleAnswer(crossed, answer, text)
  }

  #serverAnswer(answer: JsonRpcResponse): void | Promise<void> {
    const crossed = this.#down.take(answer.id)
    if (crossed === undefined) return this.#unasked(answer)
    const { id } = crossed
    const trip = (error: Error): void => {
      // It is the fault of one answer, and of nobody else who uses the server.
      const text = `the server's answer cannot be passed on: ${error.message}`
      this.#down.reply(id, writeError(id, RPC.internal, text), { from: crossed })
      this.#down.settle(crossed, { status: 'error' })
    }
    try {
      const passed =
        (answer.result?.length ?? 0) > ANSWER_AT_ONCE_LENGTH_MAX
          ? takeTurn().then(() => this.#passAnswer(crossed, answer))
          : this.#passAnswer(crossed, answer)
      return passed?.catch(trip)
    } catch (error) {
      trip(error as Error)
    }
  }

  #passAnswer(crossed: PendingRequest, answer: JsonRpcResponse): void | Promise<void> {
    enterStep('answer')
    const asking = findInputRequests(this.#client.era, crossed.method, answer)
    if (asking !== undefined) return this.#serverAsks(crossed, answer, asking)
    return this.#deliver(crossed, answer)
  }

  #deliver(crossed: PendingRequest, answer: JsonRpcResponse): void | Promise<void> {
    const told = this.#teller.tell(crossed, answer)
    if (!(told instanceof Promise)) return this.#tellAnswer(crossed, answer, told)
    return told.then(async (list) => {
      await takeTurn()
      const frozen = this.#context.frozen()
      if (frozen === undefined) return this.#tellAnswer(crossed, answer, list)
      this.#deliveries.abandon(crossed)
      this.#down.reply(crossed.id, buildFrozenReply(crossed.id, frozen, true).text, {
        from: 'gate',
      })
    })
  }

  #tellAnswer(crossed: PendingRequest, answer: JsonRpcResponse, told: JsonRpcResponse): void {
    const { id, method } = crossed
    const text = writeAnswer(id, told)
    if (crossed.admission) this.#names.hear(answer.result)
    if (method === 'initialize' && answer.result !== undefined) this.#begun()
    this.#down.reply(id, text, {
      errorCode: told.error?.code,
      isDefinition: isDefinition(method, told.error !== undefined),
      from: crossed,
    })
    this.#down.settleAnswer(crossed, answer, text)
    // What could not begin is over.
    if (method === 'initialize' && answer.error !== undefined) this.close('it did not begin')
  }

  #begun(): void {
    const { handle } = this.#server
    const { declared } = this.#questions
    this.#client.begun?.(handle === undefined ? undefined : writeSessionHandle(handle, declared))
  }

  /** The answer asks something of the client: that is judged first. */
  async #serverAsks(
    crossed: PendingRequest,
    answer: JsonRpcResponse,
    asking: InputRequests,
  ): Promise<void> {
    const declared =
      this.#client.era === 'session'
        ? this.#questions.declared
        : declaredIn(metaOf(crossed.params)[META.capabilities])
    const refused = await findRefusedInput(asking, this.#context, declared)
    if (refused !== undefined) return this.#refuseAnswer(crossed, answer, refused)
    if (asking.wanted === undefined) return this.#deliver(crossed, answer)
    const result = this.#context.handles.sealRound(asking.wanted, crossed)
    if (result === undefined) {
      const fault = `the server wanted input more than ${INPUT_ROUNDS_MAX} times for one call`
      return this.#refuseAnswer(crossed, answer, { fault })
    }
    const { id } = crossed
    const text = writeAnswer(id, stripGateMeta({ ...answer, result }))
    // Whoever went away in the meantime will not come back with answers.
    if (!this.#down.reply(id, text, { from: crossed })) this.#server.abort(answer.id as RequestId)
    this.#down.settleAnswer(crossed, answer, text)
  }

  /** In place of an answer that may not be told; the server need not wait for what it asked. */
  #refuseAnswer(crossed: PendingRequest, answer: JsonRpcResponse, refused: RefusedInput): void {
    const { id, name } = crossed
    const { era } = this.#client
    const told =
      'fault' in refused
        ? buildErrorReply(id, RPC.internal, refused.fault)
        : buildRefusalReply(crossed, name, { ...refused, explain: false }, undefined, era)
    this.#server.abort(answer.id as RequestId)
    this.#down.reply(id, told.text, { errorCode: told.errorCode, from: crossed })
    this.#down.settleAnswer(crossed, answer, told.text)
  }

  /** The server was not reached, or did not answer as a peer may. */
  #serverFailed(failure: UpstreamFailure): void {
    if (this.#own.failed(failure.request, failure.message)) return
    const crossed = this.#down.take(failure.request)
    const answer = toFailureResponse(failure)
    if (crossed === undefined || answer === undefined) return this.#context.log(failure.message)
    this.#down.reply(crossed.id, writeAnswer(crossed.id, answer), { from: crossed })
    const status = UNKNOWN_ENDS.has(failure.code) ? 'unknown' : 'error'
    if (failure.repeatable) this.#down.giveBack(crossed, 'error')
    else this.#down.settle(crossed, { status })
    if (crossed.method === 'initialize') this.close(failure.message)
  }

  #unasked({ id }: JsonRpcResponse): void {
    this.#context.log(`a response to no open request: id ${id as RequestId}`)
  }
}
