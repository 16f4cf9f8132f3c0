// What a pattern of words cannot do without, found for all patterns in one pass over a text: by the
// hash of three letters, and only where that fits by the words themselves. One expression for each
// pattern took most of the time that an ordinary text costs. Pure.

import type { TextSpan } from './chain.ts'

/** Words in small letters, one of which every match has: of three or more, or of two that are not
 * ASCII. `at`: sticky, what must hold besides where one of them begins. */
export interface PatternNeeds {
  readonly words: readonly string[]
  readonly at?: RegExp
}

/** Every combination of one word of each list; a short list is one text, with `|` between its words. */
export function anyOf(...lists: readonly (string | readonly string[])[]): PatternNeeds {
  let words = ['']
  for (const list of lists) {
    const nexts = typeof list === 'string' ? list.split('|') : list
    words = words.flatMap((begun) => nexts.map((next) => begun + next))
  }
  return { words }
}

/** Words that count only where `at` holds. */
export function anyOfAt(list: string, at: RegExp): PatternNeeds {
  return { ...anyOf(list), at: new RegExp(at, 'y') }
}

const ASCII_MAX = 0x7f

interface Entry {
  readonly word: string
  readonly at: RegExp | undefined
  readonly index: number
}

/** Low bits of the last two or three letters. */
const HASHES = 0x8000

function hashOf(letters: string): number {
  let hash = 0
  for (let at = 0; at < letters.length; at++)
    hash = ((hash << 5) ^ letters.charCodeAt(at)) & (HASHES - 1)
  return hash
}

/** What it costs to try a word, in characters that are only searched. */
const TRIED_COST = 2

export class NeedsFinder {
  readonly #isThree = new Uint8Array(HASHES)
  readonly #isPair = new Uint8Array(HASHES)
  /** The entries by the hash of their first letters; words of two letters have a number that no hash is. */
  readonly #entries = new Map<number, Entry[]>()
  readonly #reaches: readonly number[]

  /** `reach`: how far a match that has what it needs goes to either side of it. */
  constructor(all: readonly { readonly needs: PatternNeeds; readonly reach: number }[]) {
    this.#reaches = all.map(({ reach }) => reach)
    for (const [index, { needs }] of all.entries())
      for (const word of needs.words) this.#add({ word, at: needs.at, index })
  }

  #add(entry: Entry): void {
    const { word } = entry
    const isPair = word.length === 2 && word.charCodeAt(1) > ASCII_MAX
    if (word.length < 3 && !isPair) throw new RangeError(`${word} is too short to be looked for`)
    const hash = hashOf(word.slice(0, 3))
    const filter = isPair ? this.#isPair : this.#isThree
    filter[hash] = 1
    const key = isPair ? HASHES + hash : hash
    this.#entries.set(key, [...(this.#entries.get(key) ?? []), entry])
  }

  /** The parts of `small` where each pattern can match, by the index of the pattern. */
  windowsIn(small: string, budget: { charsLeft: number }): Map<number, TextSpan[]> {
    const search = { small, windows: new Map<number, TextSpan[]>(), budget }
    const isThree = this.#isThree
    let hash = 0
    let before = 0
    for (let at = 0; at < small.length; at++) {
      const code = small.charCodeAt(at)
      hash = ((hash << 5) ^ code) & (HASHES - 1)
      if (isThree[hash] === 1 && at >= 2) this.#try(search, at - 2, hash)
      if (code > ASCII_MAX) {
        const pair = ((before << 5) ^ code) & (HASHES - 1)
        if (this.#isPair[pair] === 1) this.#try(search, at - 1, HASHES + pair)
      }
      before = code
    }
    return search.windows
  }

  #try(search: NeedsSearch, place: number, hash: number): void {
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

  #widen({ small, windows }: NeedsSearch, place: number, index: number): void {
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

interface NeedsSearch {
  readonly small: string
  readonly windows: Map<number, TextSpan[]>
  readonly budget: { charsLeft: number }
}
