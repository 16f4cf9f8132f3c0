// The vendor's hints. Where the words speak, they are a cross-check and never more: where they say less
// than the definition they are shown as a disagreement, where they say more the riskier word wins (A24:
// a published server ships e-mail sending as read-only). What the words leave open, they settle.
// Pure; called by classify.

import { CATEGORIES, type Category } from '@sluice/policy/calls/tools'
import { isObject, type JsonValue } from '@sluice/policy/values/json'

/** A class after the vendor's hints were compared with it. */
export interface CheckedCategory {
  /** Never below the class that was given. */
  readonly category: Category
  /** What the vendor hints and the definition does not bear out, or the other way about; sentences for people. */
  readonly disagreements: readonly string[]
}

/**
 * Compares a class with the vendor's hints. `destructiveHint` says in the protocol's words "not only additive", which
 * an update is too: it raises a Write only if the definition itself leaves room for it (`mayDestroy`).
 */
export function crossCheck(
  category: Category,
  mayDestroy: boolean,
  annotations: JsonValue | undefined,
): CheckedCategory {
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

/** A share below which the words do not leave a class open. */
const OPEN_SHARE_MIN = 0.05

/**
 * The class that the hints pick among those the words leave open; undefined where they pick none.
 * `readOnlyHint: false` alone is what a server sends that has never thought about it.
 */
export function settleByHints(
  guess: Category,
  shares: readonly number[],
  annotations: JsonValue | undefined,
): Category | undefined {
  if (!isObject(annotations)) return undefined
  const { readOnlyHint, destructiveHint } = annotations
  const open = (category: Category) =>
    (shares[CATEGORIES.indexOf(category)] as number) >= OPEN_SHARE_MIN
  if (readOnlyHint === true) return open('Read') ? 'Read' : undefined
  if (readOnlyHint !== false) return undefined
  if (destructiveHint === true) return open('Destructive') ? 'Destructive' : undefined
  if (destructiveHint === false && guess !== 'Destructive')
    return guess === 'Read' ? 'Write' : guess
  return undefined
}

/** What a server says of its own tools, where its word is as good as ours: it is a part of Sluice. */
export function ownHints(annotations: JsonValue | undefined): Category | undefined {
  if (!isObject(annotations)) return undefined
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations
  if (readOnlyHint === true) return 'Read'
  if (readOnlyHint !== false) return undefined
  if (destructiveHint === true) return 'Destructive'
  return openWorldHint === true ? 'Execute' : 'Write'
}
