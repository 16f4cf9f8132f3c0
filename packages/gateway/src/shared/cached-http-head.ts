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

export class CachedHead {
  readonly #text: string
  readonly #at: number
  readonly #digits: number
  /** The whole head by how many digits its length has, with those of the last that was alike. */
  readonly #heads: Buffer[] = []
  /** Of the body, as the last head said that was alike. */
  length = 0

  /** `text` is the head with the blank line at its end, and `at` where the digits of its length
   * stand. */
  constructor(text: string, at: number, digits: number) {
    this.#text = flat(text)
    this.#at = at
    this.#digits = digits
  }

  /** Where the body begins behind the head that `bytes` begin with, of which the first `end` count; -1
   * where anything but the length is another, or not there yet. */
  bodyAt(bytes: Buffer, end: number): number {
    const from = this.#at
    let at = from
    let value = 0
    for (; at < end && at - from < DIGITS_MAX; at++) {
      const code = bytes[at] as number
      if (!(code >= ZERO && code <= NINE)) break
      value = value * 10 + (code - ZERO)
    }
    const count = at - from
    if (count === 0) return -1
    // A leading zero is left to the full parser.
    if (count > 1 && bytes[from] === ZERO) return -1
    const head = this.#headOf(count)
    if (head.length > end) return -1
    for (let digit = from; digit < at; digit++) head[digit] = bytes[digit] as number
    if (head.compare(bytes, 0, head.length) !== 0) return -1
    this.length = value
    return head.length
  }

  #headOf(count: number): Buffer {
    const known = this.#heads[count]
    if (known !== undefined) return known
    const before = this.#text.slice(0, this.#at)
    const after = this.#text.slice(this.#at + this.#digits)
    const made = Buffer.from(`${before}${'0'.repeat(count)}${after}`, 'latin1')
    this.#heads[count] = made
    return made
  }
}
