// Functions of expressions on text, numbers and time. They replace the CEL library's, which are
// lenient (`int("")` is 0 there, the 30th of February is a day) or slow on adversarial texts.

import { UndecidableError } from './undecidable-error.ts'

const BEYOND_ASCII = /[^\0-\x7f]/

function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d)
  return SPACES.has(code)
}

const SPACES = new Set([
  0x85,
  0xa0,
  0x1680,
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x3000,
  ...Array.from({ length: 11 }, (_, index) => 0x2000 + index),
])

/**
 * Shifts the 26 letters from `first` on; in pieces, since the number of arguments of a call is
 * limited.
 */
export function shiftLetters(text: string, first: number, by: number): string {
  if (!BEYOND_ASCII.test(text)) return by > 0 ? text.toLowerCase() : text.toUpperCase()
  let result = ''
  const piece = new Uint16Array(Math.min(text.length, 1_024))
  for (let from = 0; from < text.length; from += piece.length) {
    const length = Math.min(piece.length, text.length - from)
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(from + at)
      piece[at] = code >= first && code < first + 26 ? code + by : code
    }
    result += Reflect.apply(String.fromCharCode, undefined, piece.subarray(0, length))
  }
  return result
}

const INT_LIMIT = 2 ** 63

export function toInteger(value: number): bigint {
  if (!(Math.abs(value) < INT_LIMIT))
    throw new UndecidableError('no integer of 64 bits', String(value))
  return BigInt(Math.trunc(value))
}

export function codePoints(text: string): bigint {
  let pairs = 0
  for (let at = 1; at < text.length; at++) {
    const low = text.charCodeAt(at)
    if (low < 0xdc00 || low > 0xdfff) continue
    const high = text.charCodeAt(at - 1)
    if (high >= 0xd800 && high <= 0xdbff) pairs++
  }
  return BigInt(text.length - pairs)
}

/** A Date reads the 30th of February as the 2nd of March. */
export function realDay(text: string): string {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number]
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
  if (day > days) throw new UndecidableError('no day of the calendar', text)
  return text
}

export function requireForm(text: string, form: RegExp): string {
  if (!form.test(text)) throw new UndecidableError('not written plainly', text)
  return text
}

/** CEL's timestamp is a Date: created from an argument, never from the system clock. */
export function timestamp(value: number | string): object {
  // biome-ignore lint/style/noRestrictedGlobals: a value from outside, not the present
  const date = new Date(value) // allowed: a value from outside, not the present
  if (Number.isNaN(date.getTime())) throw new UndecidableError('no time', String(value))
  return date
}

/** Trims white space as Unicode defines it. */
export function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}
