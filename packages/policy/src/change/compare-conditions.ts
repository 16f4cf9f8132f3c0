// Whether one condition provably implies another, by syntax alone: the same tests joined by `&&`,
// more of them, or the same with a stricter number. Sound and incomplete. Called by
// compare-rules.ts.

import type { CelNode } from '../expression/cel.ts'
import type { Expression } from '../expression/expression.ts'

/**
 * Whether `other` is true whenever `one` is: it has all tests of `other`, or stricter ones, and
 * maybe more.
 */
export function implies(one: Expression, other: Expression): boolean {
  const tests = listTests(one)
  return listTests(other).every((wanted) => tests.some((test) => isTighter(test, wanted)))
}

/** As `implies`, and both read exactly the same: they are decidable for the same calls. */
export function impliesInPlace(one: Expression, other: Expression): boolean {
  const [tests, wanted] = [listTests(one), listTests(other)]
  return (
    tests.length === wanted.length &&
    tests.every((test, at) => isTighter(test, wanted[at] as ConditionTest)) &&
    listReads(one) === listReads(other)
  )
}

/** A part of an expression, with the text it belongs to. */
interface ConditionTest {
  readonly node: CelNode
  readonly text: string
}

function listTests({ ast, text }: Expression): ConditionTest[] {
  const split = (node: CelNode): CelNode[] =>
    node.op === '&&' ? (node.args as readonly CelNode[]).flatMap(split) : [node]
  return split(ast).map((node) => ({ node, text: text.slice(node.start, node.end) }))
}

function isTighter(test: ConditionTest, wanted: ConditionTest): boolean {
  return test.text === wanted.text || isTighterBound(test, wanted)
}

/** `x <= 3` for `x <= 5`. */
function isTighterBound(test: ConditionTest, wanted: ConditionTest): boolean {
  const [one, other] = [findBound(test.node), findBound(wanted.node)]
  if (one === undefined || other === undefined || one.op !== other.op) return false
  // An integer and a decimal are compared with values of different types.
  if (typeof one.bound !== typeof other.bound) return false
  if (getSource(test, one.of) !== getSource(wanted, other.of)) return false
  return one.op.startsWith('<') ? one.bound <= other.bound : one.bound >= other.bound
}

function getSource({ node, text }: ConditionTest, part: CelNode): string {
  return text.slice(part.start - node.start, part.end - node.start)
}

function findBound(
  node: CelNode,
): { readonly op: string; readonly of: CelNode; readonly bound: number | bigint } | undefined {
  if (!['<', '<=', '>', '>='].includes(node.op)) return undefined
  const [of, limit] = node.args as readonly [CelNode, CelNode]
  if (limit.op !== 'value') return undefined
  const bound: unknown = limit.args
  return typeof bound === 'number' || typeof bound === 'bigint'
    ? { op: node.op, of, bound }
    : undefined
}

/** What it reads, in order. */
function listReads({ variables }: Expression): string {
  return JSON.stringify(variables.map(({ root, path, presence }) => [root, path, presence]))
}
