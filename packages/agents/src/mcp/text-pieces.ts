// Text of a model on its way to somebody who follows: tokens are joined into pieces, so that a fast model
// does not become a message for each token. No piece ends within a character. Used by server.ts.

import { wellFormed } from '../guest/text.ts'
import { TEXT_PIECE_LENGTH_MAX, TEXT_PIECE_MS } from '../shared/limits.ts'

/** In `_meta` of a request: the text of the model is wanted as it comes. */
export const STREAM_META = 'sluice/stream'
/** In `_meta` of a progress notification: a piece of it. */
export const TEXT_META = 'sluice/text'

const FIRST_HALF = /[\ud800-\udbff]$/

export class TextPieces {
  readonly #send: (text: string) => void
  #text = ''
  #timer: NodeJS.Timeout | undefined

  constructor(send: (text: string) => void) {
    this.#send = send
  }

  add(text: string): void {
    this.#text += text
    if (this.#text.length >= TEXT_PIECE_LENGTH_MAX) this.#sendPiece()
    else this.#timer ??= setTimeout(() => this.#sendPiece(), TEXT_PIECE_MS).unref()
  }

  flush(): void {
    this.#sendPiece()
    if (this.#text !== '') this.#send(wellFormed(this.#text))
    this.#text = ''
  }

  /** The first half of a character waits for the second. */
  #sendPiece(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const isHalf = FIRST_HALF.test(this.#text)
    const text = isHalf ? this.#text.slice(0, -1) : this.#text
    this.#text = isHalf ? this.#text.slice(-1) : ''
    if (text !== '') this.#send(wellFormed(text))
  }
}
