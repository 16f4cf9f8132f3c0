// A rule as it is written, in one text: equal as long as nothing of it changes, wherever in the
// document it stands. An approval is bound to the text of what asked for it. Pure.

import { formatDecimal } from '../core/decimal.ts'
import { type CompiledPolicy, rulesOf } from './policy.ts'
import type { Guardrail, Rule } from './rule.ts'

/** Of a document whose `default` asks. */
export const DEFAULT_SAYS = '["default","require_approval"]'

export function toCanonicalRuleText(rule: Rule | Guardrail): string {
  const { when, reason, limits, approval, extraArgs } = rule
  const own =
    'key' in rule
      ? [rule.pointer, rule.action, rule.otherwise, [...rule.over].sort()]
      : [rule.name, rule.action, matchText(rule)]
  const counted = limits.map(({ id, max }) => `${id} ${formatDecimal(max)}`).sort()
  return JSON.stringify([...own, when?.expression.text, reason, counted, approval, extraArgs])
}

function matchText({ match }: Guardrail): unknown[] {
  const { categories, tools, servers, methods } = match
  return [categories, tools?.map(({ key }) => key), servers, methods].map(
    (names) => names && [...names].sort(),
  )
}

/** The texts of everything in a document, its house's too. */
export function listRuleTexts(policy: CompiledPolicy): string[] {
  const { fallback, house } = policy
  return [
    ...rulesOf(policy).map(toCanonicalRuleText),
    ...(fallback === 'require_approval' ? [DEFAULT_SAYS] : []),
    ...(house === undefined ? [] : listRuleTexts(house)),
  ]
}
