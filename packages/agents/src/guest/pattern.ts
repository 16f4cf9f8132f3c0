// Regular expressions in linear time: parsed into a small automaton whose states are followed side
// by side and kept once found. A pattern a model wrote cannot take exponential time, and what it takes
// to find states is counted. Knows literals, `.`, classes, `\d \w \s \b`-free escapes, `^ $`, groups,
// `|`, `* + ? {m,n}`. Called by grep.

import { GuestError } from './guest-error.ts'
import { WorkBudget } from './work-budget.ts'

const PATTERN_LENGTH_MAX = 1_000
const NODES_MAX = 2_000
const KEPT_STATES_MAX = 1_000
const REPEAT_MAX = 100
const GROUPS_DEPTH_MAX = 50
/** What it takes to look at one node, when states are found. */
const NODE_EFFORT = 4
/** Characters whose way on is kept in a list, which is faster than a map. */
const LISTED_CODES = 128

type Test = (code: number) => boolean

/** Edges: `test` takes a character, `empty` none, `start` and `end` hold only there. */
interface Node {
  kind: 'test' | 'empty' | 'start' | 'end' | 'match'
  test?: Test
  next: number[]
}

interface NfaFragment {
  readonly first: number
  readonly last: number
}

interface DfaState {
  readonly nodes: readonly number[]
  readonly matches: boolean
  readonly matchesAtEnd: boolean
  readonly listed: (DfaState | undefined)[]
  readonly to: Map<number, DfaState>
}

const ASCII = /^[\0-\x7f]+$/

export interface Pattern {
  /** Whether the text, a line without its end, contains a match. */
  test(line: string): boolean
}

export function compilePattern(
  source: unknown,
  ignoreCase: boolean,
  effort = new WorkBudget(),
): Pattern {
  if (typeof source !== 'string' || source === '' || source.length > PATTERN_LENGTH_MAX)
    throw new GuestError(
      'AGENT_INPUT',
      `a pattern is a text of 1 to ${PATTERN_LENGTH_MAX} characters`,
    )
  const literal = /^[^\\^$.*+?()[\]{}|]+$/.test(source)
  if (literal && !ignoreCase) return { test: (line) => line.includes(source) }
  if (literal && ASCII.test(source)) {
    const lower = source.toLowerCase()
    return { test: (line) => line.toLowerCase().includes(lower) }
  }
  const parser = new Parser(source, ignoreCase)
  return new Automaton(parser.nodes, parser.parse(), effort)
}

