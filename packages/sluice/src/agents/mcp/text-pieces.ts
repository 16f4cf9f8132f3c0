// Text of a model on its way to somebody who follows: tokens are joined into pieces, so that a fast model
// does not become a message for each token. Used by server.ts.

import { TEXT_PIECE_LENGTH_MAX, TEXT_PIECE_MS } from '../shared/limits.ts'

/** In `_meta` of a request: the text of the model is wanted as it comes. */
export const STREAM_META = 'sluice/stream'
/** In `_meta` of a progress notification: a piece of it. */
export const TEXT_META = 'sluice/text'

export class TextPieces {
  readonly #send: (text: string) => void
  #text = ''
  #timer: NodeJS.Timeout | undefined

  constructor(send: (text: string) => void) {
    this.#send = send
  }

  add(text: string): void {
    this.#text += text
    if (this.#text.length >= TEXT_PIECE_LENGTH_MAX) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), TEXT_PIECE_MS).unref()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#text
    this.#text = ''
    if (text !== '') this.#send(text)
  }
}
