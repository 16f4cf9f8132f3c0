// Patterns of words held against a text, under a budget: what a text may cost is known before it is
// looked at, and what does not fit counts as found. Shared by the finders of orders. Pure.

import { type Chain, findChains, type Gap, type Link, type Span } from './chain.ts'
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

/** Everything that one of `patterns` finds; where that is nothing, also with wrapped lines joined. `any`
 * finds what each of them needs. */
export function match(
  text: string,
  patterns: readonly Pattern[],
  any: RegExp,
  budget: ScanBudget,
): Finding[] {
  const findings = matchLines(text, patterns, any, budget)
  if (findings.length > 0 || !text.includes('\n')) return findings
  const joined = text.replace(WRAPPED, ' ')
  if (joined === text) return findings
  budget.charsLeft -= text.length
  // The places of the joined text are not those of the text: the whole of it is shown.
  return matchLines(joined, patterns, any, budget).map((one) => ({
    ...{ ...one, start: 0, end: text.length },
  }))
}

/** A single line break inside of a sentence: no empty line, no list, table or code behind it. */
const WRAPPED = /(?<=\S)[ \t]*\r?\n[ \t>]*(?=[^\s>*•#|{}"<\d-])/g

function matchLines(
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
    const { kind, severity } = pattern
    for (const { start, end } of findPattern(small, pattern, budget)) {
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

/** Searched only near what it needs, which most texts have in few places. */
function* findPattern(small: string, pattern: Pattern, budget: ScanBudget): Generator<Span> {
  if (!spend(budget, small.length)) return
  for (const { start, end } of windowsOf(small, pattern)) {
    if (!spend(budget, (end - start) * pattern.links.length)) return
    const part = small.slice(start, end)
    for (const found of findChains(part, pattern, FINDINGS_MAX, budget))
      yield { start: start + found.start, end: start + found.end }
  }
}

/** Around every place of what a pattern needs: as far as a match that has it can reach. */
function* windowsOf(small: string, { needs, links, gaps }: Pattern): Generator<Span> {
  const reach =
    gaps.reduce((sum, { chars }) => sum + chars, 0) + (links.length + 1) * LINK_CHARS_MAX
  const places = new RegExp(needs, 'g')
  let start = -1
  let end = -1
  for (let found = places.exec(small); found !== null; found = places.exec(small)) {
    if (start < 0 || found.index - reach > end) {
      if (start >= 0) yield { start, end }
      start = Math.max(0, found.index - reach)
    }
    // Places as near as this need not be found one by one.
    end = Math.min(small.length, found.index + 2 * reach)
    places.lastIndex = found.index + reach
  }
  if (start >= 0) yield { start, end }
}

/** No link's words are longer, with what it looks at beside them. */
const LINK_CHARS_MAX = 200

/** Small letters in the same places: of all letters only this one becomes two. */
function toSmall(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase()
}
