// What can be read in the bytes of a long base64 string, such as a picture: all of it if the bytes are
// UTF-8 text, otherwise the printed stretches among them, also of UTF-16. The string is decoded once, and
// of noise only every twelfth byte is looked at. Pure; used by inspect-answer.ts.

import { decodeBase64Bytes, latin1 } from '@sluice/policy/readers/base64'
import { hexBytes } from '@sluice/policy/readers/encoded-runs'
import { readUtf8 } from '@sluice/policy/readers/percent'
import { ANSWER_CHARS_MAX, BINARY_CHARS_MIN } from './limits.ts'

/** A shorter stretch says nothing. */
const STRETCH_CHARS_MIN = 12
/** Characters or bytes that must look like it before all of them are tried. */
const PROBED = 64

/** A beginning of a string that is base64 as a whole. */
const BINARY = /^[A-Za-z0-9+/]+$/
const PRINTED = /[\t\n\r\x20-\x7e]{12,}/g

/** The bytes of a long string that is base64 as a whole, with or without its padding. */
export function binaryIn(text: string): Uint8Array | undefined {
  if (text.length < BINARY_CHARS_MIN || !BINARY.test(text.slice(0, PROBED))) return undefined
  if (text.includes('-') || text.includes('_')) return undefined
  const bytes = decodeBase64Bytes(text)
  return bytes.length === 0 ? undefined : bytes
}

/** Where base64 may begin among the letters of it. */
const ALIGNMENTS = 4
const HEX = /^[0-9a-fA-F]+$/

/** One for each way to read `text`, whose bytes are `bytes`: in every alignment, and as hex, whose digits
 * are letters of base64 too. Undefined for a text that is longer than is looked through. */
export function* findPrintedTexts(text: string, bytes: Uint8Array): Generator<string | undefined> {
  for (let alignment = 0; alignment < ALIGNMENTS; alignment++) yield printedText(bytes, alignment)
  if (!HEX.test(text.slice(0, PROBED)) || !HEX.test(text)) return
  for (const from of [0, 1]) yield printedText(hexBytes(text, from), 0)
}

/** Reads the bytes as if the base64 began `alignment` letters later. */
function printedText(bytes: Uint8Array, alignment: number): string | undefined {
  const view = { bytes, from: (6 * alignment) >> 3, bits: (6 * alignment) & 7 }
  const length = bytes.length - view.from - (view.bits > 0 ? 1 : 0)
  if (!looksLikeText(view, length)) return printedStretches(view, length)
  return length > ANSWER_CHARS_MAX ? undefined : textIn(cut(view, 0, length))
}

/** The text in bytes that were read as Latin-1: all of it if it is text, otherwise its printed stretches. */
export function textIn(bytes: string): string {
  if (!isText(bytes)) return (bytes.match(PRINTED) ?? []).join('\n')
  return /[\x80-\xff]/.test(bytes) ? readUtf8(bytes) : bytes
}

/** UTF-8 without control characters. By hand: an expression keeps a place for every character. */
function isText(bytes: string): boolean {
  let following = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes.charCodeAt(at)
    if (following > 0) {
      if (byte >> 6 !== 2) return false
      following--
    } else if (byte >= 0x80) {
      if (byte < 0xc2 || byte > 0xf4) return false
      following = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
    } else if (IS_PRINTED[byte] === 0) return false
  }
  return following === 0
}

interface ShiftedBytes {
  readonly bytes: Uint8Array
  readonly from: number
  readonly bits: number
}

function byteAt({ bytes, from, bits }: ShiftedBytes, at: number): number {
  const place = from + at
  const pair = ((bytes[place] as number) << 8) | (bytes[place + 1] ?? 0)
  return (pair >> (8 - bits)) & 0xff
}

function cut(view: ShiftedBytes, from: number, end: number): string {
  const part = new Uint8Array(end - from)
  for (let at = 0; at < part.length; at++) part[at] = byteAt(view, from + at)
  return latin1(part)
}

function looksLikeText(view: ShiftedBytes, length: number): boolean {
  for (let at = 0; at < Math.min(length, PROBED); at++) {
    const byte = byteAt(view, at)
    if (byte < 0x80 && IS_PRINTED[byte] === 0) return false
  }
  return true
}

/** A stretch that has no room up to the byte which is looked at first cannot begin before it. */
function printedStretches(view: ShiftedBytes, length: number): string {
  const parts: string[] = []
  let start = 0
  while (start + STRETCH_CHARS_MIN <= length) {
    let at = start + STRETCH_CHARS_MIN - 1
    while (at >= start && MAY_STAND[byteAt(view, at)] === 1) at--
    if (at < start) {
      let end = start + STRETCH_CHARS_MIN
      while (end < length && MAY_STAND[byteAt(view, end)] === 1) end++
      // A single zero between two letters is passed over: so UTF-16 has them.
      for (const part of cut(view, start, end).split(/\0{2,}/)) {
        const letters = part.replaceAll('\0', '')
        if (letters.length >= STRETCH_CHARS_MIN) parts.push(letters)
      }
      at = end
    }
    start = at + 1
  }
  return parts.join('\n')
}

const IS_PRINTED = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number((byte >= 0x20 && byte <= 0x7e) || byte === 0x09 || byte === 0x0a || byte === 0x0d),
)
const MAY_STAND = IS_PRINTED.map((isPrinted, byte) => (byte === 0 ? 1 : isPrinted))
