// Loads a `when`: parses it, checks it against what the language allows (inspect-expression.ts),
// and rewrites it so that everything it reads from outside is a numbered slot (`args.amount <= 5`
// becomes `s0 <= 5`). What it reads is then a list that can be typed, bounded and checked before it
// runs.

import { DOCUMENT_PATTERN_STEPS_MAX } from '../language/limits.ts'
import { type CelNode, celFailure, parseCel } from './cel.ts'
import type { Budget, ExpressionEdit, ExpressionSlot } from './expression-slots.ts'
import { syntaxError } from './expression-syntax.ts'
import { Inspector } from './inspect-expression.ts'
import type { Macro } from './macro-cost.ts'

export interface Expression {
  readonly text: string
  readonly slots: readonly ExpressionSlot[]
  readonly edits: readonly ExpressionEdit[]
  readonly ast: CelNode
  /** Which slot a node of the tree reads; macro variables point at their list's slot. */
  readonly slotOf: ReadonlyMap<
    CelNode,
    { readonly slot: ExpressionSlot; readonly element: boolean }
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
  const slots = [...inspector.slots.values()]
  return {
    text,
    ast,
    slots,
    edits: inspector.edits,
    slotOf: inspector.slotOf,
    readsArgs: slots.some((slot) => slot.root === 'args'),
    dependsOnCall: slots.some(
      ({ root }) => root === 'args' || root === 'call' || root === 'origin',
    ),
    macros: inspector.macros,
  }
}
