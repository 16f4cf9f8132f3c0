// Faithfulness of the evidence: with the shown words removed, the category must change or the
// confidence fall below its threshold; with as many other words removed it must not.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import {
  assessTool,
  CONFIDENCE_MIN,
} from '../../../packages/sluice/src/catalogue/classify/classify.ts'
import { readPointer } from '../../../packages/sluice/src/catalogue/classify/evidence.ts'
import type { Weights } from '../../../packages/sluice/src/catalogue/classify/score.ts'

interface Faithfulness {
  readonly tools: number
  /** Share whose category changes without the evidence. */
  readonly withEvidence: number
  /** Share whose category changes without as many random words. */
  readonly withRandomWords: number
}

interface Span {
  readonly at: string
  readonly start: number
  readonly end: number
}

export function faithfulness(tools: readonly ToolDefinition[], weights: Weights): Faithfulness {
  let judged = 0
  let fell = 0
  let fellAtRandom = 0
  tools.forEach((tool, index) => {
    const { annotations: _withheld, ...definition } = tool
    const { category, evidence } = assessTool(definition, weights)
    if (category === 'Read') return
    judged++
    const falls = (spans: readonly Span[]) => {
      const after = assessTool(blank(definition, spans), weights)
      return after.category !== category || after.confidence < CONFIDENCE_MIN
    }
    const shown = evidence.filter(({ start, end }) => end > start)
    if (falls(shown)) fell++
    if (falls(randomWords(definition, shown.length, index + 1))) fellAtRandom++
  })
  const share = (part: number) => Math.round((part / judged) * 1_000) / 1_000
  return { tools: judged, withEvidence: share(fell), withRandomWords: share(fellAtRandom) }
}

function blank(definition: ToolDefinition, spans: readonly Span[]): ToolDefinition {
  const copy = structuredClone(definition) as unknown as Record<string, unknown>
  for (const { at, start, end } of spans) {
    const cut = at.lastIndexOf('/')
    const holder = (cut === 0 ? copy : readPointer(copy, at.slice(0, cut))) as
      | Record<string, unknown>
      | undefined
    const key = at
      .slice(cut + 1)
      .replaceAll('~1', '/')
      .replaceAll('~0', '~')
    const text = holder?.[key]
    if (holder === undefined || typeof text !== 'string') continue
    holder[key] = text.slice(0, start) + ' '.repeat(end - start) + text.slice(end)
  }
  return copy as unknown as ToolDefinition
}

/**
 * As many words of name and description, drawn by a simple generator seeded with the tool's number.
 */
function randomWords(definition: ToolDefinition, count: number, seed: number): Span[] {
  const words: Span[] = []
  for (const [at, text] of [
    ['/name', definition.name],
    ['/description', definition.description ?? ''],
  ] as const)
    for (const found of text.matchAll(/[A-Z]?[a-z]+|[A-Z]+/g))
      words.push({ at, start: found.index, end: found.index + found[0].length })
  let state = seed * 2_654_435_761
  const drawn: Span[] = []
  for (let left = Math.min(count, words.length); left > 0; left--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    drawn.push(...words.splice(state % words.length, 1))
  }
  return drawn
}
