// Patterns of the form "these words, a short gap, those words": linear whatever the text, where a
// regular expression tries every gap again for every first word. Each link is searched once over the
// text; the matches are then joined from left to right, each with the nearest one before it. Pure.

/** What may stand between two links: at most `chars`, and none of `stops`. */
export interface GapRule {
  readonly chars: number
  readonly stops: '.\n' | '\n' | '.?\n' | '。\n' | ''
}

export interface Link {
  /** Global. Without gaps of its own: it may look at a few words only. */
  readonly words: RegExp
  /** Whether words that stand here count. */
  readonly mayStart?: (text: string, start: number) => boolean
}

export interface PatternChain {
  readonly links: readonly [Link, ...Link[]]
  /** One less than links. */
  readonly gaps: readonly GapRule[]
}

export interface TextSpan {
  readonly start: number
  readonly end: number
}

/** The first `spansMax` places where all links follow each other. Every link that is searched and every place of it
 * is charged to the budget; what was found when it is used up is incomplete. */
export function findChains(
  text: string,
  { links, gaps }: PatternChain,
  spansMax: number,
  budget: { charsLeft: number },
): TextSpan[] {
  const [first, ...rest] = links
  const everywhere = { start: 0, end: text.length }
  let reached = spansOf(text, first, {
    within: everywhere,
    budget,
    max: rest.length === 0 ? spansMax : Number.POSITIVE_INFINITY,
  })
  for (const [at, link] of rest.entries()) {
    if (reached.length === 0) return []
    const gap = gaps[at] as GapRule
    const within = behind(reached, gap, text.length)
    reached = join(
      text,
      reached,
      spansOf(text, link, { within, budget, max: Number.POSITIVE_INFINITY }),
      gap,
    )
  }
  return reached.slice(0, spansMax)
}

/** Where the next link may begin. */
function behind(reached: readonly TextSpan[], { chars }: GapRule, length: number): TextSpan {
  let start = length
  let end = 0
  for (const span of reached) {
    start = Math.min(start, span.end)
    end = Math.max(end, span.end)
  }
  return { start, end: Math.min(length, end + chars) }
}

/** What one place costs, in characters that are only searched. */
const SPAN_CHARS = 32
/** No link's words are longer, with what it looks at beside them. */
export const LINK_CHARS_MAX = 200

interface SpanSearch {
  /** Where a span may begin. */
  readonly within: TextSpan
  readonly budget: { charsLeft: number }
  readonly max: number
}

/** Every place where the words match, also those that begin inside another. */
function spansOf(
  text: string,
  { words, mayStart }: Link,
  { within, budget, max }: SpanSearch,
): TextSpan[] {
  const spans: TextSpan[] = []
  const part = text.slice(0, within.end + LINK_CHARS_MAX)
  budget.charsLeft -= part.length - within.start
  if (budget.charsLeft < 0) return spans
  words.lastIndex = within.start
  for (let found = words.exec(part); found !== null; found = words.exec(part)) {
    const start = found.index
    if (start > within.end) break
    const end = start + found[0].length
    words.lastIndex = start + 1
    budget.charsLeft -= SPAN_CHARS
    if (budget.charsLeft < 0) break
    if (mayStart?.(text, start) === false) continue
    spans.push({ start, end })
    if (spans.length >= max) break
  }
  return spans
}

/** Joins each match of `next` to one of `reached` that is near enough before it, and begins where that begins. The
 * nearest one before decides: if it is too far, or a stop is between, that holds for all before it. */
function join(
  text: string,
  reached: readonly TextSpan[],
  next: readonly TextSpan[],
  gap: GapRule,
): TextSpan[] {
  const byEnd = [...reached].sort((a, b) => a.end - b.end)
  const joined: TextSpan[] = []
  const stops = new StopsBefore(text, gap.stops)
  let taken = 0
  for (const { start, end } of next) {
    while (taken < byEnd.length && (byEnd[taken] as TextSpan).end <= start) taken++
    const before = byEnd[taken - 1]
    if (before === undefined || start - before.end > gap.chars) continue
    if (stops.last(start) < before.end) joined.push({ start: before.start, end })
  }
  return joined
}

/** The last stop before a place; places are asked for in their order. */
class StopsBefore {
  readonly #text: string
  readonly #stops: string
  #at = 0
  #last = -1

  constructor(text: string, stops: string) {
    this.#text = text
    this.#stops = stops
  }

  last(place: number): number {
    if (this.#stops === '') return -1
    for (; this.#at < place; this.#at++)
      if (this.#stops.includes(this.#text.charAt(this.#at))) this.#last = this.#at
    return this.#last
  }
}
