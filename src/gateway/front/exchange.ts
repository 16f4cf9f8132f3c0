// One POST of a client and its answer. Where the answer comes first it is plain JSON; where the
// server has something to say on the way (progress, a question), or takes its time, it becomes an
// event stream that ends with the answer.

import type { Id } from '../../wire/message.ts'
import { EventStream } from './event-stream.ts'
import { JSON_TYPE, type Reply, type ReplyHeaders } from './reply.ts'

/** What every answer of a session says in its head. */
export interface Answering {
  /** Of an answer in JSON, and of a stream. */
  readonly answerHeaders: ReplyHeaders
  readonly streamHeaders: ReplyHeaders
}

export const NO_SESSION: Answering = { answerHeaders: JSON_TYPE, streamHeaders: {} }

export interface ExchangeEvents {
  /** The requests still open when the client goes away. */
  onGone(open: readonly Id[]): void
  /** The client does not read what these have to say on the way; or has. */
  onFull(isFull: boolean, of: readonly Id[]): void
}

export class Exchange {
  readonly #reply: Reply
  readonly #of: Answering
  /** The one request of most POSTs, until it is answered; those of a batch. */
  #only: Id | undefined
  readonly #open: Set<Id> | undefined
  /** Of a batch, as long as there is no stream. */
  #answers: string[] | undefined
  #status = 200
  readonly #events: ExchangeEvents
  #stream: EventStream | undefined

  constructor(
    reply: Reply,
    of: Answering,
    ids: readonly Id[],
    batch: boolean,
    events: ExchangeEvents,
  ) {
    this.#reply = reply
    this.#of = of
    if (batch) {
      this.#open = new Set(ids)
      this.#answers = []
    } else this.#only = ids[0]
    this.#events = events
    reply.onGone = () => this.#gone()
  }

  /** The status holds where the answer is all there is to say. */
  answer(id: Id, text: string, status = 200): void {
    if (!this.#take(id)) return
    this.#status = status
    if (this.#reply.readsOnlyEvents && status === 200) this.#streaming()
    if (this.#stream !== undefined) this.#stream.write(text)
    else if (this.#answers === undefined) return this.#send(text)
    else this.#answers.push(text)
    if (this.#isDone) this.#end()
  }

  /** This request will get no answer. */
  drop(id: Id): void {
    if (this.#take(id) && this.#isDone) this.#end()
  }

  /** Something on the way to the answer. */
  tell(text: string): boolean {
    return this.#streaming().write(text)
  }

  pulse(): void {
    this.#streaming().pulse()
  }

  /** Whether it was open. */
  #take(id: Id): boolean {
    if (this.#open !== undefined) return this.#open.delete(id)
    if (this.#only !== id) return false
    this.#only = undefined
    return true
  }

  get #isDone(): boolean {
    return this.#only === undefined && (this.#open?.size ?? 0) === 0
  }

  #streaming(): EventStream {
    if (this.#stream !== undefined) return this.#stream
    const ids = this.#ids
    this.#stream = new EventStream(this.#reply, this.#of.streamHeaders, {
      onEnd: () => this.#gone(),
      onFull: (isFull) => this.#events.onFull(isFull, ids),
    })
    for (const text of this.#answers ?? []) this.#stream.write(text)
    return this.#stream
  }

  #end(): void {
    const answers = this.#answers ?? []
    // Nothing to say is an empty stream: JSON has no word for no answer.
    if (this.#stream !== undefined || answers.length === 0) return this.#streaming().end()
    this.#send(`[${answers.join(',')}]`)
  }

  #send(body: string): void {
    if (!this.#reply.isOver) this.#reply.send(this.#status, this.#of.answerHeaders, body)
  }

  /** Those still open. */
  get #ids(): readonly Id[] {
    return this.#only === undefined ? [...(this.#open ?? [])] : [this.#only]
  }

  #gone(): void {
    const open = this.#ids
    this.#only = undefined
    this.#open?.clear()
    if (open.length > 0) this.#events.onGone(open)
  }
}
