// What applies to one tool or method: the effective rules and the matching guardrails, with their
// expressions bound. Computed in decide/resolve.ts, evaluated in decide/combine-rules.ts.

import type { ArgumentFlow, ArgumentRoles } from '../calls/provenance.ts'
import type { Category } from '../calls/tools.ts'
import type { BoundExpression } from '../expression/evaluate/bind-expression.ts'
import type { DeclaredType } from '../expression/evaluate/declared-types.ts'
import type { Guardrail, Rule } from './rule.ts'

/** A rule or guardrail prepared for one tool. */
export interface PreparedRule<T extends Rule | Guardrail> {
  readonly rule: T
  /** The pointer that decisions name: `house:` precedes that of a guardrail of the base policy. */
  readonly pointer: string
  readonly program?: BoundExpression
  /** Its `when` does not fit the declared types of the tool: never decidable. */
  readonly unfit?: string
  readonly declared: DeclaredType
}

export interface ApplicableRules {
  readonly category: Category
  /**
   * If the category of the tool is a guess: what applies to it as Execute. The stricter decision
   * wins.
   */
  readonly doubted?: ApplicableRules
  readonly classified: boolean
  /** Where arguments go: as the document says, and as its base policy does. */
  readonly flow: ArgumentFlow | undefined
  readonly baseFlow: ArgumentFlow | undefined
  /** What arguments are: as the document says, and as its base policy does. */
  readonly roles: ArgumentRoles | undefined
  readonly baseRoles: ArgumentRoles | undefined
  /** Enforced and effective, by pointer. Empty: the default applies. */
  readonly rules: readonly PreparedRule<Rule>[]
  readonly guardrails: readonly PreparedRule<Guardrail>[]
  readonly base: readonly PreparedRule<Guardrail>[]
  /** What is not enforced: the rules by pointer, then the guardrails. */
  readonly shadow: readonly PreparedRule<Rule | Guardrail>[]
  /** What matches and has no effect. */
  readonly aside: readonly { readonly pointer: string; readonly why: string }[]
}

/** Everything that may apply to a call, for the guessed category and for Execute; each once. */
export function listPreparedRules({
  rules,
  guardrails,
  base,
  doubted,
}: ApplicableRules): PreparedRule<Rule | Guardrail>[] {
  const own = [...rules, ...guardrails, ...base]
  return doubted === undefined ? own : [...new Set([...own, ...listPreparedRules(doubted)])]
}
