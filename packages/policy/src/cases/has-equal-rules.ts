// Whether two documents decide a call by the same rules: then an edit does not touch the call, and what was decided
// under one holds under the other, whatever the record of the call lacks. Called by replay.

import type { Call, Facts } from '../calls/call.ts'
import { type ResolvedRules, resolveRules } from '../decide/resolve.ts'
import type { ApplicableRules } from '../model/applicable-rules.ts'
import { toCanonicalRuleText } from '../model/canonical-rule.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { memoizeFor } from '../structures/memoize.ts'

export function hasEqualRules(
  one: CompiledPolicy,
  other: CompiledPolicy,
  { call, facts }: { readonly call: Call; readonly facts: Facts },
): boolean {
  return (
    hasEqualCommon(one, other) &&
    toText(resolveRules(one, call, facts)) === toText(resolveRules(other, call, facts))
  )
}

/** Whether all that counts for calls of every tool is equal, as `protect` and what it reads of a document. */
export function hasEqualCommon(one: CompiledPolicy, other: CompiledPolicy): boolean {
  return toTextOfCommon(one) === toTextOfCommon(other)
}

function toText(rules: ResolvedRules): string {
  return typeof rules === 'string' ? rules : toTextOfScope(rules)
}

const toTextOfCommon: (policy: CompiledPolicy) => string = memoizeFor((policy: CompiledPolicy) => {
  const { fallback, shadow, protect, labelScope, canaries, base } = policy
  const { labels, classify, destinations, trust, egress } = policy
  const named = [labels, classify, destinations, trust, egress].map((map) => map.entries())
  const own = [fallback, shadow, protect, labelScope, [...canaries], named]
  return JSON.stringify([own, base && toTextOfCommon(base)])
})

const toTextOfScope: (scope: ApplicableRules) => string = memoizeFor((scope: ApplicableRules) => {
  const { category, doubted, classified, rules, guardrails, base, shadow } = scope
  const lists = [rules, guardrails, base, shadow].map((list) =>
    list.map(({ rule, unfit }) => [toCanonicalRuleText(rule), unfit]),
  )
  return JSON.stringify([category, classified, lists, doubted && toTextOfScope(doubted)])
})
