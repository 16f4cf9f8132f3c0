// A slot of an expression for one tool: its declared types, its CEL type, and how often it is
// walked.

import { type CelNode, listChildren } from '../cel.ts'
import type { Expression } from '../expression.ts'
import { namedType } from '../expression-names.ts'
import type { ExpressionSlot } from '../expression-slots.ts'
import { celType, type DeclaredType } from './declared-types.ts'

export interface BoundSlot extends ExpressionSlot {
  /** For arguments: the declared type. */
  readonly declared: DeclaredType
  /** How many uses outside macros walk the value, and the sum of their weights. */
  readonly walks: number
  readonly walksWeighted: number
  /** A macro repeats it, or is over it. */
  readonly inMacros: boolean
  /** It is compared with `null`, which only `dyn` may be. */
  readonly besideNull: boolean
}

export function boundSlot(
  slot: ExpressionSlot,
  declared: DeclaredType,
  expression: Expression,
): BoundSlot {
  const once = slot.uses.filter((use) => use.repeatedBy === undefined)
  return {
    ...slot,
    declared,
    walks: once.length,
    walksWeighted: once.reduce((sum, use) => sum + use.weight, 0),
    inMacros:
      once.length < slot.uses.length ||
      expression.macros.some((macro) => macro.lists.includes(slot.name)),
    besideNull: isBesideNull(expression.ast, slot, expression),
  }
}

function isBesideNull(node: CelNode, slot: ExpressionSlot, expression: Expression): boolean {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args
    const isNull = (side: CelNode) => side.op === 'value' && side.args === null
    const isSlot = (side: CelNode) => expression.slotOf.get(side)?.slot === slot
    if ((isNull(left) && isSlot(right)) || (isNull(right) && isSlot(left))) return true
  }
  return listChildren(node).some((child) => isBesideNull(child, slot, expression))
}

export function slotType(slot: BoundSlot): string {
  if (slot.presence) return 'bool'
  if (slot.besideNull) return 'dyn'
  return slot.root === 'args' ? celType(slot.declared) : namedType(slot.root, slot.path)
}
