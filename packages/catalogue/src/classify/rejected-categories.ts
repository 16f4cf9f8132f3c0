// Why a tool is in none of the other four classes, in a sentence each: what a page and a reviewer want
// to know beside the evidence. Pure; called by classify.

import { CATEGORIES, type Category } from '@sluice/policy/calls/tools'
import { CLASS_TEXTS } from './class-texts.ts'

/** A class that a tool does not have. */
export interface RejectedCategory {
  readonly category: Category
  /** Why not, as a clause that follows "Not Write:". */
  readonly because: string
}

/** The other four classes. `shares` are those of the five, in their order. */
export function explainRejected(
  category: Category,
  shares: readonly number[],
): readonly RejectedCategory[] {
  return CATEGORIES.filter((other) => other !== category).map((other) => ({
    category: other,
    because: sentence(category, other, shares[CATEGORIES.indexOf(other)] ?? 0),
  }))
}

const DOUBT_MIN = 0.1

function sentence(category: Category, other: Category, share: number): string {
  if (CATEGORIES.indexOf(other) < CATEGORIES.indexOf(category))
    return `it ${CLASS_TEXTS[category].is}, which goes beyond ${other}`
  if (share >= DOUBT_MIN)
    return `some words suggest that it ${CLASS_TEXTS[other].is}, but others weigh more`
  return `nothing in its definition suggests that it ${CLASS_TEXTS[other].is}`
}
