// Skips a JSON value that is not needed as a value: refuses what the strict reader refuses, and
// allocates nothing. Results of servers take this path, since they are forwarded as text. Pure.

import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './characters.ts'
import { isDigit, MINUS } from './digits.ts'
import type { JsonReader } from './read-json.ts'

/** Keys of one object that are compared one by one; with more, a Map finds duplicates. */
const KEYS_COMPARED_MAX = 8
/** Keys that the Map caches from one object to the next, which mostly has the same. */
const KEYS_KEPT_MAX = 20_000
/** A number of this many characters is finite if it has no exponent. */
const FINITE_LENGTH_MAX = 300

export function skipValue(reader: JsonReader): void {
  new Skipper(reader).skipValue()
}

/** Reusable for several values of one text. */
export class Skipper {
  readonly #reader: JsonReader
  readonly #tokensMax: number
  /** The keys of all open objects with their offsets; those of the innermost come last. */
  readonly #keys: string[] = []
  readonly #keysAt: number[] = []
  /** The number of the last object that had the key. */
  #lastObjects: Map<string, number> | undefined
  #objects = 0

  constructor(reader: JsonReader) {
    this.#reader = reader
    this.#tokensMax = reader.limits.skippedTokensMax
  }

  skipValue(): void {
    const reader = this.#reader
    const code = reader.skipSpace()
    this.#countToken()
    if (code === QUOTE) this.#skipString()
    else if (code === OPEN_OBJECT) this.#skipObject()
    else if (code === OPEN_ARRAY) this.#skipArray()
    else if (isDigit(code) || code === MINUS) this.#skipNumber()
    else if (!reader.skipWord('true') && !reader.skipWord('false') && !reader.skipWord('null'))
      reader.refuseSyntax('a value')
  }

  #countToken(): void {
    const reader = this.#reader
    if (!(++reader.skippedTokens <= this.#tokensMax)) reader.refuseTokens(this.#tokensMax)
  }

  #skipString(): void {
    const reader = this.#reader
    const end = reader.findPlainEnd()
    if (end >= 0) reader.at = end + 1
    else this.#skipEscaped()
  }

  /** Counts as two: JSON.parse is called for it. */
  #skipEscaped(): string {
    this.#countToken()
    return this.#reader.readEscaped()
  }

  #skipNumber(): void {
    const reader = this.#reader
    const start = reader.at
    reader.skipNumber()
    if (!reader.hasExponent && reader.at - start <= FINITE_LENGTH_MAX) return
    const written = reader.text.slice(start, reader.at)
    if (!Number.isFinite(Number(written))) reader.refuseInfinite(written, start)
  }

  #skipArray(): void {
    const reader = this.#reader
    reader.enter()
    if (reader.skipSpace() !== CLOSE_ARRAY)
      for (;;) {
        this.skipValue()
        const code = reader.skipSpace()
        if (code === CLOSE_ARRAY) break
        if (code !== COMMA) reader.refuseSyntax('`,` or `]`')
        reader.at++
      }
    reader.leave(null)
  }

  #skipObject(): void {
    const reader = this.#reader
    const first = this.#keys.length
    reader.enter()
    if (reader.skipSpace() !== CLOSE_OBJECT)
      for (;;) {
        if (reader.skipSpace() !== QUOTE) reader.refuseSyntax('a key in double quotes')
        this.#takeKey(first)
        if (reader.skipSpace() !== COLON) reader.refuseSyntax('`:` after the key')
        reader.at++
        this.skipValue()
        const code = reader.skipSpace()
        if (code === CLOSE_OBJECT) break
        if (code !== COMMA) reader.refuseSyntax('`,` or `}`')
        reader.at++
      }
    if (this.#keys.length - first > KEYS_COMPARED_MAX) this.#refuseDoubled(first)
    // Setting the length of an array takes longer than the few keys of an object.
    while (this.#keys.length > first) {
      this.#keys.pop()
      this.#keysAt.pop()
    }
    reader.leave(null)
  }

  #takeKey(first: number): void {
    const reader = this.#reader
    this.#countToken()
    const start = reader.at
    const key = this.#readKey()
    const keys = this.#keys
    if (keys.length - first <= KEYS_COMPARED_MAX && keys.indexOf(key, first) >= 0)
      reader.refuseDoubled(key, start)
    keys.push(key)
    this.#keysAt.push(start)
  }

  #readKey(): string {
    const reader = this.#reader
    const start = reader.at + 1
    const end = reader.findPlainEnd()
    if (end < 0) return this.#skipEscaped()
    reader.at = end + 1
    return reader.text.slice(start, end)
  }

  /** At the end of an object with many keys, if no other object's keys come between them. */
  #refuseDoubled(first: number): void {
    const object = ++this.#objects
    const isFull = (this.#lastObjects?.size ?? 0) > KEYS_KEPT_MAX
    const lastObjects = isFull ? new Map<string, number>() : (this.#lastObjects ?? new Map())
    this.#lastObjects = lastObjects
    for (let at = first; at < this.#keys.length; at++) {
      const key = this.#keys[at] as string
      if (lastObjects.get(key) === object)
        this.#reader.refuseDoubled(key, this.#keysAt[at] as number)
      lastObjects.set(key, object)
    }
  }
}
