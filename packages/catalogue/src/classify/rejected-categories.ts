// Why a tool is in none of the other four classes, in a sentence each: what a page and a reviewer want
// to know beside the evidence. Pure; called by classify.

import { CATEGORIES, type Category } from '@sluice/policy/core/tools'
import texts from './class-texts.json' with { type: 'json' }

export type RejectedCategory = ReturnType<typeof explainRejected>[number]

export function explainRejected(category: Category, shares: readonly number[]) {
  return CATEGORIES.filter((other) => other !== category).map((other) => ({
    category: other,
    because: sentence(category, other, shares[CATEGORIES.indexOf(other)] ?? 0),
  }))
}

const DOUBT_MIN = 0.1

function sentence(category: Category, other: Category, share: number): string {
  if (CATEGORIES.indexOf(other) < CATEGORIES.indexOf(category))
    return `it ${texts[category].is}, which goes beyond ${other}`
  if (share >= DOUBT_MIN)
    return `some words suggest that it ${texts[other].is}, but others weigh more`
  return `nothing in its definition suggests that it ${texts[other].is}`
}
