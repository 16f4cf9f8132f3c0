// Faithfulness of the evidence: with the shown words removed, the category must change or the
// confidence fall below its threshold; with as many other words removed it must not.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isObject } from '@sluice/policy/values/json'
import { assessTool, CONFIDENCE_MIN } from '../../../packages/catalogue/src/classify/classify.ts'
import { removePlaces } from '../../../packages/catalogue/src/classify/minimal-evidence.ts'
import type { Model } from '../../../packages/catalogue/src/classify/score.ts'
import { below, type SignalSpan } from '../../../packages/catalogue/src/signals/signal.ts'

interface Faithfulness {
  readonly tools: number
  /** Share whose category changes without the evidence. */
  readonly withEvidence: number
  /** Share whose category changes without as many random words. */
  readonly withRandomWords: number
}

export function faithfulness(tools: readonly ToolDefinition[], model: Model): Faithfulness {
  let judged = 0
  let fell = 0
  let fellAtRandom = 0
  tools.forEach((tool, index) => {
    const { annotations: _withheld, ...definition } = tool
    const { category, evidence } = assessTool(definition, model)
    if (category === 'Read') return
    judged++
    const falls = (places: readonly SignalSpan[]) => {
      const after = assessTool(removePlaces(definition, places), model)
      return after.category !== category || after.confidence < CONFIDENCE_MIN
    }
    if (falls(evidence)) fell++
    if (falls(drawPlaces(definition, evidence, index + 1))) fellAtRandom++
  })
  const share = (part: number) => Math.round((part / judged) * 1_000) / 1_000
  return { tools: judged, withEvidence: share(fell), withRandomWords: share(fellAtRandom) }
}

/**
 * As many words of name and description, and as many arguments, drawn by a simple generator seeded
 * with the tool's number.
 */
function drawPlaces(
  definition: ToolDefinition,
  evidence: readonly SignalSpan[],
  seed: number,
): SignalSpan[] {
  const words: SignalSpan[] = []
  for (const [at, text] of [
    ['/name', definition.name],
    ['/description', definition.description ?? ''],
  ] as const)
    for (const found of text.matchAll(/[A-Z]?[a-z]+|[A-Z]+/g))
      words.push({ at, start: found.index, end: found.index + found[0].length })
  const schema = definition.inputSchema
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  const whole = Object.keys(properties).map((name) => ({
    at: below('/inputSchema/properties', name),
    start: 0,
    end: 0,
  }))
  const shown = new Set(evidence.filter(({ start, end }) => start === end).map(({ at }) => at))
  let state = seed * 2_654_435_761
  const draw = (places: SignalSpan[], count: number) =>
    Array.from({ length: Math.min(count, places.length) }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return places.splice(state % places.length, 1)
    }).flat()
  return [
    ...draw(words, evidence.filter(({ start, end }) => start < end).length),
    ...draw(whole, whole.filter(({ at }) => shown.has(at)).length),
  ]
}
