// The strict JSON reader: RFC 8259 and nothing beyond it, and within it nothing that two readers
// could take for two things (doubled keys, lone surrogates, numbers that round). What it accepts,
// JSON.parse accepts with the same value. Pure; gate and command line read arguments with it.

import { ExactNumber, type JsonValue } from '../core/json.ts'
import { saysExactly } from '../core/says-exactly.ts'
import type { WireErrorCode } from './errors.ts'
import { JSON_DEPTH_CEILING, JSON_LIMITS, type JsonLimits } from './limits.ts'
import { Refusal, show } from './refusal.ts'

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
    const reader = new Reader(text, { ...JSON_LIMITS, ...limits })
    return { ok: true, value: reader.readText(() => reader.readValue()) }
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    return { ok: false, code: thrown.code, message: thrown.message, offset: thrown.offset }
  }
}

/** Reads a member's value in place of the reader: `reader.at` is behind the colon, `keyAt` is where
 * the key stands. What it returns becomes the member. */
export type MemberReader = (key: string, keyAt: number) => JsonValue

const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const LETTER_E = 0x65
export const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const BYTE_ORDER_MARK = 0xfeff
/** Every decimal of so many digits comes back from its double as it was written. */
const SAFE_DIGITS = 15
/** Digits, with a sign, of what is read without `Number`. */
const PLAIN_DIGITS = 9
/** With the flag u a surrogate that is in a pair is no match. */
const LONE_SURROGATE = /\p{Surrogate}/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SPECIAL = /[\\\x00-\x1f]/g
/** What has to be looked at more closely: escapes, and whatever could end a line for somebody. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_PLAIN = /[\\\x00-\x1f\u0085\u2028\u2029]/
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype))
const INHERITED_LENGTH_MIN = Math.min(...[...INHERITED].map((name) => name.length))
/** Of one object: so many are held against each other, more are looked up. */
const KEYS_COMPARED_MAX = 16
/** ES2024, which Node has; the pure rooms are typed against ES2023. */
type WellFormedness = string & { isWellFormed(): boolean }

/** One text, read from its beginning to its end. read-message.ts drives it through the envelope, to
 * keep the text of members; readJson lets it run. */
export class Reader {
  readonly text: string
  readonly limits: JsonLimits
  readonly depthMax: number
  at = 0
  depth = 0
  values = 0
  /** Of the next backslash or control character, if it is not before `at`. */
  special = -1
  /** Known from `readText` on: no escape and no end of a line anywhere. */
  isPlain = false

  constructor(text: string, limits: JsonLimits) {
    this.text = text
    this.limits = limits
    this.depthMax = Math.min(limits.depthMax, JSON_DEPTH_CEILING)
  }

  // Every bound is asked as "not within", so that a bound of NaN refuses.

  /** The whole text, whose one value `readRoot` reads. */
  readText<Root>(readRoot: () => Root): Root {
    const { length } = this.text
    const { lengthMax } = this.limits
    if (!(length <= lengthMax))
      this.refuse('WIRE_SIZE', `the text has ${length} characters, at most ${lengthMax} are read`)
    if (this.text.charCodeAt(0) === BYTE_ORDER_MARK)
      this.refuse('WIRE_SYNTAX', 'the text begins with a byte order mark, leave it out')
    if (!(this.text as WellFormedness).isWellFormed())
      this.refuseSurrogate(this.text.search(LONE_SURROGATE))
    this.isPlain = !NOT_PLAIN.test(this.text)
    if (this.isPlain) this.special = length
    const value = readRoot()
    this.skipSpace()
    if (this.at < length) this.refuseSyntax('the end of the text')
    return value
  }

