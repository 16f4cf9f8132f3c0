// One rule of the original as a check, whatever its format: conditions that must hold, conditions that hold a call,
// and a limit.

import type { LocatedMap } from '@sluice/policy/document/read-document'
import { type Check, EMPTY_CHECK } from './draft.ts'
import type { ImportReport } from './report.ts'
import { translateCondition } from './translate-condition.ts'
import { type CounterLimit, translateLimit } from './translate-limit.ts'

export interface OriginalRule {
  readonly name: string
  readonly at: number
  readonly reason: string | undefined
  readonly comments?: readonly string[]
  /** `pass`: a call that does not meet the conditions is denied. Otherwise what a call gets that meets them. */
  readonly effect: 'pass' | Check['held']
  readonly conditions: readonly LocatedMap[]
  readonly limit?: CounterLimit | undefined
  readonly approvalTimeout?: string | undefined
}

/** Undefined if the rule changes nothing, or after an error: then the caller denies the whole tool. */
export function toCheck(rule: OriginalRule, report: ImportReport): Check | undefined {
  const { name, at, reason, comments = [], effect, conditions, approvalTimeout } = rule
  const base: Check = { ...EMPTY_CHECK, name, reason, comments }
  // No conditions always hold.
  if (effect === 'deny' && conditions.length === 0) return { ...base, denies: true }
  const sense = effect === 'pass' ? 'pass' : 'match'
  const translated = conditions.map((condition) => translateCondition(condition, sense, report))
  const cels = translated.flatMap((each) => (each && 'cel' in each ? [each.cel] : []))
  const isNever = translated.some((each) => each !== undefined && 'never' in each)
  if (effect !== 'pass') {
    const timeout = approvalTimeout === undefined ? {} : { approvalTimeout }
    if (!isNever) return { ...base, match: cels, held: effect, ...timeout }
    const message = `\`${name}\` has a condition that is never true, so it holds no call and is left out`
    report.warn('IMPORT_UNREACHABLE', at, message, 'check what it was meant to hold')
    return undefined
  }
  const limit = rule.limit && translateLimit(rule.limit, report)
  const fitting = limit !== undefined && 'limit' in limit ? limit : undefined
  const denies = isNever || (limit !== undefined && fitting === undefined)
  const pass = [...cels, ...(fitting?.pass ?? [])]
  const limits = fitting === undefined ? [] : [fitting.limit]
  return denies || pass.length + limits.length > 0 ? { ...base, denies, pass, limits } : undefined
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
