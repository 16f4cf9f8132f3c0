// Reports what is wrong, and where, in a string that JSON.parse refused or that has a lone
// surrogate. Slow, and called once: its input is always refused. Pure; used by read-json.ts.

import { BACKSLASH, QUOTE } from './characters.ts'
import type { JsonReader } from './read-json.ts'

/** `start` is at the opening quote. */
export function refuseString(reader: JsonReader, start: number): never {
  const { text } = reader
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) break
    if (code === BACKSLASH) at = checkEscape(reader, at)
    else if (code < 0x20) reader.refuseSyntax('control characters to be escaped', at)
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
