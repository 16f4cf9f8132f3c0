// Why a tool is not in the neighbouring classes, in a sentence each: what a page and a reviewer want
// to know beside the evidence. Pure; called by classify.

import { CATEGORIES, type Category } from '@sluice/policy/core/tools'

const IS: Readonly<Record<Category, string>> = {
  Read: 'only returns information',
  Write: 'creates or changes data',
  Execute: 'runs code or controls something',
  Destructive: 'deletes or revokes something for good',
  Financial: 'moves, commits or prices money',
}

export interface RejectedCategory {
  readonly category: Category
  readonly because: string
}

/** For the classes beside the one found, and for the nearest other by share. */
export function explainRejected(category: Category, shares: readonly number[]): RejectedCategory[] {
  const index = CATEGORIES.indexOf(category)
  const beside = new Set<Category>()
  for (const near of [CATEGORIES[index - 1], CATEGORIES[index + 1]]) if (near) beside.add(near)
  const next = CATEGORIES.filter((other) => other !== category).sort(
    (a, b) => (shares[CATEGORIES.indexOf(b)] ?? 0) - (shares[CATEGORIES.indexOf(a)] ?? 0),
  )[0]
  if (next !== undefined) beside.add(next)
  if (category !== 'Destructive' && category !== 'Financial') beside.add('Destructive')
  return CATEGORIES.filter((other) => beside.has(other)).map((other) => ({
    category: other,
    because: sentence(category, other, shares[CATEGORIES.indexOf(other)] ?? 0),
  }))
}

const DOUBT_MIN = 0.1

function sentence(category: Category, other: Category, share: number): string {
  if (CATEGORIES.indexOf(other) < CATEGORIES.indexOf(category))
    return `it ${IS[category]}, which goes beyond ${other}`
  if (share >= DOUBT_MIN) return `some words suggest that it ${IS[other]}, but others weigh more`
  return `nothing in its definition suggests that it ${IS[other]}`
}
