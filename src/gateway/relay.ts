// One client session and one server, with the gate between them: every message is judged, renamed
// and carried over. What goes wrong in here ends with an answer to whoever waits, never with the
// gate.

import type { Facts } from '../core/call.ts'
import { PLUMBING, TOOL_CALL } from '../policy/methods.ts'
import type { Answer, Id, Message, Notification, Request } from '../wire/message.ts'
import { type LocalCode, RPC, rpcCodeOf } from '../wire/rpc-codes.ts'
import { oneLine, writeError, writeNotification } from '../wire/write-message.ts'
import { type Admission, admit, type Spine } from './admit.ts'
import { refusalAnswer, withoutOurNames } from './answers.ts'
import { callOf, objectionTo, passageFromClient, passageFromServer } from './call-of.ts'
import { type Crossed, Crossing, type Outcome, writeAnswer } from './crossing.ts'
import { SERVER_REQUESTS_MAX } from './limits.ts'
import type { ClientLink, Related } from './link.ts'
import { OwnQuestions } from './own-questions.ts'
import type { SeenLists } from './seen-lists.ts'
import { failureAnswer } from './upstream/failure-answer.ts'
import type { UpstreamFailure, UpstreamLink } from './upstream/upstream.ts'

export interface RelayContext {
  readonly spine: Spine
  readonly server: string
  /** Who calls, and in which session; asked anew for every call. */
  readonly facts: () => Omit<Facts, 'tool'>
  readonly lists: (ask: OwnQuestions['ask']) => SeenLists
  readonly onCall: () => void
  /** The labels that an answer brings into the session and that were not there yet. */
  readonly onAnswer: (method: string, name: string) => readonly string[]
  readonly record: (admission: Admission, startedMs: number, outcome: Outcome) => void
  readonly onEnd: () => void
  readonly log: (text: string) => void
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
  #lastId = 0
  #closed = false

