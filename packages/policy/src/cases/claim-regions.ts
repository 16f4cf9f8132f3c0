// The arguments a claim's `when` speaks of, divided into finitely many regions in which every
// comparison with a literal comes out the same: between two numbers, one of the texts, any other
// text, missing, of another kind. Trying each region is exhaustive for such comparisons; every other
// part of the condition (a function, a fact) is known only as true, false or failing.

import { type CelNode, listChildren } from '../expression/cel.ts'
import {
  ANYTHING,
  BOOLEAN,
  type DeclaredType,
  findDeclared,
  INTEGER,
  LIST,
  MAP,
  NULL,
  NUMBER,
  STRING,
} from '../expression/evaluate/declared-types.ts'
import type { Expression } from '../expression/expression.ts'
import {
  CAN_BE_FALSE,
  CAN_BE_TRUE,
  CAN_FAIL,
  getLabelRead,
  type KnownPart,
  type ResultSet,
} from './possible-results.ts'

type Literal = string | number | boolean

/**
 * `missing`: not there. `wrong`: of a kind that the tool does not declare, or not exact; no condition
 * can be decided by it. `other`: a list, an object or null.
 */
type Region =
  | { readonly is: 'missing' | 'wrong' | 'other' }
  | { readonly is: 'value'; readonly value: Literal }

/** A comparison of one argument with literals, or a test whether it is there. */
interface Comparison {
  readonly path: string
  readonly literals: readonly Literal[]
  readonly test: (region: Region) => ResultSet
}

export interface Assignment {
  readonly known: KnownPart
  /** Whether the argument at this path has a value of a declared kind. */
  readonly hasValue: (path: readonly string[]) => boolean
}

const truth = (holds: boolean): ResultSet => (holds ? CAN_BE_TRUE : CAN_BE_FALSE)

/** Every assignment of regions to the arguments, and of results to the other parts, of `claim`. */
export function* listAssignments(
  claim: Expression,
  others: readonly Expression[],
  declared: DeclaredType,
): Generator<Assignment> {
  const own = listParts(claim)
  const paths = [...new Set(own.flatMap((part) => part.comparison?.path ?? []))]
  const texts = own.filter((part) => part.comparison === undefined).map((part) => part.text)
  const literals = new Map<string, Literal[]>(paths.map((path) => [path, []]))
  for (const part of [own, ...others.map(listParts)].flat())
    if (part.comparison) literals.get(part.comparison.path)?.push(...part.comparison.literals)
  const dimensions: { key: string; options: readonly (Region | ResultSet)[] }[] = [
    ...paths.map((key) => ({
      key,
      options: listRegions(literals.get(key) as Literal[], findDeclared(declared, parsePath(key))),
    })),
    ...[...new Set(texts)].map((key) => ({ key, options: [CAN_BE_TRUE, CAN_BE_FALSE, CAN_FAIL] })),
  ]
  const total = dimensions.reduce((product, { options }) => product * options.length, 1)
  for (let index = 0; index < total; index++) {
    const assigned = new Map<string, Region | ResultSet>()
    let rest = index
    for (const { key, options } of dimensions) {
      assigned.set(key, options[rest % options.length] as Region | ResultSet)
      rest = Math.floor(rest / options.length)
    }
    yield {
      known: (node, expression) => look(node, expression, assigned),
      hasValue: (path) => {
        const region = assigned.get(JSON.stringify(path))
        return typeof region === 'object' && region.is === 'value'
      },
    }
  }
}

function look(
  node: CelNode,
  expression: Expression,
  assigned: ReadonlyMap<string, Region | ResultSet>,
): ResultSet | undefined {
  const comparison = readComparison(node, expression)
  if (comparison === undefined) return assigned.get(textOf(node, expression)) as ResultSet
  const region = assigned.get(comparison.path) as Region | undefined
  return region && comparison.test(region)
}

/** One value of each region. */
function listRegions(literals: readonly Literal[], declared: DeclaredType | undefined): Region[] {
  const { kinds } = declared ?? ANYTHING
  const values: Literal[] = []
  if (kinds & (INTEGER | NUMBER)) {
    const numbers = [...new Set(literals.filter((one) => typeof one === 'number'))]
    const whole = (kinds & NUMBER) === 0
    values.push(
      ...between(numbers.sort((a, b) => a - b)).filter((one) => !whole || Number.isInteger(one)),
    )
  }
  if (kinds & STRING) {
    const texts = literals.filter((one) => typeof one === 'string')
    // Longer than every literal, so that it is none of them.
    values.push(...new Set(texts), `${texts.join('')}~`)
  }
  if (kinds & BOOLEAN) values.push(true, false)
  return [
    ...values.map((value): Region => ({ is: 'value', value })),
    { is: 'missing' },
    { is: 'wrong' },
    ...((kinds & (LIST | MAP | NULL)) === 0 ? [] : [{ is: 'other' } as const]),
  ]
}

