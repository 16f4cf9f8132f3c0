// Runs of base64, hex and binary digits in a text, and what they say. Where a run is glued to other
// letters of its alphabet, every alignment is a reading. Decoding has a budget: a run that does not
// fit is said to be so, and counts as found. Linear. Pure.

import { decodeBase64, isBase64Letter, latin1 } from './base64.ts'

/** Characters that may still be decoded. */
export interface DecodeBudget {
  charsLeft: number
}

export interface EncodedRun {
  readonly encoding: 'base64' | 'hex' | 'binary'
  readonly text: string
  readonly start: number
  readonly end: number
}

/** The least length of base64 or hex: a shorter run counts as a word. */
const RUN_CHARS_MIN = 24
/** Eight bytes. */
const BINARY_BEGINS = /\b[01]{8}(?: [01]{8}){7}\b/g
/** How it goes on. Each is matched once per line: one pattern with an open repetition of lines would use
 * regex stack for every character and overflow on a long text (F7). A line of base64 may be folded, as
 * mail does: line breaks between long lines belong to the run, and one shorter line at the end. */
const REST_OF_LINE = /[A-Za-z0-9+/_-]*/y
const NEXT_LINE = /\r?\n[A-Za-z0-9+/_-]{24}[A-Za-z0-9+/_-]*/y
const LAST_LINE = /(?:\r?\n[A-Za-z0-9+/_-]{1,76})?={0,2}/y
const NEXT_BYTE = / [01]{8}\b/y

export function* findEncodedRuns(text: string): Generator<EncodedRun> {
  if (text.length < RUN_CHARS_MIN) return
  // The patterns are shared, and a run may be nested: the place is kept here.
  let binary = findBinary(text, 0)
  for (let from = 0; ; ) {
    if (binary < from) binary = findBinary(text, from)
    const letters = findLetters(text, from)
    const start = Math.min(letters, binary)
    if (start === text.length) return
    const isBinary = binary < letters
    let end = start + (isBinary ? BINARY_CHARS_MIN : RUN_CHARS_MIN)
    if (isBinary) end = skipAll(NEXT_BYTE, text, end)
    else end = skip(LAST_LINE, text, skipAll(NEXT_LINE, text, skip(REST_OF_LINE, text, end)))
    from = end
    const run = text.slice(start, end).replace(/[\r\n=]/g, '')
    if (isBinary) yield { encoding: 'binary', text: run, start, end }
    else if (/^[0-9a-fA-F]+$/.test(run)) yield { encoding: 'hex', text: run, start, end }
    else yield { encoding: 'base64', text: run, start, end }
  }
}

/** Where letters of base64 begin that are enough for a run; the length of the text where none do. From
 * the end of such a run backwards: in prose only the letters up to the last gap are looked at. */
function findLetters(text: string, from: number): number {
  let start = from
  while (start + RUN_CHARS_MIN <= text.length) {
    let at = start + RUN_CHARS_MIN - 1
    while (at >= start && isBase64Letter(text.charCodeAt(at))) at--
    if (at < start) return start
    start = at + 1
  }
  return text.length
}

const BINARY_CHARS_MIN = 8 * 9 - 1

function findBinary(text: string, from: number): number {
  BINARY_BEGINS.lastIndex = from
  return BINARY_BEGINS.exec(text)?.index ?? text.length
}

/** The offset after what the sticky `pattern` matches at `from`. */
function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}

function skipAll(pattern: RegExp, text: string, from: number): number {
  for (let end = from; ; ) {
    const next = skip(pattern, text, end)
    if (next === end) return end
    end = next
  }
}

const WIDE = /(?:\0[ -~]){8}/

/** What a run costs in each alignment, and a character of it with what is then searched, in characters
 * that are only searched. */
const RUN_COST = 64
const DECODED_COST = 3

/** What a run holds, one reading for each alignment; undefined once the budget is used up. */
export function* decodeRun(
  { encoding, text }: EncodedRun,
  budget: DecodeBudget,
): Generator<string | undefined> {
  const alignments = encoding === 'base64' ? 4 : encoding === 'hex' ? 2 : 1
  for (let from = 0; from < alignments; from++) {
    budget.charsLeft -= RUN_COST + DECODED_COST * text.length
    if (budget.charsLeft < 0) {
      yield undefined
      return
    }
    const inside =
      encoding === 'base64'
        ? decodeBase64(text.slice(from))
        : latin1(encoding === 'hex' ? hexBytes(text, from) : binaryBytes(text))
    yield inside
    // UTF-16 in either order has a zero beside every letter.
    if (WIDE.test(inside)) yield inside.replaceAll('\0', '')
  }
  // Digits are letters of base64 too.
  if (encoding === 'hex') yield* decodeRun({ encoding: 'base64', text, start: 0, end: 0 }, budget)
}

/** From the digit `from` on; the text has nothing else. */
export function hexBytes(text: string, from: number): Uint8Array {
  const bytes = new Uint8Array((text.length - from) >> 1)
  for (let at = 0; at < bytes.length; at++) {
    const place = from + 2 * at
    bytes[at] = (digitOf(text.charCodeAt(place)) << 4) | digitOf(text.charCodeAt(place + 1))
  }
  return bytes
}

function digitOf(code: number): number {
  return code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57
}

function binaryBytes(text: string): Uint8Array {
  return Uint8Array.from(text.trim().split(' '), (byte) => Number.parseInt(byte, 2))
}
