// A regular expression as an automaton of positions, each of which consumes one character. What lies between two
// positions is kept as ways with their conditions, one for each path: two ways are two choices of the engine.

import { type Letter, lettersOf } from './alphabet.ts'
import { type Look, parseRegex, type RegexNode, type Repeat } from './parse-regex.ts'

/** How repetitions with an upper bound are built: written out, or as loops, which shows what nests in what. */
export type BoundedRepeats = 'expanded' | 'loops'

/** A repetition of more positions than this, written out, counts as unbounded. */
const EXPANDED_POSITIONS_MAX = 256
/** In `loops`, fewer repetitions than this are written out still. */
const LOOP_TIMES_MIN = 4
/** Ways that are searched between positions before a pattern counts as too large. */
const WAY_STEPS_MAX = 2_000_000

/** Before the text and behind it. */
export const EDGE = undefined
type Neighbour = Letter | typeof EDGE

type Condition = (before: Neighbour, next: Neighbour) => boolean

interface Position {
  readonly source: string
  /** 0, or the look-around it belongs to: what happens in one is never taken back one by one. */
  readonly region: number
  readonly letters: ReadonlySet<number>
}

export interface Way {
  /** A position, or -1: the end of the region. */
  readonly to: number
  readonly conditions: readonly Condition[]
}

interface Junction {
  readonly edges: { readonly to: number; readonly condition?: Condition }[]
  position?: { readonly source: string; readonly region: number; next: number }
}

export class Automaton {
  readonly letters: readonly Letter[]
  readonly positions: readonly Position[]
  /** Ways from before the first character. */
  readonly start: readonly Way[]
  readonly #ways: readonly (readonly Way[])[]

  /** Undefined if nothing in it repeats. */
  static of(source: string, flags: string, repeats: BoundedRepeats): Automaton | undefined {
    const node = parseRegex(source, flags)
    if (!hasLoop(node, repeats)) return undefined
    return new Automaton(node, new Builder(flags, repeats), source, flags)
  }

  private constructor(node: RegexNode, builder: Builder, source: string, flags: string) {
    const first = builder.junction()
    const end = builder.add(node, first, 0)
    builder.ends.add(end)
    const { junctions, ends } = builder
    const consuming = junctions.flatMap(({ position }, at) => (position ? [at] : []))
    const numberOf = new Map(consuming.map((at, number) => [at, number]))
    const parts = consuming.map((at) => junctions[at]?.position?.source ?? '')
    this.letters = lettersOf([...parts, ...builder.tested], source, flags)
    this.positions = consuming.map((at) => {
      const { source: part = '', region = 0 } = junctions[at]?.position ?? {}
      const matching = this.letters.flatMap(({ matches }, letter) =>
        matches.has(part) ? [letter] : [],
      )
      return { source: part, region, letters: new Set(matching) }
    })
    const finder = new WayFinder(junctions, ends, numberOf)
    this.start = finder.from(first)
    this.#ways = consuming.map((at) => finder.from(junctions[at]?.position?.next ?? 0))
  }

  /** The positions that can follow, once for each way. Without `from`: the first ones. */
  next(from: number | undefined, before: number | undefined, letter: number): number[] {
    const last = before === undefined ? EDGE : this.letters[before]
    const next = this.letters[letter]
    const found: number[] = []
    for (const { to, conditions } of this.#waysFrom(from)) {
      if (to < 0 || !this.positions[to]?.letters.has(letter)) continue
      if (conditions.every((holds) => holds(last, next))) found.push(to)
    }
    return found
  }

  /** The positions that can be reached from one, whatever the letters. */
  targets(from: number): number[] {
    return this.#waysFrom(from).flatMap(({ to }) => (to < 0 ? [] : [to]))
  }

