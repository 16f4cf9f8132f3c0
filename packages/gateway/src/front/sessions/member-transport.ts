// A client of all servers as one of them sees it: the client's side of a relay, and the questions
// that the gate asks that server through it. What the relay lets through comes out here.

import { randomUUID } from 'node:crypto'
import type {
  JsonRpcMessage,
  JsonRpcResponse,
  ParsedMembers,
  RequestId,
} from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { readMessages } from '@sluice/protocol/read-message'
import type { PendingQuery } from '../../session/upstream-queries.ts'
import type { RpcReply } from '../../shared/error-reply.ts'
import { OWN_QUESTION_MS_MAX } from '../../shared/limits.ts'
import {
  type ClientEvents,
  type ClientTransport,
  type MessageContext,
  NO_CLIENT_EVENTS,
} from '../../shared/transport.ts'

export interface MemberLinkContext {
  readonly generation: ProtocolGeneration
  /** The answer to a request of the client's, under the client's id. */
  readonly onAnswer: (request: RequestId, reply: RpcReply) => void
  /** A request or notification of the server's. */
  readonly onNotification: (text: string, related: MessageContext) => void
  readonly onDrop: (request: RequestId) => void
  readonly onSuspend?: (request: RequestId) => void
  /** What the server lists for this caller may be another now. */
  readonly onListsChanged?: () => void
  /** A request of the client's waits for a person. */
  readonly onHeld?: (request: RequestId) => void
  readonly onEnd: (why: string) => void
}

/** What comes on a subscription; undefined when it has ended. */
export type SubscriptionListener = (text: string | undefined) => void

export class MemberTransport implements ClientTransport {
  readonly generation: ProtocolGeneration
  revision = ''
  /** The session makes room as a whole. */
  readonly spare = undefined
  #events: ClientEvents = NO_CLIENT_EVENTS
  readonly #context: MemberLinkContext
  /** Nobody can guess it, so no id of the client's is one of ours. */
  readonly #mark = randomUUID()
  readonly #questions = new Map<RequestId, PendingQuery>()
  readonly #listens = new Map<RequestId, SubscriptionListener>()
  #lastId = 0
  #closed = false

  /** `connect` puts the gate between this and the server. */
  constructor(context: MemberLinkContext, connect: (link: MemberTransport) => ClientEvents) {
    this.#context = context
    this.generation = context.generation
    this.#events = connect(this)
  }

  get isIdle(): boolean {
    return this.#questions.size === 0 && this.#listens.size === 0
  }

  send(text: string, related: MessageContext = {}): boolean {
    if (this.#closed) return false
    const { request, answers } = related
    const listen = this.#listens.get(request as RequestId)
    if (listen !== undefined) {
      if (answers) this.#listens.delete(request as RequestId)
      listen(answers ? undefined : text)
      return true
    }
    const question = this.#questions.get(request as RequestId)
    if (question !== undefined && answers) question.answered(readAnswer(text))
    else if (answers) this.#context.onAnswer(request as RequestId, toReply(text, related))
    // What belongs to a question of ours belongs to no request that the client knows.
    else
      this.#context.onNotification(
        text,
        question === undefined && request !== undefined ? { request } : {},
      )
    return true
  }

  drop(request: RequestId): void {
    const isOurs = this.#listens.delete(request) || this.#questions.has(request)
    if (!isOurs) this.#context.onDrop(request)
  }

  noteHeld(request: RequestId): void {
    if (!this.#questions.has(request)) this.#context.onHeld?.(request)
  }

  listsChanged(): void {
    this.#context.onListsChanged?.()
  }

  /** Suspends a question of the gate's own, of which nobody else need know. */
  suspend(request: RequestId): void {
    if (!this.#listens.has(request) && !this.#questions.has(request))
      this.#context.onSuspend?.(request)
  }

  close(why: string): void {
    if (this.#closed) return
    // The relay may still answer what is open.
    this.#events.onClose(why)
    this.#closed = true
    for (const { failed } of this.#questions.values()) failed(why)
    for (const listener of this.#listens.values()) listener(undefined)
    this.#context.onEnd(why)
  }

  /** Rejects if no answer comes in time, or the asker gives it up: then the server is told. */
  async ask(
    method: string,
    params: ParsedMembers,
    patienceMs = OWN_QUESTION_MS_MAX,
    { signal, ...related }: MessageContext & { readonly signal?: AbortSignal } = {},
  ): Promise<JsonRpcResponse> {
    signal?.throwIfAborted()
    const id = this.#newId()
    let timer: NodeJS.Timeout | undefined
    let abort = (): void => {}
    try {
      return await new Promise((answered, reject) => {
        const failed = (why: string) => reject(new Error(why))
        const giveUp = (why: string) => {
          failed(why)
          this.tell('notifications/cancelled', { requestId: id })
        }
        abort = () => giveUp('the call was given up')
        signal?.addEventListener('abort', abort, { once: true })
        const late = `no answer to \`${method}\` within ${patienceMs} ms`
        timer = setTimeout(() => giveUp(late), patienceMs)
        this.#questions.set(id, { answered, failed })
        if (this.#closed) failed('the connection is closed')
        else this.#events.onMessage({ kind: 'request', id, method, params, source: '' }, related)
      })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      this.#questions.delete(id)
    }
  }

  /** A subscription, until it is given up or the link ends. */
  listen(params: ParsedMembers, listener: SubscriptionListener): RequestId {
    const id = this.#newId()
    this.#listens.set(id, listener)
    this.pass({ kind: 'request', id, method: 'subscriptions/listen', params, source: '' })
    return id
  }

  giveUp(listen: RequestId): void {
    if (this.#listens.has(listen)) this.tell('notifications/cancelled', { requestId: `${listen}` })
  }

  tell(method: string, value: Readonly<Record<string, string>>): void {
    this.pass({ kind: 'notification', method, params: membersFrom(value), source: '' })
  }

  /** The client does not read what this server says, or does again. */
  pressed(isFull: boolean, request: RequestId | undefined): void {
    this.#events.onPressure(isFull, request)
  }

  /** A message of the client's; false if nobody takes it any more. */
  pass(message: JsonRpcMessage, related?: MessageContext): boolean {
    if (!this.#closed) this.#events.onMessage(message, related)
    return !this.#closed
  }

  #newId(): string {
    return `${this.#mark}-${++this.#lastId}`
  }
}

function toReply(text: string, { errorCode, notFound }: MessageContext): RpcReply {
  return {
    text,
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(notFound === undefined ? {} : { notFound }),
  }
}

export function membersFrom(value: Readonly<Record<string, string>>): ParsedMembers {
  const texts = Object.entries(value).map(([key, part]) => [key, JSON.stringify(part)] as const)
  return { value, text: new Map(texts) }
}

function readAnswer(text: string): JsonRpcResponse {
  const read = readMessages(text, { batches: false })
  const [message] = read.ok ? read.messages : []
  if (message?.kind === 'answer') return message
  throw new Error('an answer of the gate is none')
}
