// One POST of a client and its answer. Where the answer comes first it is plain JSON; where the
// server has something to say on the way (progress, a question) it becomes an event stream that
// ends with the answer.
import { EventStream } from './event-stream.ts'
export class Exchange {
  #response
  #headers
  #open
  #batch
  #answers = []
  #onGone
  #stream
  #events = 0
  /** `onGone` is told the requests still open when the client goes away. */
  constructor(response, headers, ids, batch, onGone) {
    this.#response = response
    this.#headers = headers
    this.#open = new Set(ids)
    this.#batch = batch
    this.#onGone = onGone
    response.once('close', this.#gone)
  }
  answer(id, text) {
    this.#open.delete(id)
    if (this.#stream !== undefined) this.#stream.write(this.#eventId(), text)
    else this.#answers.push(text)
    if (this.#open.size === 0) this.#end()
  }
  /** Something on the way to the answer. */
  tell(text) {
    this.#stream ??= this.#upgrade()
    return this.#stream.write(this.#eventId(), text)
  }
  setHeader(name, value) {
    this.#headers[name] = value
  }
  #upgrade() {
    const stream = new EventStream(this.#response, this.#headers, this.#gone)
    for (const text of this.#answers) stream.write(this.#eventId(), text)
    return stream
  }
  #end() {
    this.#response.off('close', this.#gone)
    if (this.#stream !== undefined) return this.#stream.end()
    const body = this.#batch ? `[${this.#answers.join(',')}]` : (this.#answers[0] ?? '')
    const length = String(Buffer.byteLength(body))
    this.#response.writeHead(200, {
      ...this.#headers,
      'content-type': 'application/json',
      'content-length': length,
    })
    this.#response.end(body)
  }
  #gone = () => {
    if (this.#open.size > 0) this.#onGone([...this.#open])
    this.#open.clear()
  }
  /** Answers on a POST's stream cannot be asked for again, so their ids only have to differ. */
  #eventId() {
    this.#events += 1
    return `p${this.#events}`
  }
}
