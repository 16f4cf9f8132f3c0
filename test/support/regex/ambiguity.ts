// Whether the time of a regular expression can grow faster than its text, decided on its automaton. Exponential:
// a loop that reads the same characters in two ways. Polynomial: two loops, one behind the other, that can share
// the same characters in many ways; the search for the first match, which begins at every character, is such a
// loop too. See Weideman et al., "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers".

import { Automaton } from './automaton.ts'
import { findComponents } from './components.ts'

export interface Ambiguity {
  readonly growth: 'exponential' | 'polynomial'
  /** The parts of the pattern that read the same characters. */
  readonly parts: readonly [string, string]
}

/** Combined states that are looked at before a pattern counts as too large. */
const STATES_MAX = 3_000_000

/** The worst that is found, or undefined if the time grows with the text. Found once for each expression. */
export function findAmbiguity(source: string, flags: string): Ambiguity | undefined {
  const key = `/${source}/${flags}`
  if (!known.has(key)) known.set(key, analyse(source, flags))
  return known.get(key)
}

const known = new Map<string, Ambiguity | undefined>()

function analyse(source: string, flags: string): Ambiguity | undefined {
  const looped = Automaton.of(source, flags, 'loops')
  const exponential = looped && new Analysis(looped).findExponential()
  if (exponential !== undefined) return exponential
  const expanded = Automaton.of(source, flags, 'expanded')
  return expanded && new Analysis(expanded).findPolynomial()
}

/** Sets of states that are followed to prove that a match cannot fail. */
const THREADS_MAX = 1_000

/** The states that one match can be in, in order. An analysis has one object for each set of them. */
interface Threads {
  readonly number: number
  readonly states: readonly number[]
  /** By letter, as far as they are known. */
  readonly next: (Threads | undefined)[]
}

/** A position that has just consumed a letter. */
interface State {
  readonly position: number
  readonly letter: number
}

class Analysis {
  readonly #automaton: Automaton
  readonly #letters: number
  /** By state and letter: an array, because a map takes most of the time. */
  readonly #next: (readonly number[] | undefined)[]
  readonly #done = new Map<number, boolean>()
  readonly #ends = new Map<number, boolean>()
  readonly #begins = new Map<number, readonly number[]>()
  readonly #threads = new Map<string, Threads>()
  /** Loops by state, and their states. */
  readonly #loopOf = new Map<number, number>()
  readonly #loops: number[][] = []
  #states = 0

  constructor(automaton: Automaton) {
    this.#automaton = automaton
    this.#letters = automaton.letters.length
    this.#next = new Array(automaton.positions.length * this.#letters ** 2)
    this.#findLoops()
  }

