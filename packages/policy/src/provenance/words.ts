// Words of folded text, and adjacent pairs of them, in a table of hashes: a value of several words is
// found only where they stand one after the other. Allocates nothing: words are places in the text, and
// a pair is made of the hashes of its words.

import { PROSE } from './field-flags.ts'
import { isWordUnit } from './fold-text.ts'
import type { Hasher } from './hash.ts'
import type { HashTable } from './hash-table.ts'
import { WORD_CHARS } from './limits.ts'

/** Tags keep hashes of different things apart; session-provenance.ts has the others. */
const WORD = 2
const PAIR = 3

/** Words and adjacent pairs of words. Returns how many words it has. */
export function addWords(hash: Hasher, table: HashTable, folded: string): number {
  let count = 0
  let before = -1
  let [beforeLow, beforeHigh] = [0, 0]
  for (let end = 0; ; before = end) {
    const start = findWord(folded, end)
    if (start === folded.length) return count
    end = hash.hashWord(WORD, folded, start)
    const { low, high } = hash
    table.add(low, high, PROSE)
    if (before !== -1) table.add(pairLow(beforeLow, low), pairHigh(beforeHigh, high), PROSE)
    beforeLow = low
    beforeHigh = high
    count += end - start <= WORD_CHARS ? 1 : Math.ceil((end - start) / WORD_CHARS)
  }
}

/** The number of the last answer in which all words of the value stand one after the other; exact for pairs. 0
 * if there is none. */
export function standsIn(hash: Hasher, table: HashTable, folded: string): number {
  let before = -1
  let last = 0
  let [beforeLow, beforeHigh] = [0, 0]
  for (let end = 0; ; before = end) {
    const start = findWord(folded, end)
    if (start === folded.length) return last
    end = hash.hashWord(WORD, folded, start)
    const { low, high } = hash
    const answer =
      before === -1
        ? table.answerOf(low, high)
        : table.answerOf(pairLow(beforeLow, low), pairHigh(beforeHigh, high))
    if (answer === 0) return 0
    last = last === 0 ? answer : Math.min(last, answer)
    beforeLow = low
    beforeHigh = high
  }
}

/** Where the next word starts; the length if there is none. */
function findWord(text: string, from: number): number {
  let at = from
  while (at < text.length && !isWordUnit(text.charCodeAt(at))) at++
  return at
}

function pairLow(before: number, low: number): number {
  return Math.imul(before ^ PAIR, 0x9e3779b1) + low
}

function pairHigh(before: number, high: number): number {
  return Math.imul(before ^ PAIR, 0xc2b2ae3d) ^ high
}
