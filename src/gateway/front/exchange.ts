// One POST of a client and its answer. Where the answer comes first it is plain JSON; where the
// server has something to say on the way (progress, a question), or takes its time, it becomes an
// event stream that ends with the answer.

import type { ServerResponse } from 'node:http'
import type { Id } from '../../wire/message.ts'
import { EventStream } from './event-stream.ts'

export class Exchange {
  readonly #response: ServerResponse
  readonly #headers: Record<string, string>
  readonly #open: Set<Id>
  readonly #batch: boolean
  readonly #answers: string[] = []
  #status = 200
  readonly #onGone: (open: readonly Id[]) => void
  #stream: EventStream | undefined

  /** `onGone` is told the requests still open when the client goes away. */
  constructor(
    response: ServerResponse,
    headers: Record<string, string>,
    ids: readonly Id[],
    batch: boolean,
    onGone: (open: readonly Id[]) => void,
  ) {
    this.#response = response
    this.#headers = headers
    this.#open = new Set(ids)
    this.#batch = batch
    this.#onGone = onGone
    response.once('close', this.#gone)
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
    this.#response.off('close', this.#gone)
    this.#stream = new EventStream(this.#response, this.#headers, this.#gone)
    for (const text of this.#answers) this.#stream.write(text)
    return this.#stream
  }

  #end(): void {
    this.#response.off('close', this.#gone)
    // Nothing to say is an empty stream: JSON has no word for no answer.
    if (this.#stream !== undefined || this.#answers.length === 0) return this.#events().end()
    const body = this.#batch ? `[${this.#answers.join(',')}]` : (this.#answers[0] as string)
    const length = Buffer.byteLength(body)
    const said = ['content-type', 'application/json', 'content-length', String(length)]
    for (const name in this.#headers) said.push(name, this.#headers[name] as string)
    // What is all ASCII is written without a copy.
    const encoding = length === body.length ? 'latin1' : 'utf8'
    this.#response.writeHead(this.#status, said).end(body, encoding)
  }

  #gone = (): void => {
    const open = [...this.#open]
    this.#open.clear()
    if (open.length > 0) this.#onGone(open)
  }
}
