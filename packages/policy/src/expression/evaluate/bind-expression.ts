// Binds an expression to one tool: its variables typed by the tool's schema, integer literals next to
// doubles written as doubles, checked and ready to run. A rule under a glob is bound once for each
// tool it matches.

import { type CelCheck, type CelProgram, checkCel } from '../cel.ts'
import type { Expression } from '../expression.ts'
import type { ExpressionEdit } from '../expression-variables.ts'
import {
  type BindProblem,
  nameVariables,
  toUndeclaredProblem,
  typeProblem,
} from './bind-problems.ts'
import { type BoundVariable, bindVariable, getVariableType } from './bound-variable.ts'
import { ANYTHING, type DeclaredType, findDeclared } from './declared-types.ts'
import { NumberKinds } from './number-kinds.ts'

export interface BoundExpression {
  readonly expression: Expression
  readonly variables: readonly BoundVariable[]
  readonly run: CelProgram
  /** The declared names; arguments besides them make it undecidable. Undefined: any are allowed. */
  readonly closedTo: ReadonlyMap<string, DeclaredType> | undefined
  /** The expression is nothing but this fact of the call, which need not be run. */
  readonly fact: BoundVariable | undefined
}

/**
 * A program, a problem, or both: an undeclared argument is a mistake to report, but the expression
 * still has a meaning (the argument is missing).
 */
export interface BindResult {
  readonly program?: BoundExpression
  readonly problem?: BindProblem
}

export function bindExpression(
  expression: Expression,
  declared: DeclaredType,
  options: { readonly extraArgs: boolean },
): BindResult {
  const open = declared.open || options.extraArgs
  const bound: BoundVariable[] = []
  let missing: { problem: BindProblem } | undefined
  for (const variable of expression.variables) {
    const place = variable.root === 'args' ? findDeclared(declared, variable.path) : ANYTHING
    if (place === undefined && !open)
      missing ??= { problem: toUndeclaredProblem(variable.path, variable.at, [declared]) }
    bound.push(bindVariable(variable, place ?? ANYTHING, expression))
  }
  const kinds = new NumberKinds(
    expression,
    new Map(bound.map((variable) => [variable.name, variable])),
  )
  kinds.visit(expression.ast)
  const edits = [...expression.edits, ...kinds.edits].sort((a, b) => a.start - b.start)
  const { text, backTo } = applyEdits(expression.text, edits)
  const variables = bound.map((variable) => ({
    name: variable.name,
    type: getVariableType(variable),
  }))
  const checked = checkOnce(expression, text, variables)
  if (!checked.ok) {
    const start = backTo(checked.start)
    const written = expression.text.slice(start, Math.max(backTo(checked.end), start + 1)).trim()
    const why = nameVariables(checked.message, bound)
    const message = why.endsWith(`\`${written}\``) ? why : `\`${written}\` does not fit: ${why}`
    return missing ?? { problem: typeProblem(start, message, bound) }
  }
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    return (
      missing ?? {
        problem: typeProblem(0, `it comes to ${checked.type}, not to true or false`, bound),
      }
    )
  const closedTo = expression.readsArgs && !open ? declared.properties : undefined
  const fact = bound.find(({ name, root }) => root === 'call' && name === text.trim())
  const program = { expression, variables: bound, run: checked.run, closedTo, fact }
  return { program, ...missing }
}

const checks = new WeakMap<Expression, Map<string, CelCheck>>()

/** Most tools declare the same types for what an expression reads: checked once per combination. */
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

/** The text with the edits applied, and a function that maps its offsets back. */
function applyEdits(
  text: string,
  edits: readonly ExpressionEdit[],
): { text: string; backTo: (at: number) => number } {
  let result = ''
  let done = 0
  const shifts: { from: number; by: number }[] = []
  for (const edit of edits) {
    if (edit.start < done) continue
    result += text.slice(done, edit.start)
    shifts.push({ from: result.length, by: edit.start - result.length })
    result += edit.text
    done = edit.end
    shifts.push({ from: result.length, by: done - result.length })
  }
  const backTo = (at: number) => at + (shifts.findLast((shift) => shift.from <= at)?.by ?? 0)
  return { text: result + text.slice(done), backTo }
}
