// Canonical text of a rule: equal as long as the rule is unchanged, wherever it is in the document.
// An approval is bound to the text of the rule that required it. Pure.

import { formatDecimal } from '../values/decimal.ts'
import { type CompiledPolicy, listRules } from './policy.ts'
import type { Guardrail, Rule } from './rule.ts'

/** The canonical text of the requirement if a document's `default` requires approval. */
export const DEFAULT_SAYS = '["default","require_approval"]'

export function toCanonicalRuleText(rule: Rule | Guardrail): string {
  const { when, reason, limits, approval, extraArgs } = rule
  const own =
    'key' in rule
      ? [rule.pointer, rule.action, rule.otherwise, [...rule.over].sort()]
      : [rule.name, rule.action, matchText(rule)]
  const counted = limits
    .map(({ id, max, maxOf }) => `${id} ${maxOf?.read.text ?? formatDecimal(max)}`)
    .sort()
  return JSON.stringify([...own, when?.expression.text, reason, counted, approval, extraArgs])
}

function matchText({ match }: Guardrail): unknown[] {
  const { categories, tools, servers, methods } = match
  return [categories, tools?.map(({ key }) => key), servers, methods].map(
    (names) => names && [...names].sort(),
  )
}

/** The texts of all rules of a document and of its base policy. */
export function listRuleTexts(policy: CompiledPolicy): string[] {
  const { fallback, base } = policy
  return [
    ...listRules(policy).map(toCanonicalRuleText),
    ...(fallback === 'require_approval' ? [DEFAULT_SAYS] : []),
    ...(base === undefined ? [] : listRuleTexts(base)),
  ]
}
