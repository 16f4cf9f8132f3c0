// An expression for one tool: its slots typed by what the tool declares, whole-number literals
// beside doubles written as doubles, checked and ready to run. A rule under a glob is bound once
// for each tool it meets.

import { applyEdits } from './apply-edits.ts'
import { named, typeProblem, undeclared } from './bind-problems.ts'
import { type CelCheck, type CelProgram, checkCel, childrenOf, type Node } from './cel.ts'
import { ANYTHING, celType, type Declared, declaredAt } from './declared-types.ts'
import type { PolicyErrorCode } from './errors.ts'
import type { Expression, Slot } from './expression.ts'
import { namedType } from './expression-names.ts'
import { NumberKinds } from './number-kinds.ts'

export interface BoundSlot extends Slot {
  /** For arguments: what may stand there. */
  readonly declared: Declared
  /** How many places outside macros walk the value, and the sum of their weights. */
  readonly walks: number
  readonly walksWeighted: number
  /** A macro repeats it, or is over it. */
  readonly inMacros: boolean
  /** `== null` is asked of it, which no type but `dyn` may be asked. */
  readonly besideNull: boolean
}

export interface Program {
  readonly expression: Expression
  readonly slots: readonly BoundSlot[]
  readonly run: CelProgram
  /** The declared names; arguments beside them make it undecidable. Undefined: any may stand. */
  readonly closedTo: ReadonlyMap<string, Declared> | undefined
}

export interface BindProblem {
  readonly code: PolicyErrorCode
  /** Offset into the expression. */
  readonly at: number
  readonly message: string
  readonly help: string
}

/** A program, a problem, or both: an argument that nobody declares is a mistake to report, but the
 * expression still has a meaning (the argument is not there). */
export interface Bound {
  readonly program?: Program
  readonly problem?: BindProblem
}

export function bindExpression(
  expression: Expression,
  declared: Declared,
  options: { readonly extraArgs: boolean },
): Bound {
  const open = declared.open || options.extraArgs
  const slots: BoundSlot[] = []
  let missing: { problem: BindProblem } | undefined
  for (const slot of expression.slots) {
    const place = slot.root === 'args' ? declaredAt(declared, slot.path) : ANYTHING
    if (place === undefined && !open)
      missing ??= { problem: undeclared(slot.path, slot.at, [declared]) }
    slots.push(boundSlot(slot, place ?? ANYTHING, expression))
  }
  const kinds = new NumberKinds(expression, new Map(slots.map((slot) => [slot.name, slot])))
  kinds.visit(expression.ast)
  const edits = [...expression.edits, ...kinds.edits].sort((a, b) => a.start - b.start)
  const { text, backTo } = applyEdits(expression.text, edits)
  const variables = slots.map((slot) => ({ name: slot.name, type: slotType(slot) }))
  const checked = checkOnce(expression, text, variables)
  if (!checked.ok) {
    const start = backTo(checked.start)
    const written = expression.text.slice(start, Math.max(backTo(checked.end), start + 1)).trim()
    const why = named(checked.message, slots)
    const message = why.endsWith(`\`${written}\``) ? why : `\`${written}\` does not fit: ${why}`
    return missing ?? { problem: typeProblem(start, message, slots) }
  }
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    return (
      missing ?? {
        problem: typeProblem(0, `it comes to ${checked.type}, not to true or false`, slots),
      }
    )
  const closedTo = expression.readsArgs && !open ? declared.properties : undefined
  return { program: { expression, slots, run: checked.run, closedTo }, ...missing }
}

function boundSlot(slot: Slot, declared: Declared, expression: Expression): BoundSlot {
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

function isBesideNull(node: Node, slot: Slot, expression: Expression): boolean {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args
    const isNull = (side: Node) => side.op === 'value' && side.args === null
    const isSlot = (side: Node) => expression.slotOf.get(side)?.slot === slot
    if ((isNull(left) && isSlot(right)) || (isNull(right) && isSlot(left))) return true
  }
  return childrenOf(node).some((child) => isBesideNull(child, slot, expression))
}

const checks = new WeakMap<Expression, Map<string, CelCheck>>()

/** Most tools declare the same of what an expression reads: checked once for each such reading. */
function checkOnce(
  expression: Expression,
  text: string,
  variables: readonly { name: string; type: string }[],
): CelCheck {
  const known = checks.get(expression) ?? new Map<string, CelCheck>()
  checks.set(expression, known)
  const reading = `${variables.map(({ type }) => type).join()} ${text}`
  const checked = known.get(reading) ?? checkCel(text, variables)
  known.set(reading, checked)
  return checked
}

export function slotType(slot: BoundSlot): string {
  if (slot.presence) return 'bool'
  if (slot.besideNull) return 'dyn'
  return slot.root === 'args' ? celType(slot.declared) : namedType(slot.root, slot.path)
}
