// Tokens of the gate in base64 or hex that something stands between: line breaks of short or quoted
// lines, white space, colons, the columns of a hex dump (F12). The encoded prefix is searched with gaps;
// only if it is found the text is read without them. Linear: the places that are decoded are bounded.

import type { Steps } from '@sluice/policy/core/steps'
import { OWN_TOKEN_PREFIX } from '../../core/own-token-shapes.ts'
import { decodeBase64 } from '../../guard/secret-checks.ts'
import { redactGateTokens } from '../../identity/keys/gate-tokens.ts'
import { SPACED_CHARS_MAX, SPACED_TOKENS_MAX, STEP_CHARS } from './limits.ts'
import { testSteps } from './test-steps.ts'

/** What the prefix is in base64, wherever in a run it begins, without the letters that depend on what
 * stands beside it. */
export const IN_BASE64 = [0, 1, 2].map((before) => {
  const text = Buffer.from(`${'x'.repeat(before)}${OWN_TOKEN_PREFIX}`).toString('base64url')
  const bits = 8 * (before + OWN_TOKEN_PREFIX.length)
  return text.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6))
})
export const IN_HEX = Buffer.from(OWN_TOKEN_PREFIX).toString('hex')

const GAP = '[\\s\\0>*#|"\',:;+\\-]{0,12}'
const withGaps = (word: string): string => [...word].join(GAP)
const SPACED = new RegExp([...IN_BASE64, IN_HEX].map(withGaps).join('|'), 'i')
/** A line of `xxd` or `hexdump -C`: the place, the bytes, the letters. */
const DUMP = /\n[0-9a-fA-F]{7,8}:?[ \t]{1,4}[0-9a-fA-F]{2}/
/** As much of its first line as the pattern reads. */
const DUMP_HEAD_CHARS = 16
const DUMP_LINE =
  /^[0-9a-f]{7,8}:?[ \t]{1,4}((?:[0-9a-f]{2,4}[ \t]{1,3}){1,16}|(?:[0-9a-f]{2,4} ){0,15}[0-9a-f]{2,4}$)/i

/** What may still be looked at in one message. */
export interface SpacedBudget {
  placesLeft: number
  charsLeft: number
}

export function newSpacedBudget(): SpacedBudget {
  return { placesLeft: SPACED_TOKENS_MAX, charsLeft: SPACED_CHARS_MAX }
}

/** Letters of a text without what stands between them, and where each is. */
interface SqueezedText {
  readonly letters: string
  readonly places: readonly number[]
  readonly isDump?: boolean
}

interface Cut {
  readonly start: number
  readonly end: number
}

/** The text without tokens that are spelt with gaps; undefined if the budget does not allow to look. */
export function* stripSpaced(
  text: string,
  removed: string,
  budget: SpacedBudget,
): Steps<string | undefined> {
  const cuts: Cut[] = []
  const readings: (() => SqueezedText)[] = []
  if (yield* testSteps(SPACED, text)) {
    readings.push(
      () => squeeze(text, NO_GAP),
      () => squeeze(text, HEX_DIGIT),
    )
    if (/\n[ \t]*[+-]/.test(text)) readings.push(() => squeeze(text, NO_DIFF_SIGN))
  }
  if (DUMP.test(`\n${text.slice(0, DUMP_HEAD_CHARS)}`) || (yield* testSteps(DUMP, text)))
    readings.push(() => squeezeDump(text))
  for (const read of readings) {
    budget.charsLeft -= text.length
    if (budget.charsLeft < 0) return undefined
    if (text.length > STEP_CHARS) yield
    cutTokens(read(), budget, cuts, text)
    if (budget.placesLeft < 0) return undefined
  }
  return cut(text, cuts, removed)
}

const NO_GAP = /[^\s\0>*#|"',:;]/g
const HEX_DIGIT = /[0-9a-fA-F]/g
/** A diff has a sign before each line, which is a letter of base64 too. */
const NO_DIFF_SIGN = /(?<!\n[ \t]{0,8})[\w+/=-]|(?<=\n[ \t]{0,8})[\w/=]/g

function squeeze(text: string, letter: RegExp): SqueezedText {
  const places: number[] = []
  const letters: string[] = []
  for (const { 0: one, index } of text.matchAll(letter)) {
    letters.push(one)
    places.push(index)
  }
  return { letters: letters.join(''), places }
}

function squeezeDump(text: string): SqueezedText {
  const letters: string[] = []
  const places: number[] = []
  let from = 0
  for (const line of text.split('\n')) {
    const bytes = DUMP_LINE.exec(line)
    if (bytes !== null) {
      const begin = from + bytes[0].length - (bytes[1] as string).length
      for (const { 0: digit, index } of (bytes[1] as string).matchAll(/\S/g)) {
        letters.push(digit)
        places.push(begin + index)
      }
    }
    from += line.length + 1
  }
  return { letters: letters.join(''), places, isDump: true }
}

/** As much as the longest token takes in hex. */
const WINDOW_CHARS = 640
const BEGINNINGS: readonly { readonly word: string; readonly before: number }[] = [
  ...IN_BASE64.map((word, before) => ({ word, before })),
  { word: IN_HEX, before: -1 },
]

/** Adds the places of tokens; in a dump to the end of the line, where its letters stand. */
function cutTokens(
  { letters, places, isDump }: SqueezedText,
  budget: SpacedBudget,
  cuts: Cut[],
  text: string,
): void {
  for (const { word, before } of BEGINNINGS) {
    const all = before < 0 ? letters.toLowerCase() : letters
    for (let at = all.indexOf(word); at >= 0; ) {
      if (--budget.placesLeft < 0) return
      const length = tokenLength(all.slice(at, at + WINDOW_CHARS), before)
      if (length > 0) {
        const last = places[Math.min(at + length, places.length) - 1] as number
        const lineEnd = isDump === true ? text.indexOf('\n', last) : last + 1
        const end = lineEnd < 0 ? text.length : lineEnd
        cuts.push({ start: places[at] as number, end })
      }
      at = all.indexOf(word, at + Math.max(length, 1))
    }
  }
}

/** How many letters of `run` a token takes that begins with them; 0 if none does. */
function tokenLength(run: string, before: number): number {
  const isHex = before < 0
  const alphabet = isHex ? /^[0-9a-f]*/ : /^[\w+/-]*/
  const own = alphabet.exec(run)?.[0] ?? ''
  // The first letter may share its bits with what stands before it: it is known.
  const lead = isHex ? 0 : Math.ceil((8 * before) / 6)
  const candidate = isHex
    ? Buffer.from(own, 'hex').toString('latin1')
    : `s${decodeBase64('A'.repeat(lead) + own).slice(before + 1)}`
  const left = redactGateTokens(candidate)
  if (left === candidate || !left.startsWith(`${OWN_TOKEN_PREFIX}removed`)) return 0
  const chars = candidate.length - (left.length - `${OWN_TOKEN_PREFIX}removed`.length)
  return isHex ? 2 * chars : Math.ceil(((before + chars) * 8) / 6) - lead
}

function cut(text: string, cuts: readonly Cut[], removed: string): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end } of [...cuts].sort((a, b) => a.start - b.start)) {
    if (start >= from) parts.push(text.slice(from, start), removed)
    from = Math.max(from, end)
  }
  return from === 0 ? text : parts.join('') + text.slice(from)
}