  constructor(client: ClientLink, server: UpstreamLink, context: RelayContext) {
    this.#client = client
    this.#server = server
    this.#context = context
    const newId = (): number => ++this.#lastId
    const { record } = context
    this.#down = new Crossing({
      from: client,
      to: server,
      newId,
      record,
      onCancel: (theirs, ours) => {
        client.drop(theirs)
        if (ours !== undefined) server.abort(ours)
      },
    })
    const newName = (): string => `sluice-${newId()}`
    this.#up = new Crossing({ from: server, to: client, newId: newName, record, onCancel() {} })
    this.#own = new OwnQuestions(server, newId)
    this.#lists = context.lists((method, params) => this.#own.ask(method, params))
    client.onMessage = (message) => void this.#guard(() => this.#fromClient(message))
    client.onClose = (why) => this.close(why)
    server.onMessage = (message, related) =>
      void this.#guard(() => this.#fromServer(message, related))
    server.onFailure = (failure) => void this.#guard(() => this.#serverFailed(failure))
    server.onClose = (why) => this.close(`the server ended the connection: ${why}`)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#down.end(why)
    this.#up.end(why)
    this.#own.end(why)
    this.#client.close(why)
    this.#server.close(why)
    this.#context.onEnd()
  }

  /** Closes, and waits until nothing of the server is left. */
  end(why: string): Promise<void> {
    this.close(why)
    return this.#server.ended
  }

  /** A message that the gate trips over ends its session, and no other. */
  async #guard(step: () => void | Promise<void>): Promise<void> {
    try {
      await step()
    } catch (error) {
      this.close(`the gate could not handle a message: ${(error as Error).message}`)
    }
  }

  #fromClient(message: Message): void | Promise<void> {
    if (message.kind === 'request') return this.#clientRequest(message)
    if (message.kind === 'notification') return this.#clientNotification(message)
    this.#clientAnswer(message)
  }

  #fromServer(message: Message, related: Related | undefined): void | Promise<void> {
    if (message.kind === 'request') return this.#serverRequest(message, related)
    if (message.kind === 'notification') return this.#serverNotification(message, related)
    if (!this.#own.answered(message)) this.#serverAnswer(message)
  }

  async #clientRequest(request: Request): Promise<void> {
    const { id, method, params } = request
    this.#down.begin(id)
    const passage = passageFromClient(method)
    if (passage === 'plumbing') return this.#down.carry(request, '')
    if (passage === 'unknown') {
      const text = `\`${method}\` is not a method the gate knows`
      return this.#down.refuse(id, writeError(id, RPC.methodNotFound, text))
    }
    try {
      const call = callOf(this.#context.server, request)
      const tool = method === TOOL_CALL ? await this.#lists.find(call.name) : undefined
      const facts: Facts = { ...this.#context.facts(), ...(tool === undefined ? {} : { tool }) }
      const objection = objectionTo(call.args, tool)
      const argsText = params?.text.get('arguments')
      const verdict = await admit(this.#context.spine, { call, facts, argsText, objection })
      if (verdict.admission === undefined)
        return this.#down.refuse(id, refusalAnswer(id, call, verdict, tool))
      this.#context.onCall()
      this.#down.carry(request, call.name, verdict.admission)
    } catch (error) {
      const text = `the call was not made: ${(error as Error).message}`
      this.#down.refuse(id, writeError(id, RPC.internal, text))
    }
  }

  #clientNotification(notification: Notification): void {
    const { method, params } = notification
    if (method === 'notifications/cancelled') return this.#down.cancel(notification)
    if (PLUMBING.has(method)) this.#server.send(oneLine(writeNotification(method, params?.text)))
    else this.#context.log(`a notification that does not pass: ${method}`)
  }

  #clientAnswer(answer: Answer): void {
    const crossed = this.#up.take(answer.id)
    if (crossed === undefined) return this.#unasked(answer)
    const text = writeAnswer(crossed.id, answer)
    this.#server.send(text)
    this.#settle(this.#up, crossed, answer, text)
  }

  #serverAnswer(answer: Answer): void {
    const crossed = this.#down.take(answer.id)
    if (crossed === undefined) return this.#unasked(answer)
    const { id, method, name } = crossed
    const labels = crossed.admission ? this.#context.onAnswer(method, name) : []
    const text = writeAnswer(id, this.#told(method, answer))
    this.#down.reply(id, text)
    this.#settle(this.#down, crossed, answer, text, labels)
    // What could not begin is over.
    if (method === 'initialize' && answer.error !== undefined) this.close('it did not begin')
  }

  /** A server's answer as this caller may see it. */
  #told(method: string, answer: Answer): Answer {
    const told = withoutOurNames(answer)
    if (told.result === undefined) return told
    if (method === 'initialize') this.#client.revision = revisionOf(told.result)
    return { ...told, result: this.#lists.filter(method, told.result, this.#context.facts()) }
  }

  #settle(
    crossing: Crossing,
    crossed: Crossed,
    { error }: Answer,
    text: string,
    labels: readonly string[] = [],
  ): void {
    const bytes = Buffer.byteLength(text)
    if (error === undefined) crossing.settle(crossed, { status: 'answered', bytes, labels })
    else crossing.settle(crossed, { status: 'error', bytes, labels, errorCode: error.code })
  }

  /** The server was not reached, or did not answer as a peer may. */
  #serverFailed(failure: UpstreamFailure): void {
    if (this.#own.failed(failure.request, failure.message)) return
    const crossed = this.#down.take(failure.request)
    const answer = failureAnswer(failure)
    if (crossed === undefined || answer === undefined) return this.#context.log(failure.message)
    this.#down.reply(crossed.id, writeAnswer(crossed.id, answer))
    const status = failure.code === 'UPSTREAM_OUTCOME_UNKNOWN' ? 'unknown' : 'error'
    if (failure.repeatable) this.#down.giveBack(crossed, 'error')
    else this.#down.settle(crossed, { status })
    if (crossed.method === 'initialize') this.close(failure.message)
  }

  async #serverRequest(request: Request, related: Related | undefined): Promise<void> {
    const { id, method } = request
    const refuse = (code: number, text: string) => this.#up.refuse(id, writeError(id, code, text))
    this.#up.begin(id)
    const passage = passageFromServer(method)
    if (passage === 'unknown')
      return refuse(RPC.methodNotFound, `\`${method}\` does not pass the gate`)
    if (this.#up.size > SERVER_REQUESTS_MAX)
      return refuse(RPC.internal, `more than ${SERVER_REQUESTS_MAX} requests are open`)
    const to = this.#relatedTo(related)
    if (passage === 'plumbing') return this.#up.carry(request, '', undefined, to)
    try {
      const call = callOf(this.#context.server, request)
      const facts = this.#context.facts()
      const verdict = await admit(this.#context.spine, { call, facts, argsText: undefined })
      if (verdict.admission !== undefined)
        return this.#up.carry(request, call.name, verdict.admission, to)
      const { code, reason } = verdict.decision
      refuse(rpcCodeOf(code as LocalCode), `denied by policy: ${reason}`)
    } catch (error) {
      refuse(RPC.internal, `the gate could not pass it on: ${(error as Error).message}`)
    }
  }

  #serverNotification(notification: Notification, related: Related | undefined): void {
    const { method, params } = notification
    if (method === 'notifications/cancelled') return this.#up.cancel(notification)
    if (!PLUMBING.has(method))
      return this.#context.log(`a notification that does not pass: ${method}`)
    if (method === 'notifications/tools/list_changed') this.#lists.forget()
    const of = this.#down.findByProgress(params?.value.progressToken)
    const to = of === undefined ? this.#relatedTo(related) : { request: of.id }
    this.#client.send(oneLine(writeNotification(method, params?.text)), to)
  }

  /** The client's request that a message of the server's belongs to. */
  #relatedTo(related: Related | undefined): Related {
    const crossed = this.#down.find(related?.request) ?? this.#down.findOnly()
    return crossed === undefined ? {} : { request: crossed.id }
  }

  #unasked({ id }: Answer): void {
    this.#context.log(`an answer nobody asked for, or nobody waits for: id ${id as Id}`)
  }
}

function revisionOf(result: string): string {
  const value = JSON.parse(result) as { protocolVersion?: unknown } | null
  const revision = value?.protocolVersion
  return typeof revision === 'string' ? revision : ''
}
