// The cost of a macro: how often it runs its body, times the parts of the body. Partly known when
// an expression is loaded, fully when the lists are known (walk-arguments.ts). Covers nested
// macros, and long bodies over long lists.

import { FUNCTION_PARTS, MACRO_PARTS_MAX } from '../language/limits.ts'
import { type CelNode, listChildren } from './cel.ts'
import { MACROS } from './cel-functions.ts'
import { ExpressionError } from './expression-names.ts'

export interface Macro {
  /** The variables its range consists of. */
  readonly lists: readonly string[]
  /** The range is exactly one variable; otherwise everything in the variables may be an entry. */
  readonly whole: boolean
  /** Entries that are literals of the expression. */
  readonly written: number
  readonly parts: number
}

interface MacroParts {
  readonly range: CelNode
  readonly bodies: readonly CelNode[]
  readonly kind: Pick<Macro, 'lists' | 'whole'>
}

/** Throws ExpressionError if the literals alone exceed the bound. */
export function macroCost(at: number, name: string, { range, bodies, kind }: MacroParts): Macro {
  const { lists, whole } = kind
  const written = whole ? 0 : countWritten(range)
  const parts = bodies.reduce((sum, body) => sum + countParts(body), 0)
  if (written * parts > MACRO_PARTS_MAX)
    throw new ExpressionError(
      at,
      `\`${name}\` runs ${parts} parts for ${written} entries`,
      `the limit is ${MACRO_PARTS_MAX} in all`,
      'POLICY_EXPRESSION_UNSAFE',
    )
  return { lists, whole, written, parts }
}

/** Entries of lists and objects that are written out in a range. Those of `shell(x)` are few for its length. */
function countWritten(node: CelNode): number {
  const own = node.op === 'list' || node.op === 'map' ? node.args.length : 0
  return listChildren(node).reduce((sum, child) => sum + countWritten(child), own)
}

/** The cost of evaluating a node, in nodes: functions that parse count as many. */
function countParts(node: CelNode): number {
  const own = node.op === 'call' || node.op === 'rcall' ? (FUNCTION_PARTS[node.args[0]] ?? 1) : 1
  return listChildren(node).reduce((sum, child) => sum + countParts(child), own)
}

export function containsMacro(node: CelNode): boolean {
  return (node.op === 'rcall' && MACROS.has(node.args[0])) || listChildren(node).some(containsMacro)
}
