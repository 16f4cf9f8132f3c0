// One POST of a client and its answer. Where the answer comes first it is plain JSON; where the
// server has something to say on the way (progress, a question), or takes its time, it becomes an
// event stream that ends with the answer. In a session its events have ids: where the stream breaks,
// the client comes back for the rest (history), and until then what is said is kept.

import type { RequestId } from '@sluice/protocol/message'
import { REPLAY_KEPT_MS, REPLAY_RETRY_MS, REPLAY_WAIT_MS } from '../../shared/limits.ts'
import { EventStream } from './event-stream.ts'
import type { ReplayBuffer } from './replay.ts'
import { JSON_TYPE, type OutgoingHeaders, type ResponseWriter } from './response-writer.ts'

/** What is kept of the stream of one exchange. */
export interface History {
  /** The name of the stream: with the number of an event behind it that is its id. */
  readonly name: string
  readonly buffer: ReplayBuffer
  /** The client knows events without data (2025-11-25): it can come back before anything is said. */
  readonly primes: boolean
  /** Nobody can come back any more. */
  readonly forget: () => void
}

/** What every answer of a session says in its head. */
export interface SessionHeaders {
  /** The headers of an answer in JSON, and of a stream. */
  readonly answerHeaders: OutgoingHeaders
  readonly streamHeaders: OutgoingHeaders
  /** Opens a history; undefined if its streams cannot be resumed. */
  readonly openHistory?: (exchange: ClientExchange) => History | undefined
}

export const NO_SESSION: SessionHeaders = { answerHeaders: JSON_TYPE, streamHeaders: {} }

export interface ExchangeEvents {
  /** The requests still open when the client goes away, and does not come back. */
  onGone(open: readonly RequestId[]): void
  /** The client does not read what these have to say on the way; or has. */
  onFull(isFull: boolean, of: readonly RequestId[]): void
}

interface ExchangeOptions {
  readonly ids: readonly RequestId[]
  readonly batch: boolean
  readonly events: ExchangeEvents
}

export class ClientExchange {
  readonly #reply: ResponseWriter
  readonly #of: SessionHeaders
  /** The one request of most POSTs, until it is answered; those of a batch. */
  #only: RequestId | undefined
  readonly #open: Set<RequestId> | undefined
  /** The answers of a batch, as long as there is no stream. */
  #answers: string[] | undefined
  #status = 200
  readonly #events: ExchangeEvents
  /** The stream; undefined before there is one, and while the client is away. */
  #stream: EventStream | undefined
  #history: History | undefined
  /** Until the client has to be back, or the history is forgotten. */
  #timer: NodeJS.Timeout | undefined
  #isAway = false

