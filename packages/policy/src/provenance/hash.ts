// 64-bit hashes of folded text, as two 32-bit halves in one object that is reused. The seed is
// secret and random for each session: without it, a stranger could look for a value that collides
// with one the user named.

import { isIdeograph, isWithinWord } from './fold-text.ts'

export interface HashSeed {
  readonly low: number
  readonly high: number
}

/** The halves of the last hash. Reused so that hashing allocates nothing. */
export class Hasher {
  low = 0
  high = 0
  readonly #seed: HashSeed

  constructor(seed: HashSeed) {
    this.#seed = seed
  }

  /** `tag` keeps hashes of different things apart. */
  hash(tag: number, text: string): void {
    let low = Math.imul(this.#seed.low ^ tag, 0x9e3779b1)
    let high = Math.imul(this.#seed.high + tag, 0x85ebca77)
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      low = Math.imul(low ^ unit, 0x01000193)
      low ^= low >>> 15
      high = Math.imul(high + unit, 0xcc9e2d51)
      high ^= high >>> 13
    }
    this.#finish(low, high)
  }

  /** The word that begins at `start`; returns where it ends. As `hash` of its place, in one pass. */
  hashWord(tag: number, text: string, start: number): number {
    let low = Math.imul(this.#seed.low ^ tag, 0x9e3779b1)
    let high = Math.imul(this.#seed.high + tag, 0x85ebca77)
    let unit = text.charCodeAt(start)
    let at = start
    const isAlone = isIdeograph(unit)
    do {
      low = Math.imul(low ^ unit, 0x01000193)
      low ^= low >>> 15
      high = Math.imul(high + unit, 0xcc9e2d51)
      high ^= high >>> 13
      at++
      if (isAlone || at >= text.length) break
      unit = text.charCodeAt(at)
    } while (isWithinWord(unit))
    this.#finish(low, high)
    return at
  }

  #finish(low: number, high: number): void {
    const mixed = Math.imul(low ^ (high >>> 16), 0x7feb352d)
    const other = Math.imul(high ^ (low >>> 15), 0x846ca68b)
    this.low = mixed ^ (mixed >>> 14)
    this.high = other ^ (other >>> 16)
  }
}