class Parser {
  readonly nodes: Node[] = []
  readonly #source: string
  readonly #ignoreCase: boolean
  #at = 0
  #depth = 0

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source
    this.#ignoreCase = ignoreCase
  }

  parse(): number {
    const piece = this.#alternatives()
    if (this.#at < this.#source.length) throw this.#wrong('`)` without `(`')
    this.#join(piece.last, this.#add({ kind: 'match', next: [] }))
    return piece.first
  }

  #alternatives(): NfaFragment {
    const branches = [this.#sequence()]
    while (this.#take('|')) branches.push(this.#sequence())
    if (branches.length === 1) return branches[0] as NfaFragment
    const first = this.#add({ kind: 'empty', next: branches.map((branch) => branch.first) })
    const last = this.#add({ kind: 'empty', next: [] })
    for (const branch of branches) this.#join(branch.last, last)
    return { first, last }
  }

  #sequence(): NfaFragment {
    const start = this.#add({ kind: 'empty', next: [] })
    let last = start
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? '')) {
      const piece = this.#repeated()
      this.#join(last, piece.first)
      last = piece.last
    }
    return { first: start, last }
  }

  #repeated(): NfaFragment {
    const from = this.#at
    let piece = this.#atom()
    const to = this.#at
    const bounds = this.#bounds()
    if (bounds === undefined) return piece
    const [least, most] = bounds
    // The atom is parsed again for each copy: copies share nothing.
    const again = (): NfaFragment => {
      const back = this.#at
      this.#at = from
      const copy = this.#atom()
      this.#at = back
      return copy
    }
    if (to === from) throw this.#wrong('nothing to repeat')
    const first = this.#add({ kind: 'empty', next: [] })
    let last = first
    const append = (): void => {
      this.#join(last, piece.first)
      last = piece.last
    }
    const copies = Math.max(least, most ?? least + 1)
    const ends: number[] = []
    for (let count = 0; count < copies; count += 1) {
      if (count > 0) piece = again()
      if (count >= least) ends.push(last)
      if (most === undefined && count === copies - 1) {
        const loop = this.#add({ kind: 'empty', next: [piece.first] })
        this.#join(last, loop)
        this.#join(piece.last, loop)
        last = loop
      } else append()
    }
    const end = this.#add({ kind: 'empty', next: [] })
    this.#join(last, end)
    for (const each of ends) this.#join(each, end)
    return { first, last: end }
  }

  #bounds(): [number, number | undefined] | undefined {
    const found = this.#quantifier()
    if (found !== undefined) this.#take('?')
    return found
  }

  #quantifier(): [number, number | undefined] | undefined {
    if (this.#take('*')) return [0, undefined]
    if (this.#take('+')) return [1, undefined]
    if (this.#take('?')) return [0, 1]
    const braces = /^\{(\d{1,3})(,(\d{0,3}))?\}/.exec(this.#source.slice(this.#at, this.#at + 12))
    if (braces === null) return undefined
    this.#at += braces[0].length
    const least = Number(braces[1])
    const most = braces[2] === undefined ? least : braces[3] ? Number(braces[3]) : undefined
    if (least > REPEAT_MAX || (most ?? 0) > REPEAT_MAX || (most ?? least) < least)
      throw this.#wrong(`\`${braces[0]}\`: a count goes from 0 to ${REPEAT_MAX}, upwards`)
    return [least, most]
  }

  #atom(): NfaFragment {
    const char = this.#source[this.#at] ?? ''
    this.#at += 1
    switch (char) {
      case '(': {
        if (this.#source.startsWith('?:', this.#at)) this.#at += 2
        else if (this.#source[this.#at] === '?')
          throw this.#wrong('look-around has no linear time and is not here')
        this.#depth += 1
        if (this.#depth > GROUPS_DEPTH_MAX)
          throw this.#wrong(`groups nest at most ${GROUPS_DEPTH_MAX} deep`)
        const inner = this.#alternatives()
        this.#depth -= 1
        if (!this.#take(')')) throw this.#wrong('`(` is not closed')
        return inner
      }
      case '[':
        return this.#testing(this.#class())
      case '.':
        return this.#testing(() => true)
      case '^':
        return this.#single({ kind: 'start', next: [] })
      case '$':
        return this.#single({ kind: 'end', next: [] })
      case '\\':
        return this.#testing(this.#escape())
      case '*':
      case '+':
      case '?':
        throw this.#wrong(`nothing before \`${char}\` to repeat`)
      default:
        return this.#testing(this.#equal(char.charCodeAt(0)))
    }
  }

  #class(): Test {
    const negated = this.#take('^')
    const tests: Test[] = []
    while (!(this.#source[this.#at] === ']' && tests.length > 0)) {
      if (this.#at >= this.#source.length) throw this.#wrong('`[` is not closed')
      const char = this.#source[this.#at] ?? ''
      this.#at += 1
      if (char === '\\') {
        tests.push(this.#escape())
        continue
      }
      const low = char.charCodeAt(0)
      const ranged =
        this.#source[this.#at] === '-' && !'\\]'.includes(this.#source[this.#at + 1] ?? ']')
      if (!ranged) {
        tests.push(this.#equal(low))
        continue
      }
      const high = this.#source.charCodeAt(this.#at + 1)
      this.#at += 2
      if (high < low) throw this.#wrong('a range goes upwards')
      tests.push(this.#within(low, high))
    }
    this.#at += 1
    return (code) => tests.some((test) => test(code)) !== negated
  }

  #escape(): Test {
    const char = this.#source[this.#at]
    if (char === undefined) throw this.#wrong('it ends in `\\`')
    this.#at += 1
    const word: Test = (code) =>
      (code >= 48 && code <= 57) ||
      (code >= 65 && code <= 90) ||
      (code >= 97 && code <= 122) ||
      code === 95
    const digit: Test = (code) => code >= 48 && code <= 57
    const space: Test = (code) => code === 32 || (code >= 9 && code <= 13) || code === 0xa0
    const known: Record<string, Test> = {
      d: digit,
      D: (code) => !digit(code),
      w: word,
      W: (code) => !word(code),
      s: space,
      S: (code) => !space(code),
      t: (code) => code === 9,
      n: (code) => code === 10,
      r: (code) => code === 13,
    }
    const test = known[char]
    if (test !== undefined) return test
    if (/[A-Za-z0-9]/.test(char)) throw this.#wrong(`\`\\${char}\` is not known here`)
    return this.#equal(char.charCodeAt(0))
  }

  #equal(code: number): Test {
    return this.#within(code, code)
  }

  #within(low: number, high: number): Test {
    const plain: Test = (code) => code >= low && code <= high
    if (!this.#ignoreCase) return plain
    return (code) => {
      const char = String.fromCharCode(code)
      return (
        plain(code) ||
        plain(char.toLowerCase().charCodeAt(0)) ||
        plain(char.toUpperCase().charCodeAt(0))
      )
    }
  }

  #testing(test: Test): NfaFragment {
    return this.#single({ kind: 'test', test, next: [] })
  }

  #single(node: Node): NfaFragment {
    const at = this.#add(node)
    return { first: at, last: at }
  }

  #add(node: Node): number {
    if (this.nodes.length >= NODES_MAX) throw this.#wrong('it is too large')
    this.nodes.push(node)
    return this.nodes.length - 1
  }

  #join(from: number, to: number): void {
    this.nodes[from]?.next.push(to)
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #wrong(why: string): GuestError {
    return new GuestError('AGENT_INPUT', `the pattern \`${this.#source}\` cannot be used: ${why}`)
  }
}

class Automaton implements Pattern {
  readonly #nodes: readonly Node[]
  readonly #first: number
  #kept = new Map<string, DfaState>()
  #begin: DfaState | undefined
  readonly #effort: WorkBudget

  constructor(nodes: readonly Node[], first: number, effort: WorkBudget) {
    this.#effort = effort
    this.#nodes = nodes
    this.#first = first
  }

  test(line: string): boolean {
    this.#begin ??= this.#keep(this.#close([this.#first], true))
    let now = this.#begin
    for (let at = 0; at < line.length; at += 1) {
      if (now.matches) return true
      const code = line.charCodeAt(at)
      now = (code < LISTED_CODES ? now.listed[code] : now.to.get(code)) ?? this.#find(now, code)
    }
    return now.matches || now.matchesAtEnd
  }

  #find(now: DfaState, code: number): DfaState {
    const next = this.#keep(this.#step(now.nodes, code))
    if (code < LISTED_CODES) now.listed[code] = next
    else now.to.set(code, next)
    return next
  }

  /** A match may begin at every character. */
  #step(nodes: readonly number[], code: number): number[] {
    const reached: number[] = []
    this.#effort.spend(nodes.length * NODE_EFFORT)
    for (const each of nodes) {
      const node = this.#nodes[each]
      if (node?.kind === 'test' && node.test?.(code)) reached.push(...node.next)
    }
    return this.#close([...reached, this.#first], false)
  }

  #close(from: readonly number[], atStart: boolean, atEnd = false): number[] {
    const seen = new Set<number>()
    const open = [...from]
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      if (seen.has(each)) continue
      seen.add(each)
      const node = this.#nodes[each]
      const passes =
        node?.kind === 'empty' ||
        (node?.kind === 'start' && atStart) ||
        (node?.kind === 'end' && atEnd)
      if (node !== undefined && passes) open.push(...node.next)
    }
    this.#effort.spend(seen.size * NODE_EFFORT)
    return [...seen].sort((a, b) => a - b)
  }

  #keep(nodes: number[]): DfaState {
    const key = nodes.join()
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    if (this.#kept.size >= KEPT_STATES_MAX) {
      this.#kept = new Map()
      this.#begin = undefined
    }
    const isMatch = (each: number): boolean => this.#nodes[each]?.kind === 'match'
    const kept: DfaState = {
      nodes,
      matches: nodes.some(isMatch),
      matchesAtEnd: this.#close(nodes, false, true).some(isMatch),
      listed: new Array(LISTED_CODES).fill(undefined),
      to: new Map(),
    }
    this.#kept.set(key, kept)
    return kept
  }
}
