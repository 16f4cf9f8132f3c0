// Describes what an argument may be under a standing approval, in the same words on a terminal and in the console.
// Pure.

import type { LineFamily } from '@sluice/policy/readers/shell-family'
import type { ArgumentBound } from './approval.ts'

export function describeBound(bound: ArgumentBound): string {
  if ('any' in bound) return 'anything'
  if ('oneOf' in bound) return bound.oneOf.join(' or ')
  if ('lines' in bound) return `lines of ${bound.lines.map(formatFamily).join(' or ')}`
  if ('below' in bound) return `${bound.below} and below`
  const { min = '0', max } = bound
  return max === undefined ? `at least ${min}` : `${min} to ${max}`
}

/** Writes a family as a line that `readFamilies` reads. */
export function formatFamily(family: LineFamily): string {
  return family
    .map((word) => (/^[\w%+=:,.@/*-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ')
}
