// What bears on one tool or method: the rules that count, the guardrails that match, made ready with
// their expressions bound. Worked out in resolve.ts, judged in lay.ts.

import type { Category } from '../core/tools.ts'
import type { BoundExpression } from '../expression/evaluate/bind-expression.ts'
import type { DeclaredType } from '../expression/evaluate/declared-types.ts'
import type { Guardrail, Rule } from './rule.ts'

/** A rule or guardrail made ready for one tool. */
export interface PreparedRule<T extends Rule | Guardrail> {
  readonly rule: T
  /** As told in decisions: `house:` before the pointer of the house's guardrails. */
  readonly pointer: string
  readonly program?: BoundExpression
  /** Its `when` does not fit what the tool declares: never decidable. */
  readonly unfit?: string
  readonly declared: DeclaredType
}

export interface ApplicableRules {
  readonly category: Category
  /** Of a tool whose class is a guess: what bears on it as one that executes. The stricter verdict holds. */
  readonly doubted?: ApplicableRules
  readonly classified: boolean
  /** Enforced and counting, by pointer. Empty: the default holds. */
  readonly rules: readonly PreparedRule<Rule>[]
  readonly guardrails: readonly PreparedRule<Guardrail>[]
  readonly house: readonly PreparedRule<Guardrail>[]
  /** As if absent: rules by pointer, then guardrails. */
  readonly shadow: readonly PreparedRule<Rule | Guardrail>[]
  /** What matches and does not count. */
  readonly aside: readonly { readonly pointer: string; readonly why: string }[]
}

/** All that may bear on a call: of the guess, and of the doubt where there is one; each once. */
export function readiesOf({
  rules,
  guardrails,
  house,
  doubted,
}: ApplicableRules): PreparedRule<Rule | Guardrail>[] {
  const own = [...rules, ...guardrails, ...house]
  return doubted === undefined ? own : [...new Set([...own, ...readiesOf(doubted)])]
}
