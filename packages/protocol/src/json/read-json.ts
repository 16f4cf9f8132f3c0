// The strict JSON reader: exactly RFC 8259, without anything that two parsers could read
// differently (duplicate keys, lone surrogates, numbers that round). What it accepts, JSON.parse
// accepts with the same value. Pure; gate and command line read arguments with it.

import { saysExactly } from '@sluice/policy/values/is-exact-double'
import { ExactNumber, type JsonValue } from '@sluice/policy/values/json'
import {
  BACKSLASH,
  BYTE_ORDER_MARK,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  LETTER_E,
  OPEN_ARRAY,
  OPEN_OBJECT,
  PLUS,
  POINT,
  QUOTE,
} from './characters.ts'
import { isDigit, MINUS, wholeNumber, ZERO } from './digits.ts'
import type { WireErrorCode } from './errors.ts'
import { FoldBudget } from './fold-case.ts'
import { JSON_DEPTH_CEILING, JSON_LIMITS, type JsonLimits } from './limits.ts'
import { refuseString } from './refuse-string.ts'
import { quoteForMessage, WireRejection } from './wire-rejection.ts'

export type JsonReading =
  | { readonly ok: true; readonly value: JsonValue }
  | {
      readonly ok: false
      readonly code: WireErrorCode
      readonly message: string
      /** Where in the text, in UTF-16 code units. */
      readonly offset: number
    }

export function readJson(text: string, limits: Partial<JsonLimits> = {}): JsonReading {
  try {
    const reader = new JsonReader(text, { ...JSON_LIMITS, ...limits })
    return { ok: true, value: reader.readText(() => reader.readValue()) }
  } catch (thrown) {
    if (!(thrown instanceof WireRejection)) throw thrown
    return { ok: false, code: thrown.code, message: thrown.message, offset: thrown.offset }
  }
}

/**
 * Reads a member's value instead of the reader: `reader.at` is after the colon, `keyAt` is the
 * offset of the key. Its return value becomes the member.
 */
export type MemberReader = (key: string, keyAt: number) => JsonValue

/** Every decimal of this many digits round-trips through a double. */
const SAFE_DIGITS = 15
/** Digits, with a sign, of what is read without `Number`. */
const PLAIN_DIGITS = 9
/** White space or digits scanned by a loop: for longer runs a pattern is faster. */
const SPACES_LOOPED_MAX = 16
const DIGITS_LOOPED_MAX = 32
const NOT_SPACE = /[^ \n\r\t]/g
const NOT_DIGIT = /\D/g
/** Length of a text up to which `indexOf` looks for quotes. It stops at every character with the low byte of a quote, and
 * a text may have nothing else. */