  findExponential(): Ambiguity | undefined {
    for (const loop of this.#loops) {
      const found = this.#findTwoWays(loop)
      if (found !== undefined) return { growth: 'exponential', parts: this.#sources(found) }
    }
    return undefined
  }

  findPolynomial(): Ambiguity | undefined {
    for (const first of this.#loops) {
      const reachable = this.#findReachable(first)
      for (const second of this.#loops) {
        if (first === second || !second.some((state) => reachable.has(state))) continue
        const found = this.#findShared(first, second)
        if (found !== undefined) return { growth: 'polynomial', parts: this.#sources(found) }
      }
    }
    for (const loop of this.#canBeginLater() ? this.#loops : []) {
      for (const state of loop) {
        if (this.#isCertain(state)) continue
        if (
          this.#isFoundFromEverywhere(state, this.#threadsOf([])) &&
          (this.#region(state) !== 0 ||
            this.#isFoundFromEverywhere(state, this.#threadsOf([state])))
        )
          return { growth: 'polynomial', parts: ['the search', this.#sourceOf(state)] }
      }
    }
    return undefined
  }

  /** The loops that can be taken back: what lies behind a state that is done is never tried again. */
  #findLoops(): void {
    const { positions } = this.#automaton
    // Positions first: most patterns are long lists of words with a short loop somewhere.
    const looping = findComponents(positions.keys(), (at) => this.#automaton.targets(at)).filter(
      ([only = 0, ...others]) => others.length > 0 || this.#automaton.targets(only).includes(only),
    )
    const nodes = looping
      .flat()
      .flatMap((position) =>
        [...(positions[position]?.letters ?? [])].map((letter) =>
          this.#state({ position, letter }),
        ),
      )
    const inLoop = new Set(nodes)
    const isOpen = (state: number) =>
      inLoop.has(state) && (this.#region(state) !== 0 || !this.#isDone(state))
    const components = findComponents(nodes.filter(isOpen), (state) =>
      this.#allNext(state).filter((to) => this.#region(to) === this.#region(state) && isOpen(to)),
    )
    for (const component of components) {
      const [only] = component
      if (component.length === 1 && only !== undefined && !this.#allNext(only).includes(only))
        continue
      for (const state of component) this.#loopOf.set(state, this.#loops.length)
      this.#loops.push(component)
    }
  }

  /** A pair of states of the loop that both lie on a circle from one state to itself. */
  #findTwoWays(loop: readonly number[]): [number, number] | undefined {
    const number = this.#loopOf.get(loop[0] ?? -1)
    const isInside = (state: number) => this.#loopOf.get(state) === number && !this.#isDone(state)
    const count = this.#automaton.positions.length * this.#letters
    const nextPairs = (pair: number): number[] => {
      this.#spend()
      const [left, right] = [Math.floor(pair / count), pair % count]
      return this.#stepTogether([left, right]).flatMap(([a = 0, b = 0]) =>
        isInside(a) && isInside(b) ? [a * count + b] : [],
      )
    }
    const diagonal = loop
      .filter((state) => !this.#isDone(state))
      .map((state) => state * count + state)
    for (const component of findComponents(diagonal, nextPairs)) {
      const inside = new Set(component)
      const same = component.filter((pair) => Math.floor(pair / count) === pair % count)
      if (same.length === 0) continue
      const other = component.find((pair) => Math.floor(pair / count) !== pair % count)
      if (other !== undefined) return [Math.floor(other / count), other % count]
      // Two ways between the same two states.
      for (const pair of same) {
        const state = pair % count
        const to = this.#allNext(state).filter((next) => inside.has(next * count + next))
        const twice = to.find((next, at) => to.indexOf(next) !== at)
        if (twice !== undefined) return [state, twice]
      }
    }
    return undefined
  }

  /** Whether a match can begin behind the beginning of the text. */
  #canBeginLater(): boolean {
    for (let before = 0; before < this.#letters; before++)
      for (let letter = 0; letter < this.#letters; letter++)
        if (this.#begin(before, letter).length > 0) return true
    return false
  }

  /** Whether a word leads from the state to itself and to it from the beginning of a match. */
  #isFoundFromEverywhere(state: number, threads: Threads): boolean {
    const loop = this.#loopOf.get(state)
    // The search is undefined until it begins a match. The rest is what this match could be in instead.
    const begin = { searching: undefined, looping: state, rest: threads }
    const seen = new Set<string | number>()
    const open: { searching: number | undefined; looping: number; rest: Threads }[] = [begin]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      this.#spend()
      const before = this.#parts(at.looping).letter
      for (let letter = 0; letter < this.#letters; letter++) {
        const reached = this.#step(at.looping, letter).filter((to) => this.#loopOf.get(to) === loop)
        if (reached.length === 0) continue
        const rest = this.#stepThreads(at.rest, letter)
        if (rest === undefined) continue
        const searching =
          at.searching === undefined
            ? [undefined, ...this.#begin(before, letter)]
            : this.#step(at.searching, letter)
        for (const first of new Set(searching))
          for (const looping of reached) {
            if (first === looping && first === state) return true
            const key = this.#keyOf([first ?? -1, looping], rest)
            if (seen.has(key)) continue
            seen.add(key)
            open.push({ searching: first, looping, rest })
          }
      }
    }
    return false
  }

  /** A number if it can be one: strings take most of the time. States begin at -1. */
  #keyOf(states: readonly number[], rest: Threads): string | number {
    const count = this.#automaton.positions.length * this.#letters + 1
    const key = states.reduce((sum, state) => sum * count + state + 1, rest.number)
    return key <= Number.MAX_SAFE_INTEGER ? key : `${states},${rest.number}`
  }

  #begin(before: number, letter: number): readonly number[] {
    const key = before * this.#letters + letter
    let first = this.#begins.get(key)
    if (first === undefined) {
      first = this.#automaton
        .next(undefined, before, letter)
        .map((position) => this.#state({ position, letter }))
      this.#begins.set(key, first)
    }
    return first
  }

  #threadsOf(states: readonly number[]): Threads {
    const key = `${states}`
    const threads = this.#threads.get(key) ?? { number: this.#threads.size, states, next: [] }
    this.#threads.set(key, threads)
    return threads
  }

  /** All states of a match after one more letter; undefined if one of them can end, and with it the match. */
  #stepThreads(threads: Threads, letter: number): Threads | undefined {
    if (threads.states.length === 0) return threads
    if (!(letter in threads.next)) threads.next[letter] = this.#findNextThreads(threads, letter)
    return threads.next[letter]
  }

  #findNextThreads({ states }: Threads, letter: number): Threads | undefined {
    if (states.some((state) => this.#canEnd(state, letter))) return undefined
    const next = new Set(states.flatMap((state) => this.#step(state, letter)))
    const region = this.#region(states[0] ?? 0)
    const sorted = [...next].filter((state) => this.#region(state) === region).sort((a, b) => a - b)
    return sorted.some((state) => this.#isDone(state)) ? undefined : this.#threadsOf(sorted)
  }

  /** States p and q of two loops, with a word that leads from p to p, from p to q and from q to q. */
  #findShared(first: readonly number[], second: readonly number[]): [number, number] | undefined {
    const isOneMatch = this.#region(first[0] ?? 0) === this.#region(second[0] ?? 0)
    for (const p of first)
      for (const q of second) {
        if (this.#parts(p).letter !== this.#parts(q).letter || this.#isCertain(q)) continue
        if (
          this.#isShared(p, q, this.#threadsOf([])) &&
          (!isOneMatch || this.#isShared(p, q, this.#threadsOf([p])))
        )
          return [p, q]
      }
    return undefined
  }

  #isShared(p: number, q: number, threads: Threads): boolean {
    const [loopP, loopQ] = [this.#loopOf.get(p), this.#loopOf.get(q)]
    const seen = new Set<string | number>()
    const open: { states: readonly number[]; rest: Threads }[] = [
      { states: [p, p, q], rest: threads },
    ]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      this.#spend()
      for (const states of this.#stepTogether(at.states)) {
        const [a = 0, b = 0, c = 0] = states
        if (this.#loopOf.get(a) !== loopP || this.#loopOf.get(c) !== loopQ) continue
        const rest = this.#stepThreads(at.rest, this.#parts(a).letter)
        if (rest === undefined) continue
        if (a === p && b === q && c === q) return true
        const key = this.#keyOf(states, rest)
        if (seen.has(key)) continue
        seen.add(key)
        open.push({ states, rest })
      }
    }
    return false
  }

  /** The states that can follow those of a loop, and they. */
  #findReachable(loop: readonly number[]): ReadonlySet<number> {
    const seen = new Set(loop)
    for (const state of seen) for (const to of this.#allNext(state)) seen.add(to)
    return seen
  }

  /** Whether nothing that follows can make the match fail. */
  #isCertain(state: number): boolean {
    if (this.#region(state) !== 0) return false
    const seen = new Set<Threads>()
    const open = [this.#threadsOf([state])]
    for (let threads = open.pop(); threads !== undefined; threads = open.pop()) {
      if (seen.size > THREADS_MAX || !threads.states.some((each) => this.#canEnd(each)))
        return false
      for (let letter = 0; letter < this.#letters; letter++) {
        const next = this.#stepThreads(threads, letter)
        if (next === undefined || seen.has(next)) continue
        seen.add(next)
        open.push(next)
      }
    }
    return true
  }

  /** With `next` behind it, or at the end of the text. */
  #canEnd(state: number, next?: number): boolean {
    const key = state * (this.#letters + 1) + (next ?? this.#letters)
    let canEnd = this.#ends.get(key)
    if (canEnd === undefined) {
      const { position, letter } = this.#parts(state)
      canEnd = this.#automaton.canEnd(position, letter, next)
      this.#ends.set(key, canEnd)
    }
    return canEnd
  }

  #isDone(state: number): boolean {
    let isDone = this.#done.get(state)
    if (isDone === undefined) {
      const { position, letter } = this.#parts(state)
      isDone = this.#automaton.isDone(position, letter)
      this.#done.set(state, isDone)
    }
    return isDone
  }

  /** All combinations of what can follow with one and the same letter. */
  #stepTogether(states: readonly number[]): number[][] {
    const found: number[][] = []
    for (let letter = 0; letter < this.#letters; letter++) {
      const next = states.map((state) => this.#stepOnce(state, letter))
      if (next.some(({ length }) => length === 0)) continue
      found.push(
        ...next.reduce<number[][]>(
          (rows, after) => rows.flatMap((row) => after.map((to) => [...row, to])),
          [[]],
        ),
      )
    }
    return found
  }

  /** Without the number of ways. */
  #stepOnce(state: number, letter: number): readonly number[] {
    const next = this.#step(state, letter)
    return next.length < 2 ? next : [...new Set(next)]
  }

  #allNext(state: number): number[] {
    const found: number[] = []
    for (let letter = 0; letter < this.#letters; letter++) found.push(...this.#step(state, letter))
    return found
  }

  #step(state: number, letter: number): readonly number[] {
    const key = state * this.#letters + letter
    let next = this.#next[key]
    if (next === undefined) {
      const { position, letter: before } = this.#parts(state)
      next = this.#automaton
        .next(position, before, letter)
        .map((to) => this.#state({ position: to, letter }))
      this.#next[key] = next
    }
    return next
  }

  #state({ position, letter }: State): number {
    return position * this.#letters + letter
  }

  #parts(state: number): State {
    return { position: Math.floor(state / this.#letters), letter: state % this.#letters }
  }

  #region(state: number): number {
    return this.#automaton.positions[this.#parts(state).position]?.region ?? 0
  }

  #sourceOf(state: number): string {
    return this.#automaton.positions[this.#parts(state).position]?.source ?? ''
  }

  #sources([left, right]: [number, number]): [string, string] {
    return [this.#sourceOf(left), this.#sourceOf(right)]
  }

  #spend(): void {
    if (++this.#states > STATES_MAX) throw new Error('too many combined states')
  }
}
