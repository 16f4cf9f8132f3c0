// Why a rule asked for a call, in the call's own values: `amount 180.5 is above 100`. Read from the canonical text of
// the rule, which the request carries. Pure.

import { attempt } from '@sluice/policy/structures/attempt'
import { isObject, type JsonValue } from '@sluice/policy/values/json'

export interface HeldReason {
  /** Values of the call that decided; empty if the condition compares no numbers. */
  readonly values: readonly string[]
  /** The condition as it is written; undefined if the rule has none. */
  readonly condition: string | undefined
  /** Whether the rule asks because its condition holds, or because it does not. */
  readonly holds: boolean
}

const COMPARISON = /args\.([A-Za-z_][\w.]*) (<=|<|>=|>) (-?\d+(?:\.\d+)?)/g

/** `says`: as `toCanonicalRuleText` writes it; a guardrail has what it matches where a rule has `otherwise`. */
export function explainHeld(says: string, args: string): HeldReason {
  const parts = attempt(() => JSON.parse(says) as unknown[]) ?? []
  const isGuardrail = Array.isArray(parts[2])
  const written = parts[isGuardrail ? 3 : 4]
  const condition = typeof written === 'string' ? written : undefined
  const holds = isGuardrail || parts[1] === 'require_approval'
  const values = attempt(() => JSON.parse(args) as JsonValue)
  // A negation turns a comparison round.
  const compared = condition === undefined || /!(?!=)/.test(condition) ? '' : condition
  return {
    condition,
    holds,
    values: [...compared.matchAll(COMPARISON)].flatMap(([, path = '', operator = '', bound]) => {
      const value = valueAt(values, path)
      if (typeof value !== 'number' || isTrue(value, operator, Number(bound)) !== holds) return []
      const word = value > Number(bound) ? 'is above' : value < Number(bound) ? 'is below' : 'is'
      return [`${path} ${value} ${word} ${bound}`]
    }),
  }
}

function valueAt(args: JsonValue | undefined, path: string): JsonValue | undefined {
  return path
    .split('.')
    .reduce<JsonValue | undefined>(
      (place, name) => (isObject(place) ? place[name] : undefined),
      args,
    )
}

function isTrue(value: number, operator: string, bound: number): boolean {
  if (operator === '<=') return value <= bound
  if (operator === '<') return value < bound
  return operator === '>=' ? value >= bound : value > bound
}