/** Each number, one between each two (a whole one too), and one beyond either end. */
function between(sorted: readonly number[]): number[] {
  const first = sorted[0] ?? 0
  const last = sorted.at(-1) ?? 0
  const middles = sorted.slice(1).flatMap((number, index) => {
    const middle = (number + (sorted[index] as number)) / 2
    return [middle, Math.floor(middle)]
  })
  return [
    ...new Set([first - 1 - Math.abs(first), ...sorted, ...middles, last + 1 + Math.abs(last)]),
  ]
}

interface ConditionPart {
  readonly text: string
  readonly comparison: Comparison | undefined
}

/** The parts that a condition joins with `&&`, `||`, `!` and `? :`. */
function listParts(expression: Expression): ConditionPart[] {
  const collect = (node: CelNode): ConditionPart[] => {
    if (node.op === '!_' || node.op === '&&' || node.op === '||' || node.op === '?:')
      return listChildren(node).flatMap(collect)
    if (node.op === 'value' || getLabelRead(node, expression) !== undefined) return []
    return [{ text: textOf(node, expression), comparison: readComparison(node, expression) }]
  }
  return collect(expression.ast)
}

function textOf(node: CelNode, { text }: Expression): string {
  return text.slice(node.start, node.end).replace(/\s+/g, ' ')
}

const parsePath = (path: string): string[] => JSON.parse(path) as string[]

function pathOf(
  node: CelNode,
  { variableByNode }: Expression,
  presence: boolean,
): string | undefined {
  const found = variableByNode.get(node)
  if (found === undefined || found.element || found.variable.root !== 'args') return undefined
  return found.variable.presence === presence ? JSON.stringify(found.variable.path) : undefined
}

function readComparison(node: CelNode, expression: Expression): Comparison | undefined {
  if (node.op === 'call') {
    const path = pathOf(node, expression, true)
    if (path === undefined) return undefined
    return { path, literals: [], test: ({ is }) => truth(is !== 'missing') }
  }
  if (node.op === 'in') return readMembership(node, expression)
  const bare = pathOf(node, expression, false)
  if (bare !== undefined)
    return {
      path: bare,
      literals: [],
      test: onValue((value) => (typeof value === 'boolean' ? truth(value) : CAN_FAIL), CAN_FAIL),
    }
  const compare = COMPARE[node.op]
  if (compare === undefined) return undefined
  const [left, right] = node.args as [CelNode, CelNode]
  const path = pathOf(left, expression, false)
  const literal = literalOf(right)
  const other = { '==': CAN_BE_FALSE, '!=': CAN_BE_TRUE }[node.op as string] ?? CAN_FAIL
  if (path !== undefined && literal !== undefined)
    return { path, literals: [literal], test: onValue((value) => compare(value, literal), other) }
  const [first, named] = [literalOf(left), pathOf(right, expression, false)]
  if (named === undefined || first === undefined) return undefined
  return { path: named, literals: [first], test: onValue((value) => compare(first, value), other) }
}

function readMembership(node: CelNode, expression: Expression): Comparison | undefined {
  const [item, list] = (node as { args: unknown }).args as [CelNode, CelNode]
  const path = pathOf(item, expression, false)
  if (path === undefined || list.op !== 'list') return undefined
  const literals = list.args.map(literalOf)
  if (literals.some((one) => one === undefined)) return undefined
  return {
    path,
    literals: literals as Literal[],
    test: onValue((value) => truth(literals.includes(value)), CAN_BE_FALSE),
  }
}

/** `other`: what a list, an object or null gives. */
function onValue(test: (value: Literal) => ResultSet, other: ResultSet): Comparison['test'] {
  return (region) => {
    if (region.is === 'value') return test(region.value)
    return region.is === 'other' ? other : CAN_FAIL
  }
}

function literalOf(node: CelNode): Literal | undefined {
  if (node.op === '-_') {
    const number = literalOf(node.args)
    return typeof number === 'number' ? -number : undefined
  }
  if (node.op !== 'value') return undefined
  if (typeof node.args === 'bigint') {
    const number = Number(node.args)
    return Number.isSafeInteger(number) ? number : undefined
  }
  const value: unknown = node.args
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
    ? value
    : undefined
}

const ordered =
  (holds: (left: number, right: number) => boolean) =>
  (left: Literal, right: Literal): ResultSet => {
    if (typeof left === 'number' && typeof right === 'number') return truth(holds(left, right))
    // Texts have an order too, which the regions do not divide.
    return typeof left === typeof right ? CAN_BE_TRUE | CAN_BE_FALSE : CAN_FAIL
  }

const COMPARE: Readonly<Record<string, (left: Literal, right: Literal) => ResultSet>> = {
  '==': (left, right) => truth(left === right),
  '!=': (left, right) => truth(left !== right),
  '<': ordered((left, right) => left < right),
  '<=': ordered((left, right) => left <= right),
  '>': ordered((left, right) => left > right),
  '>=': ordered((left, right) => left >= right),
}
