// One client session and one server, with the gate between them. Requests of either side take the path
// of a call (call/handle-call.ts); the relay routes everything else: answers, notifications, time limits
// and the end. A fault in here ends with an answer to the open requests, never with the gate.

import type { Caller } from '@sluice/access/identity/callers/caller'
import { describeToCaller } from '@sluice/ledger/store/outage'
import { cutClientExtensions, type PassesExtension } from '@sluice/protocol/extensions'
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcResponse,
  RequestId,
} from '@sluice/protocol/message'
import { LIST_CHANGES } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import { oneLine, writeNotification } from '@sluice/protocol/write-message'
import type { CallContext, CallSession, IncomingRequest } from '../call/call-session.ts'
import { ClientApprovalPrompts } from '../call/client-prompts.ts'
import { Deliveries, type InspectDelivery } from '../call/deliveries.ts'
import { expireQuestions } from '../call/expire-questions.ts'
import { handleCall } from '../call/handle-call.ts'
import { PendingRequests, type SentRequest } from '../call/pending-requests.ts'
import { buildFrozenReply } from '../call/replies.ts'
import { BackPressure } from '../session/back-pressure.ts'
import { ClientElicitations } from '../session/client-elicitations.ts'
import { ClientRoots, type NameRoots } from '../session/client-roots.ts'
import { KnownNames } from '../session/known-names.ts'
import { SessionTasks } from '../session/session-tasks.ts'
import { UpstreamQueries } from '../session/upstream-queries.ts'
import type { VisibleLists } from '../session/visible-lists.ts'
import { CALL_MS_MAX } from '../shared/limits.ts'
import { notificationPassage } from '../shared/parse-call.ts'
import { readDeclaredCapabilities } from '../shared/session-handle.ts'
import type { ClientEnd, ClientEvents, ClientSend, MessageContext } from '../shared/transport.ts'
import { type Freeze, frozenReason } from '../state/freezes.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure } from '../upstream/upstream.ts'
import { noticesOfChange } from './route-notifications.ts'
import { ServerNotifications } from './server-notifications.ts'

export class Relay {
  /** What the client's transport reports. */
  readonly events: ClientEvents
  readonly #client: ClientEnd
  readonly #server: Upstream
  readonly #context: RelayContext
  readonly #session: CallSession
  /** Requests of the client's, and requests of the server's. */
  readonly #down: PendingRequests
  readonly #up: PendingRequests
  readonly #own: UpstreamQueries
  readonly #notifications: ServerNotifications
  #lastId = 0
  /** Messages of the server's that wait for their turn. */
  #deferred = 0
  #closed = false

