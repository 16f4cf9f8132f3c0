// Loads a `when`: parses it, checks it against what the language allows (inspect-expression.ts),
// and rewrites it so that everything it reads from outside is a numbered variable (`args.amount <= 5`
// becomes `s0 <= 5`). What it reads is then a list that can be typed, bounded and checked before it
// runs.

import {
  DOCUMENT_PATTERN_STEPS_MAX,
  EXPRESSION_DEPTH_MAX,
  EXPRESSION_NODES_MAX,
} from '../language/limits.ts'
import { type CelNode, celFailure, parseCel } from './cel.ts'
import { ExpressionError } from './expression-names.ts'
import type {
  Budget,
  ExpressionEdit,
  ExpressionVariable,
  NamedTool,
} from './expression-variables.ts'
import { Inspector } from './inspect-expression.ts'
import type { Macro } from './macro-cost.ts'

/** Operators of other languages. */
const INSTEAD: Record<string, string> = {
  and: 'write `&&`',
  or: 'write `||`',
  not: 'write `!`',
  '=': 'write `==`',
  '&': 'write `&&`',
  '|': 'write `||`',
  '?': 'test `has(args.x)` first',
}

export interface Expression {
  readonly text: string
  readonly variables: readonly ExpressionVariable[]
  readonly edits: readonly ExpressionEdit[]
  readonly ast: CelNode
  /** Which variable a node of the tree reads; macro variables point at their list's variable. */
  readonly variableByNode: ReadonlyMap<
    CelNode,
    { readonly variable: ExpressionVariable; readonly element: boolean }
  >
  readonly readsArgs: boolean
  /** Unknown before the call: it reads arguments, or the category they give the call. */
  readonly dependsOnCall: boolean
  readonly macros: readonly Macro[]
  /** The tools that `called` and the like ask for, each time they are written. */
  readonly namedTools: readonly NamedTool[]
}

/** Throws ExpressionError with the offset into `text`. */
export function parseExpression(
  text: string,
  labels: ReadonlySet<string>,
  budget: Budget = { patternSteps: DOCUMENT_PATTERN_STEPS_MAX },
): Expression {
  let ast: CelNode
  try {
    ast = parseCel(text)
  } catch (error) {
    throw syntaxError(text, celFailure(error))
  }
  const inspector = new Inspector(text, labels, budget)
  inspector.visit(ast, { weight: 0, macro: undefined })
  const variables = [...inspector.variables.values()]
  return {
    text,
    ast,
    variables,
    edits: inspector.edits,
    variableByNode: inspector.variableByNode,
    readsArgs: variables.some((variable) => variable.root === 'args'),
    dependsOnCall: variables.some(
      ({ root }) => root === 'args' || root === 'call' || root === 'origin' || root === 'last',
    ),
    macros: inspector.macros,
    namedTools: inspector.namedTools,
  }
}

/** Describes the parser's finding in terms of the source text. */
function syntaxError(
  text: string,
  { message, start }: { message: string; start: number },
): ExpressionError {
  const fail = (what: string, help: string, at = start) => new ExpressionError(at, what, help)
  if (/^exceeded max/.test(message))
    return new ExpressionError(
      start,
      `it has more than ${EXPRESSION_NODES_MAX} parts, or nests deeper than ${EXPRESSION_DEPTH_MAX} levels`,
      'split it over several guardrails',
      'POLICY_EXPRESSION_UNSAFE',
    )
  if (/^unterminated/.test(message))
    return fail('a text begins here and never ends', 'close it with the quote it began with')
  const macro = /^(\w+)\(var, /.exec(message)?.[1]
  if (macro !== undefined)
    return fail(
      `\`${macro}\` takes a name and an expression`,
      `write \`args.list.${macro}(x, …)\``,
      text.lastIndexOf(macro, start),
    )
  if (text.slice(start).trim() === '')
    return fail('it ends too early', 'write out what is to follow, and close what is open')
  if (!/^(unexpected|expected)/.test(message)) return fail(message, 'write it as CEL has it')
  const written = /^(\w+|[^\w\s])/.exec(text.slice(start))?.[0] ?? ''
  return fail(
    `\`${written}\` is not allowed here`,
    INSTEAD[written] ?? 'look at what comes before it, and for a missing operator or bracket',
  )
}