  constructor(reply: ResponseWriter, of: SessionHeaders, { ids, batch, events }: ExchangeOptions) {
    this.#reply = reply
    this.#of = of
    if (batch) {
      this.#open = new Set(ids)
      this.#answers = []
    } else this.#only = ids[0]
    this.#events = events
    reply.whenGone(() => this.#onGone())
  }

  /** Its client is there: what is said now reaches it at once. */
  get isAttached(): boolean {
    return !this.#isAway
  }

  /** The status holds where the answer is all there is to say. */
  answer(id: RequestId, text: string, status = 200): void {
    if (!this.#take(id)) return
    this.#status = status
    if (this.#reply.readsOnlyEvents && status === 200) this.#begin()
    if (this.#isStreamed) this.#write(text)
    else if (this.#answers === undefined) return this.#send(text)
    else this.#answers.push(text)
    if (this.#isDone) this.#end()
  }

  /** This request will get no answer. */
  drop(id: RequestId): void {
    if (this.#take(id) && this.#isDone) this.#end()
  }

  /** Something on the way to the answer. */
  tell(text: string): boolean {
    this.#begin()
    return this.#write(text)
  }

  pulse(): void {
    this.#begin()
    this.#stream?.pulse()
  }

  /** Ends the stream before the answer, as the server behind has: the client comes back for it. */
  suspend(): void {
    if (this.#isAway || this.#isDone) return
    this.#begin()
    if (this.#history?.primes !== true) return
    this.#stream?.end()
    this.#leave()
  }

  /** The client is back, having read up to the event with this number. False if what came after
   * is not there any more. */
  resume(reply: ResponseWriter, number: number): boolean {
    const missed = this.#history?.buffer.after(number)
    if (missed === undefined) return false
    this.#stream?.end()
    clearTimeout(this.#timer)
    this.#isAway = false
    const stream = this.#openStream(reply)
    missed.forEach((text, at) => void stream.write(text, this.#idOf(number + at + 1)))
    if (this.#isDone) this.#end()
    return true
  }

  /** Nobody can come back to it any more. */
  forget(): void {
    if (this.#isAway && !this.#isDone) return this.#giveUp()
    clearTimeout(this.#timer)
    this.#history?.forget()
    this.#history = undefined
  }

  /** Whether it was open. */
  #take(id: RequestId): boolean {
    if (this.#open !== undefined) return this.#open.delete(id)
    if (this.#only !== id) return false
    this.#only = undefined
    return true
  }

  get #isDone(): boolean {
    return this.#only === undefined && (this.#open?.size ?? 0) === 0
  }

  get #isStreamed(): boolean {
    return this.#stream !== undefined || this.#isAway
  }

  #idOf(number: number): string {
    return `${this.#history?.name}-${number}`
  }

  /** Makes it a stream. */
  #begin(): void {
    if (this.#isStreamed || this.#reply.isOver) return
    this.#history = this.#of.openHistory?.(this)
    const stream = this.#openStream(this.#reply)
    if (this.#history?.primes === true) stream.prime(this.#idOf(0), REPLAY_RETRY_MS)
    for (const text of this.#answers ?? []) this.#write(text)
    this.#answers = undefined
  }

  #openStream(reply: ResponseWriter): EventStream {
    const ids = this.#ids
    this.#stream = new EventStream(reply, this.#of.streamHeaders, {
      onEnd: () => this.#onGone(),
      onFull: (isFull) => this.#events.onFull(isFull, ids),
    })
    return this.#stream
  }

  /** False if nobody will read it. */
  #write(text: string): boolean {
    if (this.#history === undefined) return this.#stream?.write(text) === true
    const id = this.#idOf(this.#history.buffer.add(text))
    this.#stream?.write(text, id)
    return true
  }

  #end(): void {
    // Nothing to say is an empty stream: JSON has no word for no answer.
    if (this.#answers !== undefined && this.#answers.length > 0 && !this.#isStreamed)
      return this.#send(`[${this.#answers.join(',')}]`)
    this.#begin()
    this.#stream?.end()
    this.#stream = undefined
    if (this.#history !== undefined) this.#wait(REPLAY_KEPT_MS, () => this.forget())
  }

  #send(body: string): void {
    if (!this.#reply.isOver) this.#reply.send(this.#status, this.#of.answerHeaders, body)
  }

  /** The ids that are still open. */
  get #ids(): readonly RequestId[] {
    return this.#only === undefined ? [...(this.#open ?? [])] : [this.#only]
  }

  #onGone(): void {
    const { primes = false, buffer } = this.#history ?? {}
    // Without an id the client has nothing to come back with.
    if (this.#isDone || !(primes || (buffer?.last ?? 0) > 0)) return this.#giveUp()
    this.#leave()
  }

  #leave(): void {
    this.#stream = undefined
    this.#isAway = true
    this.#wait(REPLAY_WAIT_MS, () => this.#giveUp())
  }

  #giveUp(): void {
    const open = this.#ids
    this.#only = undefined
    this.#open?.clear()
    if (open.length === 0) return
    this.forget()
    this.#events.onGone(open)
  }

  #wait(ms: number, over: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(over, ms).unref()
  }
}
