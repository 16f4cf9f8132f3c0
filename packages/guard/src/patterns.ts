// Patterns of words matched against a text, under a budget: what a text may cost is known before it is
// looked at, and what does not fit counts as found. Shared by the finders of orders. Pure.

import {
  findChains,
  type GapRule,
  LINK_CHARS_MAX,
  type Link,
  type PatternChain,
  type TextSpan,
} from './chain.ts'
import type { Finding, FindingKind, FindingSeverity } from './finding.ts'
import { joinWrapped } from './join-wrapped.ts'
import { FINDINGS_MAX, SCANNED_AT_ONCE_CHARS_MAX, SCANNED_CHARS_MAX } from './limits.ts'
import { NeedsFinder, type PatternNeeds } from './needs.ts'

export interface Pattern extends PatternChain {
  readonly kind: FindingKind
  readonly severity: FindingSeverity
  /** What no match does without: most texts are settled by looking for it. */
  readonly needs: PatternNeeds
}

/** Characters that may still be searched, once for every expression that searches them. */
export interface ScanBudget {
  charsLeft: number
}

/** Whether other work can run between the parts of a search; if it cannot, the search has a smaller budget. */
export type ScanEffort = 'in slices' | 'at once'

export function newScanBudget(effort: ScanEffort = 'in slices'): ScanBudget {
  return {
    charsLeft: effort === 'at once' ? SCANNED_AT_ONCE_CHARS_MAX : SCANNED_CHARS_MAX,
  }
}

/** False where the budget does not allow it; nothing fits then any more. */
export function spend(budget: ScanBudget, chars: number): boolean {
  budget.charsLeft -= chars
  return budget.charsLeft >= 0
}

/** Sources of expressions with the gaps between them; a bare number is a gap within a sentence. */
export function chainOf(parts: readonly (string | number | GapRule | Link)[]): PatternChain {
  const links: Link[] = []
  const gaps: GapRule[] = []
  for (const part of parts) {
    if (typeof part === 'string') links.push({ words: new RegExp(part, 'gu') })
    else if (typeof part === 'number') gaps.push({ chars: part, stops: '.\n' })
    else if ('words' in part) links.push(part)
    else gaps.push(part)
  }
  return { links: links as [Link, ...Link[]], gaps }
}

/** Patterns that are looked for together. */
export class PatternSet {
  readonly #patterns: readonly Pattern[]
  readonly #needs: NeedsFinder
  /** How many characters a match has at most, with what it looks at beside it. */
  readonly reach: number

  constructor(patterns: readonly Pattern[]) {
    this.#patterns = patterns
    this.#needs = new NeedsFinder(
      patterns.map((pattern) => ({ needs: pattern.needs, reach: reachOf(pattern) })),
    )
    this.reach = Math.max(...patterns.map(reachOf))
  }

  /** Everything that one of them finds; where that is nothing, also with wrapped lines joined. */
  match(text: string, budget: ScanBudget): Finding[] {
    const findings = this.#matchLines(text, budget)
    if (findings.length > 0 || !text.includes('\n')) return findings
    const joined = joinWrapped(text)
    if (joined === text) return findings
    budget.charsLeft -= text.length
    // The places of the joined text are not those of the text: the whole of it is shown.
    return this.#matchLines(joined, budget).map((one) => ({
      ...one,
      start: 0,
      end: text.length,
    }))
  }

  #matchLines(text: string, budget: ScanBudget): Finding[] {
    const findings: Finding[] = []
    const small = toSmall(text)
    const windows = this.#needs.windowsIn(small, budget)
    if (windows.size === 0) return findings
    for (const [index, pattern] of this.#patterns.entries()) {
      const { kind, severity } = pattern
      for (const { start, end } of findPattern(small, pattern, windows.get(index) ?? [], budget)) {
        if (findings.length >= FINDINGS_MAX) return findings
        findings.push({ kind, severity, start, end, text: text.slice(start, end) })
      }
      if (budget.charsLeft < 0) {
        const place = { start: 0, end: text.length, text: 'too much to look through' }
        return [...findings, { kind: 'too large to look at', severity: 'hold', ...place }]
      }
    }
    return findings
  }
}

/** Searched only near what it needs, which most texts have in few places. */
function* findPattern(
  small: string,
  pattern: Pattern,
  windows: readonly TextSpan[],
  budget: ScanBudget,
): Generator<TextSpan> {
  for (const { start, end } of windows) {
    if (budget.charsLeft < 0) return
    const part = small.slice(start, end)
    for (const span of findChains(part, pattern, FINDINGS_MAX, budget))
      yield { start: start + span.start, end: start + span.end }
  }
}

/** The most characters that a match can have. */
function reachOf({ links, gaps }: PatternChain): number {
  return gaps.reduce((sum, { chars }) => sum + chars, 0) + (links.length + 1) * LINK_CHARS_MAX
}

/** Small letters in the same places: of all letters only this one becomes two. */
function toSmall(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase()
}
