// Seed phrases of wallets (BIP-39): twelve or more words of the standard's English list in a row, whatever
// their checksum. The list (seed-words.json) has the first four letters of each word, which the standard
// makes unique. 100 MB of documentation have at most seven such rows. One pass. Pure.

import type { TextSpan } from './chain.ts'
import prefixes from './seed-words.json' with { type: 'json' }

/** Twelve words in a row, whatever they are: for a test. */
export const SEED_BEGINNING = /(?<![A-Za-z])[a-z]{3,8}(?:[ ,\n]{1,3}[a-z]{3,8}){11}/

const WORDS_MIN = 12

/** Rows of words of the list, each as a whole. */
export function* findSeedPhrases(text: string): Generator<TextSpan> {
  let words = 0
  const place = { start: 0, end: 0 }
  for (let at = 0; at <= text.length; ) {
    const start = at
    let prefix = 0
    for (; isSmall(text.charCodeAt(at)); at++)
      if (at < start + PREFIX_LETTERS) prefix = prefix * BASE + text.charCodeAt(at) - A + 1
    const isOfList = at > start && isWordAt(text, start, at) && PREFIX_NUMBERS.has(prefix)
    const isInRow = isOfList && start - place.end <= GAP_MAX
    const isGapHere = at === start && at < text.length && isGap(text.charCodeAt(at))
    if (!isInRow && !isGapHere) {
      if (words >= WORDS_MIN) yield { ...place }
      words = 0
    }
    if (isOfList) {
      if (words === 0) place.start = start
      place.end = at
      words++
    }
    if (at === start) at++
  }
}

const A = 0x61
const Z = 0x7a
const PREFIX_LETTERS = 4
/** Letters of a prefix as digits: none is 0. */
const BASE = 27
const WORD_LETTERS_MIN = 3
const WORD_LETTERS_MAX = 8
/** Characters between two words. */
const GAP_MAX = 3

function isSmall(code: number): boolean {
  return code >= A && code <= Z
}

function isGap(code: number): boolean {
  return code === 0x20 || code === 0x2c || code === 0x0a
}

/** Whether the small letters from `start` to `end` are a word; a capital beside them makes them part of another. */
function isWordAt(text: string, start: number, end: number): boolean {
  const length = end - start
  if (length < WORD_LETTERS_MIN || length > WORD_LETTERS_MAX) return false
  return !isCapital(text.charCodeAt(start - 1)) && !isCapital(text.charCodeAt(end))
}

function isCapital(code: number): boolean {
  return code >= 0x41 && code <= 0x5a
}

const PREFIX_NUMBERS: ReadonlySet<number> = new Set(
  prefixes.flatMap((line) => line.split(' ').map(toNumber)),
)

function toNumber(prefix: string): number {
  return [...prefix].reduce((sum, letter) => sum * BASE + letter.charCodeAt(0) - A + 1, 0)
}
