// The stricter of two decisions on one call: a tool whose category is a guess is decided as that
// category and as Execute. If both have the same action, the limits and requirements of both apply;
// shadow decisions are recorded for both. Pure.

import { isStronger } from '../calls/actions.ts'
import type { LimitCharge } from '../calls/counters.ts'
import type { ApprovalRequirement, Decision, ShadowDecision } from '../calls/decision.ts'
import { formatDecimal } from '../values/decimal.ts'

/** Combines two decisions. With `inShadow` the whole document observes only, and the last shadow decision of
 * each is its own. */
export function pickStricter(guess: Decision, doubt: Decision, inShadow: boolean): Decision {
  const shadow = shadowOfBoth(guess.shadow, doubt.shadow, inShadow)
  if (isStronger(doubt.action, guess.action)) return { ...doubt, shadow }
  if (doubt.action !== guess.action) return { ...guess, shadow }
  const { quiet: _, ...own } = guess
  return {
    ...own,
    ...(guess.quiet && doubt.quiet ? { quiet: true } : {}),
    limits: limitsOfBoth(guess.limits, doubt.limits),
    approvals: asksOfBoth(guess.approvals, doubt.approvals),
    shadow,
  }
}

function limitsOfBoth(
  own: readonly LimitCharge[],
  other: readonly LimitCharge[],
): readonly LimitCharge[] {
  const known = new Set(own.map(toKey))
  const more = other.filter((take) => !known.has(toKey(take)))
  return more.length === 0 ? own : [...own, ...more]
}

function toKey({ key, kind, windowMs, max, amount }: LimitCharge): string {
  return JSON.stringify([key, kind, windowMs, formatDecimal(max), formatDecimal(amount)])
}

function asksOfBoth(
  own: readonly ApprovalRequirement[],
  other: readonly ApprovalRequirement[],
): readonly ApprovalRequirement[] {
  const known = new Set(own.map(({ rule }) => rule))
  return [...own, ...other.filter(({ rule }) => !known.has(rule))]
}

function shadowOfBoth(
  own: readonly ShadowDecision[],
  other: readonly ShadowDecision[],
  inShadow: boolean,
): readonly ShadowDecision[] {
  if (!inShadow) return rulesOfBoth(own, other)
  const last = stricterShadow(own.at(-1) as ShadowDecision, other.at(-1) as ShadowDecision)
  return [...rulesOfBoth(own.slice(0, -1), other.slice(0, -1)), last]
}

/** Merges two lists so that each rule occurs once, with the stricter of its actions. */
function rulesOfBoth(
  own: readonly ShadowDecision[],
  other: readonly ShadowDecision[],
): readonly ShadowDecision[] {
  const merged = new Map(own.map((decision) => [decision.rule, decision]))
  for (const decision of other) {
    const before = merged.get(decision.rule)
    merged.set(decision.rule, before === undefined ? decision : stricterShadow(before, decision))
  }
  return [...merged.values()]
}

function stricterShadow(own: ShadowDecision, other: ShadowDecision): ShadowDecision {
  if (isStronger(other.action, own.action)) return other
  if (other.action !== own.action) return own
  return { ...own, limits: limitsOfBoth(own.limits, other.limits) }
}
