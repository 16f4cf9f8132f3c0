// One rule of the original as a check, whatever its format: conditions that must hold, conditions that hold a call,
// and a limit.

import type { Check } from './draft.ts'
import type { Fields } from './fields.ts'
import type { ImportReport } from './report.ts'
import { NEVER, translateCondition } from './translate-condition.ts'
import { type CounterLimit, translateLimit } from './translate-limit.ts'

export interface OriginalRule {
  readonly name: string
  readonly at: number
  readonly reason: string | undefined
  /** `pass`: a call that does not meet the conditions is denied. Otherwise what a call gets that meets them. */
  readonly effect: 'pass' | Check['held']
  readonly conditions: readonly Fields[]
  readonly limit?: CounterLimit | undefined
  readonly approvalTimeout?: string | undefined
}

const EMPTY_CHECK = { denies: false, pass: [], match: [], held: 'deny', limits: [] } as const

/** Makes a check of a rule; undefined if the rule changes nothing, or after an error: then the caller denies the whole tool. */
export function toCheck(rule: OriginalRule, report: ImportReport): Check | undefined {
  const { name, at, reason, effect, conditions, approvalTimeout } = rule
  const base: Check = { ...EMPTY_CHECK, name, reason, comments: report.commentsAbove(at) }
  // No conditions always hold.
  if (effect === 'deny' && conditions.length === 0) return { ...base, denies: true }
  const sense = effect === 'pass' ? 'pass' : 'match'
  const cels = conditions.flatMap((condition) => translateCondition(condition, sense) ?? [])
  const isNever = cels.includes(NEVER)
  if (effect !== 'pass') {
    if (!isNever) return { ...base, match: cels, held: effect, approvalTimeout }
    const message = `\`${name}\` has a condition that is never true, so it holds no call and is left out`
    report.warn('IMPORT_UNREACHABLE', at, message, 'check what it was meant to hold')
    return undefined
  }
  const limit = (rule.limit && translateLimit(rule.limit, report)) ?? EMPTY_CHECK
  const check = { ...base, ...limit, pass: [...cels, ...limit.pass] }
  if (isNever) return { ...base, denies: true }
  return check.denies || check.pass.length + check.limits.length > 0 ? check : undefined
}

/** Stands in for rules that need a person: never looser than the original. */
export function notImported(report: ImportReport): Check {
  return {
    ...EMPTY_CHECK,
    name: 'not imported',
    denies: true,
    comments: [`not imported: see the errors for ${report.file}, line ${report.lastErrorLine}`],
    reason: NOT_IMPORTED,
  }
}

export const NOT_IMPORTED = 'this rule was not imported and needs a person'
