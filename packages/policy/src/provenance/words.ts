// Words of folded text, and hashes of adjacent pairs of them. Allocates nothing: words are places in the
// text, and a pair is made of the hashes of its words.

import { isIdeograph, isWordUnit } from './fold-text.ts'

const PAIR = 3

/** Where the next word starts; the length if there is none. */
export function findWord(text: string, from: number): number {
  let at = from
  while (at < text.length && !isWordUnit(text.charCodeAt(at))) at++
  return at
}

export function findWordEnd(text: string, start: number): number {
  let at = start
  let unit = text.charCodeAt(at)
  if (isIdeograph(unit)) return at + 1
  do {
    at++
    unit = at < text.length ? text.charCodeAt(at) : 0
  } while (isWordUnit(unit) && !isIdeograph(unit))
  return at
}

export function pairLow(before: number, low: number): number {
  return Math.imul(before ^ PAIR, 0x9e3779b1) + low
}

export function pairHigh(before: number, high: number): number {
  return Math.imul(before ^ PAIR, 0xc2b2ae3d) ^ high
}
