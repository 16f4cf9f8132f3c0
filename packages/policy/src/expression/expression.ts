// Loads a `when`: parses it, checks it against what the language allows (inspect-expression.ts),
// and rewrites it so that everything it reads from outside is a numbered variable (`args.amount <= 5`
// becomes `s0 <= 5`). What it reads is then a list that can be typed, bounded and checked before it
// runs.

import { DOCUMENT_PATTERN_STEPS_MAX } from '../language/limits.ts'
import { type CelNode, celFailure, parseCel } from './cel.ts'
import { syntaxError } from './expression-syntax.ts'
import type { Budget, ExpressionEdit, ExpressionVariable } from './expression-variables.ts'
import { Inspector } from './inspect-expression.ts'
import type { Macro } from './macro-cost.ts'

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
      ({ root }) => root === 'args' || root === 'call' || root === 'origin',
    ),
    macros: inspector.macros,
  }
}
