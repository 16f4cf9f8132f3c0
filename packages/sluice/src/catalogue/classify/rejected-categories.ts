// Why a tool is not in the neighbouring classes, in a sentence each: what a page and a reviewer want
// to know beside the evidence. Pure; called by classify.

import { CATEGORIES, type Category } from '@sluice/policy/core/tools'

const IS: Readonly<Record<Category, string>> = {
  Read: 'answers only',
  Write: 'makes or changes data',
  Execute: 'runs or drives something',
  Destructive: 'takes something away for good',
  Financial: 'acts on money',
}

const NOTHING: Readonly<Record<Category, string>> = {
  Read: 'it does more than answer',
  Write: 'nothing here makes or changes data',
  Execute: 'nothing here is run or driven',
  Destructive: 'nothing here deletes or revokes',
  Financial: 'nothing here moves, commits or prices money',
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
    return `${IS[category]}, which is more than ${other}: not ${other} alone`
  if (share >= DOUBT_MIN)
    return `${IS[category]}; some words could mean that it ${IS[other]}, but weigh less: not ${other}`
  return `${IS[category]}, but ${NOTHING[other]}: not ${other}`
}
