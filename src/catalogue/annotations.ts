// The vendor's hints, as a cross-check and never more: where they say less than the definition they
// are shown as a disagreement, where they say more the riskier word wins (A24: a published server
// ships e-mail sending as read-only). Pure; called by classify.

import { isObject, type JsonValue } from '../core/json.ts'
import type { Category } from '../core/tools.ts'

export interface CrossCheck {
  /** The class with the hints taken in: never below the one given. */
  readonly category: Category
  /** What the vendor says that the definition does not bear out, or the other way about. */
  readonly disagreements: readonly string[]
}

/**
 * `destructiveHint` says in the protocol's words "not only additive", which an update is too: it
 * raises a Write only where the definition itself leaves room for it.
 */
export function crossCheck(
  category: Category,
  mayDestroy: boolean,
  annotations: JsonValue | undefined,
): CrossCheck {
  if (!isObject(annotations)) return { category, disagreements: [] }
  const { readOnlyHint, destructiveHint } = annotations
  const disagreements: string[] = []
  let worst = category
  if (readOnlyHint === true && category !== 'Read')
    disagreements.push(`the vendor hints that it only reads; the definition says ${category}`)
  if (readOnlyHint === false && category === 'Read') {
    disagreements.push('the vendor hints that it changes something; the definition says Read')
    worst = destructiveHint === true && mayDestroy ? 'Destructive' : 'Write'
  }
  if (destructiveHint === true && readOnlyHint !== true && category === 'Write') {
    disagreements.push('the vendor hints that it may destroy; the definition says Write')
    if (mayDestroy) worst = 'Destructive'
  }
  if (destructiveHint === false && category === 'Destructive')
    disagreements.push('the vendor hints that it destroys nothing; the definition says Destructive')
  return { category: worst, disagreements }
}
