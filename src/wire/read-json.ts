// The strict JSON reader: RFC 8259 and nothing beyond it, and within it nothing that two readers
// could take for two things (doubled keys, lone surrogates, numbers that round). What it accepts,
// JSON.parse accepts with the same value. Pure; the gate and the command line read arguments with it.

import { ExactNumber, type JsonValue } from '../core/json.ts'
import type { WireErrorCode } from './errors.ts'
import {
  JSON_DEPTH_CEILING,
  JSON_LIMITS,
  type JsonLimits,
  SHOWN_KEY_LENGTH_MAX,
} from './limits.ts'
import { saysExactly } from './says-exactly.ts'

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
    return { ok: true, value: new Reader(text, { ...JSON_LIMITS, ...limits }).readText() }
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    return { ok: false, code: thrown.code, message: thrown.message, offset: thrown.offset }
  }
}

/** Not an Error: a flood of bad texts must not pay for stack traces. Never leaves this file. */
class Refusal {
  readonly code: WireErrorCode
  readonly message: string
  readonly offset: number
  constructor(code: WireErrorCode, message: string, offset: number) {
    this.code = code
    this.message = message
    this.offset = offset
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const FIRST_PRINTABLE = 0x20
/** Every decimal of so many digits comes back from its double as it was written. */
const SAFE_DIGITS = 15
/** With the flag u a surrogate in a pair is no match. */
const LONE_SURROGATE = /\p{Surrogate}/u

class Reader {
  readonly text: string
  readonly limits: JsonLimits
  readonly depthMax: number
  at = 0
  depth = 0
  values = 0

  constructor(text: string, limits: JsonLimits) {
    this.text = text
    this.limits = limits
    this.depthMax = Math.min(limits.depthMax, JSON_DEPTH_CEILING)
  }

  // Bounds are asked as "not within", so that a bound of NaN refuses.

  readText(): JsonValue {
    const { text, limits } = this
    if (!(text.length <= limits.lengthMax)) {
      const message = `the text is ${text.length} characters long, at most ${limits.lengthMax}`
      throw new Refusal('WIRE_SIZE', message, 0)
    }
    if (text.charCodeAt(0) === 0xfeff) this.#refuseSyntax('begins with a byte order mark', 0)
    const lone = text.search(LONE_SURROGATE)
    if (lone >= 0) this.#refuseSurrogate(lone)
    const value = this.#readValue()
    if (this.#next() === this.#next() && this.at < text.length) this.#expected('the end')
    return value
  }

  /** The next character that is not white space; NaN at the end. */
  #next(): number {
    const { text } = this
    let { at } = this
    let code = text.charCodeAt(at)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09)
      code = text.charCodeAt(++at)
    this.at = at
    return code
  }
}
