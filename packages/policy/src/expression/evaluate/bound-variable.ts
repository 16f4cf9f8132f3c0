// A variable of an expression for one tool: its declared types, its CEL type, and how often it is
// walked.

import { type CelNode, listChildren } from '../cel.ts'
import type { Expression } from '../expression.ts'
import { findVariableType } from '../expression-names.ts'
import type { ExpressionVariable } from '../expression-variables.ts'
import { celType, type DeclaredType } from './declared-types.ts'

export interface BoundVariable extends ExpressionVariable {
  /** The declared type, if the variable is an argument. */
  readonly declared: DeclaredType
  /** How many uses outside macros walk the value, and the sum of their weights. */
  readonly walks: number
  readonly walksWeighted: number
  /** A macro repeats it, or is over it. */
  readonly inMacros: boolean
  /** It is compared with `null`, which only `dyn` may be. */
  readonly besideNull: boolean
}

export function bindVariable(
  variable: ExpressionVariable,
  declared: DeclaredType,
  expression: Expression,
): BoundVariable {
  const once = variable.uses.filter((use) => use.repeatedBy === undefined)
  return {
    ...variable,
    declared,
    walks: once.length,
    walksWeighted: once.reduce((sum, use) => sum + use.weight, 0),
    inMacros:
      once.length < variable.uses.length ||
      expression.macros.some((macro) => macro.lists.includes(variable.name)),
    besideNull: isBesideNull(expression.ast, variable, expression),
  }
}

function isBesideNull(
  node: CelNode,
  variable: ExpressionVariable,
  expression: Expression,
): boolean {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args
    const isNull = (side: CelNode) => side.op === 'value' && side.args === null
    const isVariable = (side: CelNode) => expression.variableByNode.get(side)?.variable === variable
    if ((isNull(left) && isVariable(right)) || (isNull(right) && isVariable(left))) return true
  }
  return listChildren(node).some((child) => isBesideNull(child, variable, expression))
}

export function getVariableType(variable: BoundVariable): string {
  if (variable.presence) return 'bool'
  if (variable.besideNull) return 'dyn'
  return variable.root === 'args'
    ? celType(variable.declared)
    : findVariableType(variable.root, variable.path)
}