  /** Whether the region ends here, whatever follows. */
  isDone(from: number, before: number): boolean {
    return [EDGE, ...this.letters].every((next) => this.#canEnd(from, before, next))
  }

  /** With `next` behind it, or at the end of the text. */
  canEnd(from: number, before: number, next: number | undefined): boolean {
    return this.#canEnd(from, before, next === undefined ? EDGE : this.letters[next])
  }

  #canEnd(from: number, before: number, next: Neighbour): boolean {
    return this.#waysFrom(from).some(
      ({ to, conditions }) =>
        to < 0 && conditions.every((holds) => holds(this.letters[before], next)),
    )
  }

  #waysFrom(from: number | undefined): readonly Way[] {
    return from === undefined ? this.start : (this.#ways[from] ?? [])
  }
}

class Builder {
  readonly junctions: Junction[] = []
  readonly ends = new Set<number>()
  /** What conditions ask of one character. */
  readonly tested = new Set<string>()
  readonly #flags: string
  readonly #repeats: BoundedRepeats
  #regions = 0

  constructor(flags: string, repeats: BoundedRepeats) {
    this.#flags = flags
    this.#repeats = repeats
  }

  junction(): number {
    return this.junctions.push({ edges: [] }) - 1
  }

  /** Returns the junction behind the node. */
  add(node: RegexNode, from: number, region: number): number {
    switch (node.kind) {
      case 'char': {
        const at = this.junction()
        const next = this.junction()
        this.#connect(from, at)
        const junction = this.junctions[at]
        if (junction !== undefined) junction.position = { source: node.source, region, next }
        return next
      }
      case 'edge': {
        const to = this.junction()
        this.#connect(from, to, edgeCondition(node.source, this.#flags.includes('m')))
        return to
      }
      case 'sequence':
        return node.parts.reduce((at, part) => this.add(part, at, region), from)
      case 'choice': {
        const to = this.junction()
        for (const option of node.options) {
          const begin = this.junction()
          this.#connect(from, begin)
          this.#connect(this.add(option, begin, region), to)
        }
        return to
      }
      case 'repeat':
        return this.#addRepeat(node, from, region)
      case 'look':
        return this.#addLook(node, from)
    }
  }

  #addRepeat({ body, min, max }: Omit<Repeat, 'kind'>, from: number, region: number): number {
    const isLoop = isBuiltAsLoop({ body, min, max }, this.#repeats)
    let at = from
    const most = Math.floor(EXPANDED_POSITIONS_MAX / Math.max(1, positionsOf(body)))
    const least = isLoop ? Math.min(min, most) : min
    for (let count = 0; count < (isLoop ? least - 1 : least); count++)
      at = this.add(body, at, region)
    const end = this.junction()
    if (isLoop) {
      const loop = this.junction()
      this.#connect(at, loop)
      const last = this.add(body, loop, region)
      this.#connect(last, loop)
      this.#connect(last, end)
      if (min === 0) this.#connect(at, end)
      return end
    }
    for (let count = min; count < max; count++) {
      this.#connect(at, end)
      at = this.add(body, at, region)
    }
    this.#connect(at, end)
    return end
  }