  /** `readMember` and `readItem` are for the members or items of this very value, not below. */
  readValue(readMember?: MemberReader, readItem?: () => JsonValue): JsonValue {
    const code = this.skipSpace()
    this.countValue()
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
      const key = this.readString()
      if (!isFirst && Object.hasOwn(object, key)) this.refuseDoubled(key, start)
      isFirst = false
      if (this.skipSpace() !== COLON) this.refuseSyntax('`:` after the key')
      this.at++
      const value = readMember === undefined ? this.readValue() : readMember(key, start)
      if (key.length >= INHERITED_LENGTH_MIN && INHERITED.has(key)) setOwn(object, key, value)
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

  /** As `readValue` reads it, where nobody wants the value: refuses the same, and makes nothing. */
  skipValue(): void {
    const code = this.skipSpace()
    if (code !== OPEN_OBJECT && code !== OPEN_ARRAY) return void this.readValue()
    this.countValue()
    this.enter()
    const close = code === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY
    if (this.skipSpace() !== close) {
      if (code === OPEN_OBJECT) this.skipMembers()
      else this.skipItems()
    }
    this.depth--
    this.at++
  }

  skipMembers(): void {
    const keys: string[] = []
    let many: Set<string> | undefined
    for (;;) {
      if (this.skipSpace() !== QUOTE) this.refuseSyntax('a key in double quotes')
      const start = this.at
      const key = this.readString()
      if (many === undefined ? keys.includes(key) : many.has(key)) this.refuseDoubled(key, start)
      if (many !== undefined) many.add(key)
      else if (keys.push(key) > KEYS_COMPARED_MAX) many = new Set(keys)
      if (this.skipSpace() !== COLON) this.refuseSyntax('`:` after the key')
      this.at++
      this.skipValue()
      const code = this.skipSpace()
      if (code === CLOSE_OBJECT) return
      if (code !== COMMA) this.refuseSyntax('`,` or `}`')
      this.at++
    }
  }

  skipItems(): void {
    for (;;) {
      this.skipValue()
      const code = this.skipSpace()
      if (code === CLOSE_ARRAY) return
      if (code !== COMMA) this.refuseSyntax('`,` or `]`')
      this.at++
    }
  }

  /** The members of an object, each read by whoever wants them: none is kept, and doubled keys are
   * for `readMember` to see. */
  eachMember(readMember: (keyAt: number) => void): void {
    this.countValue()
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

  /** To where a member's value begins, behind its key. */
  skipColon(): void {
    if (this.skipSpace() !== COLON) this.refuseSyntax('`:` after the key')
    this.at++
    this.skipSpace()
  }

  countValue(): void {
    if (!(++this.values <= this.limits.valuesMax))
      this.refuse('WIRE_SIZE', `the text has more than ${this.limits.valuesMax} values`)
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
    const end = this.text.indexOf('"', start)
    if (this.special < start) {
      SPECIAL.lastIndex = start
      const isThere = SPECIAL.test(this.text)
      this.special = isThere ? SPECIAL.lastIndex - 1 : this.text.length
    }
    if (end < 0 || this.special < end) return this.readEscaped()
    this.at = end + 1
    return this.text.slice(start, end)
  }

  readEscaped(): string {
    const { text } = this
    const start = this.at
    for (let at = start + 1; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        this.at = at + 1
        // Every escape is checked by now. Joining pieces here would hold megabytes of them.
        return JSON.parse(text.slice(start, at + 1))
      }
      if (code === BACKSLASH) at = this.checkEscape(at)
      else if (code < 0x20) this.refuseSyntax('control characters to be escaped', at)
    }
    return this.refuse('WIRE_SYNTAX', 'the string has no end, close it with `"`', start)
  }

  /** Where the escape that begins at `at` has its last character. */
  checkEscape(at: number): number {
    if (this.text[at + 1] !== 'u') {
      if (!/^["\\/bfnrt]/.test(this.text.charAt(at + 1)))
        this.refuseSyntax('one of `"\\/bfnrtu` after a backslash', at + 1)
      return at + 1
    }
    const unit = this.readUnit(at)
    if (unit < 0xd800 || unit > 0xdfff) return at + 5
    if (unit > 0xdbff || !this.text.startsWith('\\u', at + 6)) this.refuseSurrogate(at)
    const second = this.readUnit(at + 6)
    if (second < 0xdc00 || second > 0xdfff) this.refuseSurrogate(at)
    return at + 11
  }

  readUnit(at: number): number {
    const hex = this.text.slice(at + 2, at + 6)
    if (!/^[\da-f]{4}$/i.test(hex)) this.refuseSyntax('four hexadecimal digits after `\\u`', at + 2)
    return Number.parseInt(hex, 16)
  }

  readNumber(): number | ExactNumber {
    const { text } = this
    const { numberLengthMax } = this.limits
    const start = this.at
    const first = text.charCodeAt(start) === MINUS ? start + 1 : start
    let at = this.skipDigits(first)
    if (at > first + 1 && text.charCodeAt(first) === ZERO)
      this.refuse('WIRE_SYNTAX', 'a number begins with a needless zero, leave it out', first)
    const isWhole = text.charCodeAt(at) !== POINT && (text.charCodeAt(at) | 0x20) !== LETTER_E
    if (text.charCodeAt(at) === POINT) at = this.skipDigits(at + 1)
    const hasExponent = (text.charCodeAt(at) | 0x20) === LETTER_E
    if (hasExponent) {
      const sign = text.charCodeAt(at + 1)
      at = this.skipDigits(sign === PLUS || sign === MINUS ? at + 2 : at + 1)
    }
    if (!(at - start <= numberLengthMax))
      this.refuse('WIRE_NUMBER', `a number has more than ${numberLengthMax} characters`)
    this.at = at
    if (at - start <= PLAIN_DIGITS && isWhole) return wholeNumber(text, start, at)
    const written = text.slice(start, at)
    const value = Number(written)
    if (!hasExponent && at - first <= SAFE_DIGITS) return value
    if (!Number.isFinite(value))
      this.refuse('WIRE_NUMBER', `no double holds the number ${show(written)}`, start)
    return String(value) === written || saysExactly(value, written)
      ? value
      : new ExactNumber(written)
  }

  /** Where the digits that must begin at `at` end. */
  skipDigits(at: number): number {
    let end = at
    while (isDigit(this.text.charCodeAt(end))) end++
    if (end === at) this.refuseSyntax('a digit', at)
    return end
  }

  /** Goes to the next character that is not white space, and gives it; NaN at the end. */
  skipSpace(): number {
    const { text } = this
    let { at } = this
    let code = text.charCodeAt(at)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09)
      code = text.charCodeAt(++at)
    this.at = at
    return code
  }

  skipWord(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false
    this.at += word.length
    return true
  }

  refuseSyntax(expected: string, at = this.at): never {
    const found = this.text.codePointAt(at)
    const what =
      found === undefined ? 'the text ends' : `found ${show(String.fromCodePoint(found))}`
    this.refuse('WIRE_SYNTAX', `expected ${expected}, ${what}`, at)
  }

  refuseDoubled(key: string, at: number): never {
    this.refuse('WIRE_DOUBLED_KEY', `the key ${show(key)} is there twice, keep one`, at)
  }

  refuseSurrogate(at: number): never {
    this.refuse('WIRE_LONE_SURROGATE', 'half of a surrogate pair stands alone', at)
  }

  refuse(code: WireErrorCode, message: string, at = this.at): never {
    throw new Refusal(code, message, at)
  }
}

/** Of digits alone, and so few that every step is exact. */
function wholeNumber(text: string, start: number, end: number): number {
  if (text.charCodeAt(start) === MINUS) return -wholeNumber(text, start + 1, end)
  let value = 0
  for (let at = start; at < end; at++) value = value * 10 + (text.charCodeAt(at) - ZERO)
  return value
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/** For names that every object inherits. Assigned, `__proto__` would change the prototype and be no
 * key at all, and the others would throw where somebody has frozen Object.prototype. */
function setOwn(object: object, key: string, value: JsonValue): void {
  const own = { value, writable: true, enumerable: true, configurable: true }
  Object.defineProperty(object, key, own)
}