const INDEXED_LENGTH_MAX = 262_144
const QUOTE_OR_ESCAPE = /["\\]/g
/** The flag u is needed: without it a surrogate in a pair would match. */
const LONE_SURROGATE = /\p{Surrogate}/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SPECIAL = /[\\\x00-\x1f]/g
/** Most texts have nothing but ASCII without escapes and control characters, and need no closer check. */
const BEYOND_PRINTED = /[^ -[\]-~]/
/** What needs one in the others: escapes, and whatever could end a line for some peer. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_PLAIN = /[\\\x00-\x1f\u0085\u2028\u2029]/
/** Members that every object inherits. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype))
const INHERITED_LENGTH_MIN = Math.min(...[...INHERITED].map((name) => name.length))
const OWN = { writable: true, enumerable: true, configurable: true }
/** ES2024, which Node has; the pure modules are typed against ES2023. */
type WellFormedness = string & { isWellFormed(): boolean }

/**
 * Reads one text from start to end. read-message.ts drives it through the envelope, to keep the
 * text of members; readJson runs it to completion.
 */
export class JsonReader {
  readonly text: string
  readonly limits: JsonLimits
  readonly depthMax: number
  at = 0
  depth = 0
  /** Values and keys that became JavaScript values, and those that were only validated. */
  tokens = 0
  skippedTokens = 0
  longNumbersLength = 0
  escapedLength = 0
  escapedQuotes = 0
  /** What comparing keys may still cost; undefined if the text is ASCII, where it costs nothing. */
  folding: FoldBudget | undefined
  /** Whether the number that `skipNumber` passed last has no fraction. */
  isWholeNumber = false
  hasExponent = false
  /** The place of the next backslash or control character, if it is not before `at`. */
  special = -1
  /** Known from `begin` on: the text has no escape and no line terminator. */
  isPlain = false

  constructor(text: string, limits: JsonLimits) {
    this.text = text
    this.limits = limits
    this.depthMax = Math.min(limits.depthMax, JSON_DEPTH_CEILING)
  }

  // Every bound is tested as "not within", so that a bound of NaN refuses.

  /** The whole text, whose one value `readRoot` reads. */
  readText<Root>(readRoot: () => Root): Root {
    this.begin()
    const value = readRoot()
    this.end()
    return value
  }

  /** Before anything of the text is read. */
  begin(): void {
    const { length } = this.text
    const { lengthMax } = this.limits
    if (!(length <= lengthMax))
      this.refuse('WIRE_SIZE', `the text has ${length} characters, at most ${lengthMax} are read`)
    this.isPlain = !BEYOND_PRINTED.test(this.text)
    if (!this.isPlain) {
      if (this.text.charCodeAt(0) === BYTE_ORDER_MARK)
        this.refuse('WIRE_SYNTAX', 'the text begins with a byte order mark, leave it out')
      if (!(this.text as WellFormedness).isWellFormed())
        this.refuseSurrogate(this.text.search(LONE_SURROGATE))
      this.isPlain = !NOT_PLAIN.test(this.text)
      this.folding = new FoldBudget()
    }
    if (this.isPlain) this.special = length
  }

  /** After its one value. */
  end(): void {
    this.skipSpace()
    if (this.at < this.text.length) this.refuseSyntax('the end of the text')
  }

  /** `readMember` and `readItem` apply to the members or items of this value, not below. */
  readValue(readMember?: MemberReader, readItem?: () => JsonValue): JsonValue {
    const code = this.skipSpace()
    this.countToken()
    if (code === QUOTE) return this.readString()
    if (code === OPEN_OBJECT) return this.readObject(readMember)
    if (code === OPEN_ARRAY) return this.readArray(readItem)
    if (isDigit(code) || code === MINUS) return this.readNumber()
    if (this.skipWord('true')) return true
    if (this.skipWord('false')) return false
    if (this.skipWord('null')) return null
    return this.refuseSyntax('a value')
  }

  readObject(readMember: MemberReader | undefined): JsonValue {
    const object: Record<string, JsonValue> = {}
    let isFirst = true
    this.enter()
    if (this.skipSpace() === CLOSE_OBJECT) return this.leave(object)
    for (;;) {
      if (this.skipSpace() !== QUOTE) this.refuseSyntax('a key in double quotes')
      const start = this.at
      this.countToken()
      const key = this.readString()
      const fault = this.folding?.charge(key)
      if (fault !== undefined) this.refuseLarge(fault, start)
      // Not `in`, which V8 has no fast code for if the key is a part of a text.
      if (!isFirst && Object.hasOwn(object, key)) this.refuseDoubled(key, start)
      isFirst = false
      if (this.skipSpace() !== COLON) this.refuseSyntax('`:` after the key')
      this.at++
      const value = readMember === undefined ? this.readValue() : readMember(key, start)
      // Assigning to `__proto__` would change the prototype, and to the others throw if that is frozen.
      if (key.length >= INHERITED_LENGTH_MIN && INHERITED.has(key))
        Object.defineProperty(object, key, { ...OWN, value })
      else object[key] = value
      const code = this.skipSpace()
      if (code === CLOSE_OBJECT) return this.leave(object)
      if (code !== COMMA) this.refuseSyntax('`,` or `}`')
      this.at++
    }
  }

  readArray(readItem: (() => JsonValue) | undefined): JsonValue {
    const array: JsonValue[] = []
    this.enter()
    if (this.skipSpace() === CLOSE_ARRAY) return this.leave(array)
    for (;;) {
      array.push(readItem === undefined ? this.readValue() : readItem())
      const code = this.skipSpace()
      if (code === CLOSE_ARRAY) return this.leave(array)
      if (code !== COMMA) this.refuseSyntax('`,` or `]`')
      this.at++
    }
  }

  /**
   * Passes each member of an object to `readMember`: none is stored, and `readMember` has to detect
   * duplicate keys.
   */
  eachMember(readMember: (keyAt: number) => void): void {
    this.countToken()
    this.enter()
    if (this.skipSpace() !== CLOSE_OBJECT)
      for (;;) {
        if (this.skipSpace() !== QUOTE) this.refuseSyntax('a key in double quotes')
        readMember(this.at)
        const code = this.skipSpace()
        if (code === CLOSE_OBJECT) break
        if (code !== COMMA) this.refuseSyntax('`,` or `}`')
        this.at++
      }
    this.depth--
    this.at++
  }

  /** Advances to a member's value, after its key. */
  skipColon(): void {
    if (this.skipSpace() !== COLON) this.refuseSyntax('`:` after the key')
    this.at++
    this.skipSpace()
  }

  countToken(): void {
    if (!(++this.tokens <= this.limits.tokensMax)) this.refuseTokens(this.limits.tokensMax)
  }

  refuseTokens(tokensMax: number): never {
    this.refuseLarge(`more than ${tokensMax} values and keys`)
  }

  refuseLarge(what: string, at = this.at): never {
    this.refuse('WIRE_SIZE', `the text has ${what}, send it in smaller parts`, at)
  }

  enter(): void {
    if (!(++this.depth <= this.depthMax))
      this.refuse('WIRE_DEPTH', `arrays and objects are nested more than ${this.depthMax} deep`)
    this.at++
  }

  leave(container: JsonValue): JsonValue {
    this.depth--
    this.at++
    return container
  }

  readString(): string {
    const start = this.at + 1
    const end = this.findPlainEnd()
    if (end < 0) return this.readEscaped()
    this.at = end + 1
    return this.text.slice(start, end)
  }

  /** Finds the closing quote of the string that starts at `at`; -1 if the string is not plain. */
  findPlainEnd(): number {
    const start = this.at + 1
    const isLong = this.text.length > INDEXED_LENGTH_MAX
    const end = isLong ? this.find(QUOTE_OR_ESCAPE, start) : this.text.indexOf('"', start)
    if (this.special < start) this.special = this.find(SPECIAL, start)
    return this.special <= end ? -1 : end
  }

  /** JSON.parse checks the escapes: a loop here takes ten times as long. */
  readEscaped(): string {
    const { text } = this
    const start = this.at
    const end = this.findEnd(start)
    this.escapedLength += end - start
    if (!(this.escapedLength <= this.limits.escapedLengthMax))
      this.refuseLarge(
        `strings with escapes of more than ${this.limits.escapedLengthMax} characters in all`,
        start,
      )
    try {
      const value = JSON.parse(text.slice(start, end + 1)) as WellFormedness
      if (value.isWellFormed()) {
        this.at = end + 1
        return value
      }
    } catch {}
    return refuseString(this, start)
  }

  /**
   * Of the string that starts at `start`: its closing quote is preceded by an even number of
   * backslashes.
   */
  findEnd(start: number): number {
    const { text } = this
    let quote = text.indexOf('"', start + 1)
    while (quote >= 0) {
      let before = quote
      while (text.charCodeAt(before - 1) === BACKSLASH) before--
      if ((quote - before) % 2 === 0) return quote
      if (!(++this.escapedQuotes <= this.limits.escapedQuotesMax))
        this.refuseLarge(`more than ${this.limits.escapedQuotesMax} escaped quotes`, start)
      quote = text.indexOf('"', quote + 1)
    }
    return refuseString(this, start)
  }

  readNumber(): number | ExactNumber {
    const { text } = this
    const start = this.at
    this.skipNumber()
    const length = this.at - start
    if (length <= PLAIN_DIGITS && this.isWholeNumber) return wholeNumber(text, start, this.at)
    const written = text.slice(start, this.at)
    const value = Number(written)
    const digits = text.charCodeAt(start) === MINUS ? length - 1 : length
    if (!this.hasExponent && digits <= SAFE_DIGITS) return value
    const { longNumbersLengthMax } = this.limits
    this.longNumbersLength += length
    if (!(this.longNumbersLength <= longNumbersLengthMax))
      this.refuseLarge(
        `numbers of more than ${SAFE_DIGITS} digits with more than ${longNumbersLengthMax} characters in all`,
        start,
      )
    if (!Number.isFinite(value)) this.refuseInfinite(written, start)
    return String(value) === written || saysExactly(value, written)
      ? value
      : new ExactNumber(written)
  }

  refuseInfinite(written: string, at: number): never {
    this.refuse('WIRE_NUMBER', `no double represents the number ${quoteForMessage(written)}`, at)
  }

  /** Advances past a number, which is then known to be valid. */
  skipNumber(): void {
    const { text } = this
    const { numberLengthMax } = this.limits
    const start = this.at
    const first = text.charCodeAt(start) === MINUS ? start + 1 : start
    let at = this.skipDigits(first)
    if (at > first + 1 && text.charCodeAt(first) === ZERO)
      this.refuse('WIRE_SYNTAX', 'a number begins with a needless zero, leave it out', first)
    this.isWholeNumber = text.charCodeAt(at) !== POINT && (text.charCodeAt(at) | 0x20) !== LETTER_E
    if (text.charCodeAt(at) === POINT) at = this.skipDigits(at + 1)
    this.hasExponent = (text.charCodeAt(at) | 0x20) === LETTER_E
    if (this.hasExponent) {
      const sign = text.charCodeAt(at + 1)
      at = this.skipDigits(sign === PLUS || sign === MINUS ? at + 2 : at + 1)
    }
    if (!(at - start <= numberLengthMax))
      this.refuse('WIRE_NUMBER', `a number has more than ${numberLengthMax} characters`)
    this.at = at
  }

  /** Offset of the end of the digits that must start at `at`. */
  skipDigits(at: number): number {
    const loopEnd = at + DIGITS_LOOPED_MAX
    let end = at
    while (isDigit(this.text.charCodeAt(end)))
      if (++end === loopEnd) end = this.find(NOT_DIGIT, end)
    if (end === at) this.refuseSyntax('a digit', at)
    return end
  }

  /** Advances to the next character that is not white space, and returns it; NaN at the end. */
  skipSpace(): number {
    const { text } = this
    let { at } = this
    let code = text.charCodeAt(at)
    const loopEnd = at + SPACES_LOOPED_MAX
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      if (++at === loopEnd) at = this.find(NOT_SPACE, at)
      code = text.charCodeAt(at)
    }
    this.at = at
    return code
  }

  /** Offset of the first match from `at` on, or the end of the text. */
  find(pattern: RegExp, at: number): number {
    pattern.lastIndex = at
    return pattern.test(this.text) ? pattern.lastIndex - 1 : this.text.length
  }

  skipWord(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false
    this.at += word.length
    return true
  }

  refuseSyntax(expected: string, at = this.at): never {
    const character = this.text.codePointAt(at)
    const what =
      character === undefined
        ? 'the text ends'
        : `found ${quoteForMessage(String.fromCodePoint(character))}`
    this.refuse('WIRE_SYNTAX', `expected ${expected}, ${what}`, at)
  }

  refuseDoubled(key: string, at: number): never {
    this.refuse('WIRE_DOUBLED_KEY', `the key ${quoteForMessage(key)} is there twice, keep one`, at)
  }

  refuseSurrogate(at: number): never {
    this.refuse('WIRE_LONE_SURROGATE', 'a surrogate is not part of a pair', at)
  }

  refuse(code: WireErrorCode, message: string, at = this.at): never {
    throw new WireRejection(code, message, at)
  }
}
