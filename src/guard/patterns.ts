// Patterns of words held against a text, under a budget: what a text may cost is known before it is
// looked at, and what does not fit counts as found. Shared by the finders of orders. Pure.

import { type Chain, findChains, type Gap, type Link } from './chain.ts'
import type { Finding, Kind, Severity } from './finding.ts'
import { FINDINGS_MAX, SCANNED_CHARS_MAX } from './limits.ts'

export interface Pattern extends Chain {
  readonly kind: Kind
  readonly severity: Severity
  /** Small letters that no match does without: most texts are settled by looking for them. */
  readonly needs: RegExp
}

/** Characters that may still be searched, once for every expression that searches them. */
export interface ScanBudget {
  charsLeft: number
}

export function newScanBudget(): ScanBudget {
  return { charsLeft: SCANNED_CHARS_MAX }
}

/** False where the budget does not allow it; nothing fits then any more. */
export function spend(budget: ScanBudget, chars: number): boolean {
  budget.charsLeft -= chars
  return budget.charsLeft >= 0
}

/** Sources of expressions with the gaps between them; a bare number is a gap within a sentence. */
export function chainOf(parts: readonly (string | number | Gap | Link)[]): Chain {
  const links: Link[] = []
  const gaps: Gap[] = []
  for (const part of parts) {
    if (typeof part === 'string') links.push({ words: new RegExp(part, 'gu') })
    else if (typeof part === 'number') gaps.push({ chars: part, stops: '.\n' })
    else if ('words' in part) links.push(part)
    else gaps.push(part)
  }
  return { links: links as [Link, ...Link[]], gaps }
}

/** Everything that one of `patterns` finds. `any` finds what each of them needs. */
export function match(
  text: string,
  patterns: readonly Pattern[],
  any: RegExp,
  budget: ScanBudget,
): Finding[] {
  const findings: Finding[] = []
  const small = toSmall(text)
  if (!any.test(small)) return findings
  for (const pattern of patterns) {
    if (!pattern.needs.test(small)) continue
    const { kind, severity, links } = pattern
    if (!spend(budget, small.length * (1 + links.length))) {
      const words = 'too much to look through'
      findings.push({
        kind: 'too large to look at',
        severity: 'hold',
        start: 0,
        end: text.length,
        text: words,
      })
      return findings
    }
    for (const { start, end } of findChains(small, pattern, FINDINGS_MAX)) {
      if (findings.length >= FINDINGS_MAX) return findings
      findings.push({ kind, severity, start, end, text: text.slice(start, end) })
    }
  }
  return findings
}

/** Small letters in the same places: of all letters only this one becomes two. */
function toSmall(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase()
}