  constructor(
    client: ClientEnd,
    connect: (events: UpstreamEvents) => Upstream,
    context: RelayContext,
  ) {
    this.#client = client
    this.#context = context
    const server = connect({
      onMessage: (message, related) =>
        this.#inOrder(message.kind, () =>
          this.#guard(() => this.#fromServer(message, related), message),
        ),
      onFailure: (failure) => this.#inOrder('answer', () => this.#serverFailed(failure)),
      onSuspended: (request) => {
        const sent = this.#down.find(request)
        if (sent !== undefined) client.suspend?.(sent.id)
      },
      onClose: (why) => this.close(`the server ended the connection: ${why}`),
    })
    this.#server = server
    // A session that goes on after a restart: its server may still know the low ones.
    if (client.revision !== '') this.#lastId = Date.now()
    const newId = (): number => ++this.#lastId
    const { generation } = client
    const deliveries = new Deliveries({
      send: context.send,
      inspect: context.onDelivery,
      answers: context.answers,
      open: () => this.#down.open,
      whenStored: context.whenStored,
    })
    const { send } = deliveries
    const abandon = (sent: SentRequest): void => deliveries.abandon(sent)
    this.#down = new PendingRequests({
      from: { send },
      to: server,
      newId,
      who: context.who,
      renamesTokens: generation === 'stateless',
      onCancel: (theirs, sent) => this.#cancelled(theirs, sent),
    })
    this.#up = new PendingRequests({
      from: server,
      to: { send },
      newId: () => `sluice-${newId()}`,
      renamesTokens: false,
      onCancel() {},
    })
    this.#own = new UpstreamQueries(server, generation, newId)
    const ask = this.#ask
    const { handles, pipeline } = context
    const policy = () => pipeline.policy().policy
    const questions = new ClientElicitations(client, send, readDeclaredCapabilities(context.handle))
    const lists = context.lists(ask, () => questions.declared.includes('apps'))
    this.#session = {
      ...context,
      explain: () => context.who().explain,
      generation,
      client,
      send,
      upstream: server,
      down: this.#down,
      up: this.#up,
      questions,
      prompts: new ClientApprovalPrompts({ generation, pipeline, handles, questions }),
      lists,
      names: new KnownNames({ ...context, policy, now: pipeline.now, ask, skills: lists.skills }),
      tasks: new SessionTasks(),
      roots: new ClientRoots(context.nameRoots),
      abandon,
      close: (why) => this.close(why),
    }
    this.#notifications = new ServerNotifications(this.#session)
    this.events = {
      onMessage: (message, related) =>
        this.#guard(() => this.#fromClient(message, related), message),
      onClose: (why) => this.close(why),
      onPressure: new BackPressure(server, generation, (request) => this.#down.oursOf(request))
        .onPressure,
    }
  }

  /** The client no longer waits. */
  #cancelled(theirs: RequestId, sent: SentRequest | undefined): void {
    this.#client.drop(theirs)
    if (sent === undefined) return
    this.#session.abandon(sent)
    this.#server.abort(sent.ours)
  }

  /** Of the gate's own accord; nothing is asked for a session that is frozen. */
  readonly #ask: UpstreamQueries['ask'] = async (method, params) => {
    const { frozen } = this
    if (frozen !== undefined) throw new Error(frozenReason(frozen))
    return this.#own.ask(method, params)
  }

  get upstream(): Upstream {
    return this.#server
  }

  get server(): string {
    return this.#context.server
  }

  /** Requests of the client's that somebody waits for. */
  get openRequests(): number {
    return this.#down.waiting
  }

  /** A call of the client's whose outcome will be recorded. */
  get hasOpenCalls(): boolean {
    return this.#down.open.some(({ admission }) => admission !== undefined)
  }

  /** Ends what is open; says how many calls that were. */
  interrupt(frozen: Freeze): number {
    this.#client.listsChanged?.()
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
    // The server waits for the client or its user; the client does not wait for the server. A server
    // that asks without end still has no more than the whole time.
    const silentMs = this.#up.size > 0 ? CALL_MS_MAX : idleMs
    for (const sent of this.#down.overdue(nowMs, silentMs, CALL_MS_MAX)) {
      const { method, name, ours } = sent
      const what = method === 'tools/call' ? `${method} \`${name}\`` : method
      const message = `the server \`${this.server}\` did not answer ${what} in time`
      const help = 'whether it was carried out is unknown; `timeout` of the server sets the time'
      const code = 'UPSTREAM_TIMEOUT'
      this.#down.tellCancelled(sent, message)
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
    this.#client.listsChanged?.()
    // Before that nothing may be sent to the client.
    if (this.#closed || this.#client.revision === '') return
    for (const method of LIST_CHANGES.keys()) {
      if (this.#client.generation === 'session')
        this.#session.send(writeNotification(method, undefined), { from: 'gate' })
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

  /** What a server says after an answer may depend on it, as the news of a task that the answer made: it
   * waits for a turn of the event loop while an answer is inspected. Nothing overtakes what waits. */
  #inOrder(kind: JsonRpcMessage['kind'], handle: () => void): void {
    const isFree = kind === 'answer' || !this.#down.isAnswering
    if (this.#deferred === 0 && isFree) return handle()
    this.#deferred++
    setImmediate(() => {
      this.#deferred--
      if (!this.#closed) handle()
    })
  }

  /** A notification that cannot be handled is dropped; anything else ends the session. */
  #guard(step: () => void, message: JsonRpcMessage): void {
    try {
      step()
    } catch (error) {
      const why = `the gate could not handle a message: ${describeToCaller(error)}`
      if (message.kind !== 'notification') return this.close(why)
      this.#context.log(`${why}, \`${message.method}\``)
    }
  }

  #fromClient(sent: JsonRpcMessage, related: MessageContext = {}): void {
    const { passesExtension } = this.#context
    const message = sent.kind === 'request' ? cutClientExtensions(sent, passesExtension) : sent
    if (message.kind === 'request') {
      this.#own.askFor(message.params)
      const isHello = message.method === 'initialize' || this.#client.generation === 'stateless'
      if (isHello) this.#session.questions.learn(message.params)
      this.#handle({ sender: 'client', message, related, session: this.#session })
    } else if (message.kind === 'notification') this.#clientNotification(message)
    else this.#clientAnswer(message)
  }

  #clientAnswer(answer: JsonRpcResponse): void {
    const { log, questions, roots } = this.#session
    const sent = this.#up.find(answer.id)
    const isOfRoots = sent?.method === 'roots/list' && !sent.isAnswered
    // At once: the next message may be a call that its server relates to these roots.
    const wrong = isOfRoots ? roots.answered(answer) : undefined
    if (wrong !== undefined) {
      log(wrong)
      const error = { code: RPC.internal, message: wrong }
      this.#up.answer({ ...answer, result: undefined, error })
    } else if (!this.#up.answer(answer) && !questions.answered(answer)) this.#unasked(answer.id)
  }

  #fromServer(message: JsonRpcMessage, related: MessageContext | undefined): void {
    if (message.kind === 'notification') return this.#notifications.fromServer(message, related)
    if (message.kind === 'answer') {
      if (!this.#own.answered(message) && !this.#down.answer(message)) this.#unasked(message.id)
      return
    }
    if (this.#client.generation === 'stateless')
      return this.#context.log(
        `a server may not ask by itself in this generation: ${message.method}`,
      )
    const of = this.#notifications.relatedTo(related)
    this.#handle({ sender: 'server', message, related: of, session: this.#session })
  }

  /** It answers its own faults. */
  #handle(incoming: IncomingRequest): void {
    handleCall(incoming).catch(this.#endByFault)
  }

  readonly #endByFault = (error: Error): void =>
    this.close(`the gate could not handle a message: ${describeToCaller(error)}`)

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

  /** The server was not reached, or did not answer as a peer may. */
  #serverFailed(failure: UpstreamFailure): void {
    if (this.#own.failed(failure.request, failure.message)) return
    if (!this.#down.fail(failure)) this.#context.log(failure.message)
  }

  #unasked(id: RequestId | null): void {
    this.#context.log(`a response to no open request: id ${id as RequestId}`)
  }
}

export interface RelayContext extends Omit<CallContext, 'explain'> {
  /** Sends to the client; nothing else of the relay does. */
  readonly send: ClientSend
  /** `hasApps`: whether the client shows pages of apps. */
  readonly lists: (ask: UpstreamQueries['ask'], hasApps: () => boolean) => VisibleLists
  /** Every message towards the client, before it is sent: adds the labels that it brings. */
  readonly onDelivery: InspectDelivery
  /** Undefined if every gate knows the labels that the session has. */
  readonly whenStored?: () => Promise<void> | undefined
  readonly nameRoots: NameRoots
  /** Whether an extension may be declared, to the client and to the server. */
  readonly passesExtension: PassesExtension
  readonly onEnd: (why: string) => void
  readonly who: () => Caller
  /** Of a session from before the gate was started again. */
  readonly handle?: string | undefined
}
