// The head of an HTTP message that is like one before but for its length: what a peer says in every
// message is read once. Compared as bytes, so that nobody makes a text of it. Pure; the readers of both
// sides hold a head that they have read against the next.

import { Buffer } from 'node:buffer'

const ZERO = 0x30
const NINE = 0x39
/** Digits of a length that can be read so. */
const DIGITS_MAX = 8

/** A text that stands by itself: a part of another is slower to compare, and keeps all of that. */
export function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

export class SameHead {
  readonly #before: Buffer
  readonly #after: Buffer
  /** Of the body, as the last head said that was alike. */
  length = 0

  /** `text` is the head with the blank line at its end, and `at` where the digits of its length
   * stand. */
  constructor(text: string, at: number, digits: number) {
    this.#before = Buffer.from(text.slice(0, at), 'latin1')
    this.#after = Buffer.from(text.slice(at + digits), 'latin1')
  }

  /** Where the body begins behind the head that `bytes` begin with, of which the first `end` count; -1
   * where anything but the length is another, or not there yet. */
  bodyAt(bytes: Buffer, end: number): number {
    const before = this.#before
    const after = this.#after
    const from = before.length
    let at = from
    let value = 0
    for (; at < end && at - from < DIGITS_MAX; at++) {
      const code = bytes[at] as number
      if (!(code >= ZERO && code <= NINE)) break
      value = value * 10 + (code - ZERO)
    }
    const to = at + after.length
    if (at === from || to > end) return -1
    // A needless zero is for whoever reads it anew to judge.
    if (at - from > 1 && bytes[from] === ZERO) return -1
    if (before.compare(bytes, 0, from) !== 0 || after.compare(bytes, at, to) !== 0) return -1
    this.length = value
    return to
  }
}
