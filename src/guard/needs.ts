// What a pattern of words cannot do without, found for all patterns in one pass over a text: by the
// hash of three letters, and only where that fits by the words themselves. One expression for each
// pattern took most of the time that an ordinary text costs. Pure.

import type { Span } from './chain.ts'

/** Words in small letters, of three or more, one of which every match has. `at`: sticky, what must
 * hold besides where one of them begins. */
export interface NeededWords {
  readonly words: readonly string[]
  readonly at?: RegExp
}

/** An expression: only for words that are not ASCII, so that it is not asked about plain texts. */
export type Needs = NeededWords | { readonly beyondAscii: RegExp }

/** Every combination of one word of each list; the words of a list are separated by `|`. */
export function anyOf(...lists: readonly string[]): NeededWords {
  let words = ['']
  for (const list of lists)
    words = words.flatMap((begun) => list.split('|').map((next) => begun + next))
  return { words }
}

/** Words that count only where `at` holds. */
export function anyOfAt(list: string, at: RegExp): NeededWords {
  return { ...anyOf(list), at: new RegExp(at, 'y') }
}

interface Entry {
  readonly word: string
  readonly at: RegExp | undefined
  readonly index: number
}

/** Low bits of the last three letters. */
const HASHES = 0x8000

function hashOf(word: string): number {
  let hash = 0
  for (let at = 0; at < 3; at++) hash = ((hash << 5) ^ word.charCodeAt(at)) & (HASHES - 1)
  return hash
}

/** What it costs to try a word, in characters that are only searched. */
const TRIED_COST = 2

export class NeedsFinder {
  readonly #isFirst = new Uint8Array(HASHES)
  readonly #entries = new Map<number, Entry[]>()
  readonly #expressions: { readonly index: number; readonly expression: RegExp }[] = []
  readonly #reaches: readonly number[]

  /** `reach`: how far a match that has what it needs goes to either side of it. */
  constructor(all: readonly { readonly needs: Needs; readonly reach: number }[]) {
    this.#reaches = all.map(({ reach }) => reach)
    for (const [index, { needs }] of all.entries()) {
      if ('beyondAscii' in needs)
        this.#expressions.push({ index, expression: new RegExp(needs.beyondAscii, 'g') })
      else for (const word of needs.words) this.#add({ word, at: needs.at, index })
    }
  }

  #add(entry: Entry): void {
    if (entry.word.length < 3) throw new RangeError(`${entry.word} is too short to be looked for`)
    const hash = hashOf(entry.word)
    this.#isFirst[hash] = 1
    this.#entries.set(hash, [...(this.#entries.get(hash) ?? []), entry])
  }

  /** By the index of a pattern: the parts of `small` where it can match. */
  windowsIn(small: string, isPlain: boolean, budget: { charsLeft: number }): Map<number, Span[]> {
    const windows = new Map<number, Span[]>()
    const isFirst = this.#isFirst
    let hash = 0
    for (let at = 0; at < small.length; at++) {
      hash = ((hash << 5) ^ small.charCodeAt(at)) & (HASHES - 1)
      if (isFirst[hash] === 1 && at >= 2) this.#try({ small, windows, budget }, at - 2, hash)
    }
    if (isPlain) return windows
    for (const { index, expression } of this.#expressions) {
      expression.lastIndex = 0
      budget.charsLeft -= small.length
      for (let found = expression.exec(small); found !== null; found = expression.exec(small))
        this.#widen({ small, windows, budget }, found.index, index)
    }
    return windows
  }

  #try(search: Search, place: number, hash: number): void {
    for (const { word, at, index } of this.#entries.get(hash) as Entry[]) {
      search.budget.charsLeft -= TRIED_COST
      if (!search.small.startsWith(word, place)) continue
      if (at !== undefined) {
        search.budget.charsLeft -= TRIED_COST
        at.lastIndex = place
        if (!at.test(search.small)) continue
      }
      this.#widen(search, place, index)
    }
  }

  #widen({ small, windows }: Search, place: number, index: number): void {
    const reach = this.#reaches[index] as number
    const end = Math.min(small.length, place + reach)
    const spans = windows.get(index)
    const last = spans?.at(-1)
    if (spans === undefined) windows.set(index, [{ start: Math.max(0, place - reach), end }])
    else if (last !== undefined && place - reach <= last.end)
      spans[spans.length - 1] = { start: last.start, end }
    else spans.push({ start: place - reach, end })
  }
}

interface Search {
  readonly small: string
  readonly windows: Map<number, Span[]>
  readonly budget: { charsLeft: number }
}
