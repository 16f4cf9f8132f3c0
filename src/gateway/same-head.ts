// The head of an HTTP message that is like one before but for its length: what a peer says in every
// message is read once. Pure; the readers of both sides hold a head that they have read against the
// next.

const ZERO = 0x30
/** Digits of a length that can be read so. */
const DIGITS_MAX = 8

/** A text that stands by itself: a part of another is slower to compare, and keeps all of that. */
export function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

export class SameHead {
  readonly #before: string
  readonly #after: string

  /** `text` is the head up to its end, and `at` where the digits of its length stand. */
  constructor(text: string, at: number, digits: number) {
    this.#before = flat(text.slice(0, at))
    this.#after = flat(text.slice(at + digits))
  }

  /** The length that the head in `text` up to `end` says; -1 where anything else is another. */
  lengthIn(text: string, end: number): number {
    const from = this.#before.length
    const to = end - this.#after.length
    const count = to - from
    if (count < 1 || count > DIGITS_MAX) return -1
    if (!text.startsWith(this.#before) || !text.startsWith(this.#after, to)) return -1
    let value = 0
    for (let at = from; at < to; at++) {
      const digit = text.charCodeAt(at) - ZERO
      if (!(digit >= 0 && digit <= 9)) return -1
      value = value * 10 + digit
    }
    // A needless zero is for whoever reads it anew to judge.
    return count > 1 && text.charCodeAt(from) === ZERO ? -1 : value
  }
}
