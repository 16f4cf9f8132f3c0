// Runs of base64, hex and binary digits in a text, and what they say. Where a run is glued to other
// letters of its alphabet, every alignment is a reading. Decoding has a budget: a run that does not
// fit is said to be so, and counts as found. Linear. Pure.

import { decodeBase64, latin1 } from './secret-checks.ts'
import type { ViewBudget } from './views.ts'

export interface EncodedRun {
  readonly encoding: 'base64' | 'hex' | 'binary'
  readonly text: string
  readonly start: number
  readonly end: number
}

/** A line of base64 may be folded, as mail does: line breaks between long lines belong to the run. */
const RUNS =
  /[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/_-]{24,})*(?:\r?\n[A-Za-z0-9+/_-]{1,76})?={0,2}|(?:\b[01]{8}\b ?){8,}/g

/** Without one of these there is no run: most texts are settled by it. */
const RUN_BEGINS = /[A-Za-z0-9+/_-]{24}|[01]{8} [01]{8}/

export function* encodedRuns(text: string): Generator<EncodedRun> {
  if (text.length < 24 || !RUN_BEGINS.test(text)) return
  // Each exec starts behind the last run, and the pattern is the generator's own: a run may be nested.
  const runs = new RegExp(RUNS)
  for (let found = runs.exec(text); found !== null; found = runs.exec(text)) {
    const start = found.index
    const end = start + found[0].length
    const run = found[0].replace(/[\r\n=]/g, '')
    if (/^[01]{8}(?: |$)/.test(run)) yield { encoding: 'binary', text: run, start, end }
    else if (/^[0-9a-fA-F]+$/.test(run)) yield { encoding: 'hex', text: run, start, end }
    else yield { encoding: 'base64', text: run, start, end }
  }
}

const WIDE = /(?:\0[ -~]){8}/

/** What a run costs in each alignment, and a character of it with what is then searched, in characters
 * that are only searched. */
const RUN_COST = 48
const DECODED_COST = 2

/** What a run holds, one reading for each alignment; undefined once the budget is used up. */
export function* decodeRun(
  { encoding, text }: EncodedRun,
  budget: ViewBudget,
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

function hexBytes(text: string, from: number): Uint8Array {
  const bytes = new Uint8Array((text.length - from) >> 1)
  for (let at = 0; at < bytes.length; at++)
    bytes[at] = Number.parseInt(text.slice(from + 2 * at, from + 2 * at + 2), 16)
  return bytes
}

function binaryBytes(text: string): Uint8Array {
  return Uint8Array.from(text.trim().split(' '), (byte) => Number.parseInt(byte, 2))
}
