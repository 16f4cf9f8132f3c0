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

export class Exchange {
  readonly #reply: Reply
  readonly #of: Answering
  readonly #open: Set<Id>
  readonly #batch: boolean
  readonly #answers: string[] = []
  #status = 200
  readonly #onGone: (open: readonly Id[]) => void
  #stream: EventStream | undefined

  /** `onGone` is told the requests still open when the client goes away. */
  constructor(
    reply: Reply,
    of: Answering,
    ids: readonly Id[],
    batch: boolean,
    onGone: (open: readonly Id[]) => void,
  ) {
    this.#reply = reply
    this.#of = of
    this.#open = new Set(ids)
    this.#batch = batch
    this.#onGone = onGone
    reply.onGone = this.#gone
  }

  /** The status holds where the answer is all there is to say. */
  answer(id: Id, text: string, status = 200): void {
    if (!this.#open.delete(id)) return
    this.#status = status
    if (this.#stream !== undefined) this.#stream.write(text)
    else this.#answers.push(text)
    if (this.#open.size === 0) this.#end()
  }

  /** This request will get no answer. */
  drop(id: Id): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#end()
  }

  /** Something on the way to the answer. */
  tell(text: string): boolean {
    return this.#events().write(text)
  }

  pulse(): void {
    this.#events().pulse()
  }

  #events(): EventStream {
    if (this.#stream !== undefined) return this.#stream
    this.#stream = new EventStream(this.#reply, this.#of.streamHeaders, this.#gone)
    for (const text of this.#answers) this.#stream.write(text)
    return this.#stream
  }

  #end(): void {
    // Nothing to say is an empty stream: JSON has no word for no answer.
    if (this.#stream !== undefined || this.#answers.length === 0) return this.#events().end()
    const body = this.#batch ? `[${this.#answers.join(',')}]` : (this.#answers[0] as string)
    if (!this.#reply.isOver) this.#reply.send(this.#status, this.#of.answerHeaders, body)
  }

  #gone = (): void => {
    const open = [...this.#open]
    this.#open.clear()
    if (open.length > 0) this.#onGone(open)
  }
}