  #addLook(look: Look, from: number): number {
    const to = this.junction()
    const tests = singleTests(look.body)
    if (tests !== undefined) {
      this.#connect(from, to, this.#lookCondition(look, tests))
      return to
    }
    this.#connect(from, to)
    if (look.isAhead || hasLoop(look.body, this.#repeats)) {
      const begin = this.junction()
      this.#connect(from, begin)
      this.ends.add(this.add(look.body, begin, ++this.#regions))
    }
    return to
  }

  #lookCondition({ isAhead, isNegative }: Look, tests: readonly RegexNode[]): Condition {
    const conditions = tests.map((test): Condition => {
      if (test.kind === 'edge') return edgeCondition(test.source, this.#flags.includes('m'))
      const source = test.kind === 'char' ? test.source : ''
      this.tested.add(source)
      return (before, next) => (isAhead ? next : before)?.matches.has(source) ?? false
    })
    return (before, next) => conditions.some((holds) => holds(before, next)) !== isNegative
  }

  #connect(from: number, to: number, condition?: Condition): void {
    this.junctions[from]?.edges.push({ to, ...(condition && { condition }) })
  }
}

function edgeCondition(source: string, isMultiline: boolean): Condition {
  const isEdge = (neighbour: Neighbour) =>
    neighbour === EDGE || (isMultiline && neighbour.isLineEnd)
  if (source === '^') return (before) => isEdge(before)
  if (source === '$') return (_before, next) => isEdge(next)
  const isBoundary: Condition = (before, next) =>
    (before?.isWord ?? false) !== (next?.isWord ?? false)
  return source === '\\b' ? isBoundary : (before, next) => !isBoundary(before, next)
}

/** The choices of a look-around if each is one character or an edge. */
function singleTests(body: RegexNode): RegexNode[] | undefined {
  if (body.kind === 'char' || body.kind === 'edge') return [body]
  if (body.kind === 'sequence')
    return body.parts.length === 1 && body.parts[0] ? singleTests(body.parts[0]) : undefined
  if (body.kind !== 'choice') return undefined
  const tests = body.options.map(singleTests)
  return tests.every((test) => test !== undefined) ? tests.flat() : undefined
}

function positionsOf(node: RegexNode): number {
  const total = (nodes: readonly RegexNode[]) =>
    nodes.reduce((sum, each) => sum + positionsOf(each), 0)
  switch (node.kind) {
    case 'char':
      return 1
    case 'edge':
      return 0
    case 'sequence':
      return total(node.parts)
    case 'choice':
      return total(node.options)
    case 'look':
      return positionsOf(node.body)
    case 'repeat':
      return positionsOf(node.body) * (node.max === Infinity ? Math.max(1, node.min) : node.max)
  }
}

function isBuiltAsLoop({ body, min, max }: Omit<Repeat, 'kind'>, repeats: BoundedRepeats): boolean {
  if (max === Infinity || max * positionsOf(body) > EXPANDED_POSITIONS_MAX) return true
  return repeats === 'loops' && min < max && max >= LOOP_TIMES_MIN
}

function hasLoop(node: RegexNode, repeats: BoundedRepeats): boolean {
  switch (node.kind) {
    case 'char':
    case 'edge':
      return false
    case 'sequence':
      return node.parts.some((part) => hasLoop(part, repeats))
    case 'choice':
      return node.options.some((option) => hasLoop(option, repeats))
    case 'look':
      return hasLoop(node.body, repeats)
    case 'repeat':
      return isBuiltAsLoop(node, repeats) || hasLoop(node.body, repeats)
  }
}

/** Every path between junctions that passes none twice: an iteration that consumes nothing is not repeated. */
class WayFinder {
  readonly #junctions: readonly Junction[]
  readonly #ends: ReadonlySet<number>
  readonly #numberOf: ReadonlyMap<number, number>
  #steps = 0

  constructor(
    junctions: readonly Junction[],
    ends: ReadonlySet<number>,
    numberOf: ReadonlyMap<number, number>,
  ) {
    this.#junctions = junctions
    this.#ends = ends
    this.#numberOf = numberOf
  }

  from(junction: number): Way[] {
    const ways: Way[] = []
    this.#follow(junction, [], new Set(), ways)
    return ways
  }

  #follow(at: number, conditions: readonly Condition[], passed: Set<number>, ways: Way[]): void {
    if (++this.#steps > WAY_STEPS_MAX) throw new Error('too many ways between its characters')
    if (passed.has(at)) return
    const position = this.#numberOf.get(at)
    if (position !== undefined) {
      ways.push({ to: position, conditions })
      return
    }
    if (this.#ends.has(at)) ways.push({ to: -1, conditions })
    passed.add(at)
    for (const { to, condition } of this.#junctions[at]?.edges ?? [])
      this.#follow(to, condition ? [...conditions, condition] : conditions, passed, ways)
    passed.delete(at)
  }
}
