// Reports what is wrong, and where, in a string that JSON.parse refused or that has a lone
// surrogate. Slow, and called once: its input is always refused. Pure; used by read-json.ts.

import { BACKSLASH, QUOTE } from './characters.ts'
import type { JsonReader } from './read-json.ts'

/** Escapes that are looked at one by one, at some 50 ns each. */
const ESCAPES_EXPLAINED_MAX = 100_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_LETTER = /["\\\x00-\x1f]/g

/** `start` is at the opening quote. */
export function refuseString(reader: JsonReader, start: number): never {
  const { text } = reader
  let escapes = 0
  for (let at = reader.find(NOT_LETTER, start + 1); at < text.length; escapes++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) break
    if (code !== BACKSLASH) reader.refuseSyntax('control characters to be escaped', at)
    if (escapes > ESCAPES_EXPLAINED_MAX)
      reader.refuse(
        'WIRE_SYNTAX',
        'the string has no end, or an escape that JSON does not know',
        start,
      )
    at = reader.find(NOT_LETTER, checkEscape(reader, at) + 1)
  }
  return reader.refuse('WIRE_SYNTAX', 'the string has no end, close it with `"`', start)
}

/** Offset of the last character of the escape that starts at `at`. */
function checkEscape(reader: JsonReader, at: number): number {
  const { text } = reader
  if (text[at + 1] !== 'u') {
    if (!/^["\\/bfnrt]/.test(text.charAt(at + 1)))
      reader.refuseSyntax('one of `"\\/bfnrtu` after a backslash', at + 1)
    return at + 1
  }
  const unit = readUnit(reader, at)
  if (unit < 0xd800 || unit > 0xdfff) return at + 5
  if (unit > 0xdbff || !text.startsWith('\\u', at + 6)) reader.refuseSurrogate(at)
  const second = readUnit(reader, at + 6)
  if (second < 0xdc00 || second > 0xdfff) reader.refuseSurrogate(at)
  return at + 11
}

function readUnit(reader: JsonReader, at: number): number {
  const hex = reader.text.slice(at + 2, at + 6)
  if (!/^[\da-f]{4}$/i.test(hex)) reader.refuseSyntax('four hexadecimal digits after `\\u`', at + 2)
  return Number.parseInt(hex, 16)
}
