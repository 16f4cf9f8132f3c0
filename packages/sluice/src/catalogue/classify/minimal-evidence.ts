// The words a class stands on: the strongest evidence first, and no more of it than it takes for the
// class to fall when those words are gone. Where it still stands on others, those are evidence too.
// So what is shown is what decided, and the eval can measure it. Pure; called by classify.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import { EVIDENCE_MAX } from '../signals/limits.ts'
import type { Signal } from '../signals/signal.ts'
import type { CategoryScore } from './classify.ts'
import { type Evidence, toEvidence, type WeightedSignal, weigh } from './evidence.ts'
import type { Weights } from './score.ts'

/** The verdict without some words, if the class still stands. */
type RescoreWithout = (
  without: ToolDefinition,
  schema: readonly Signal[],
) => CategoryScore | undefined

const ROUNDS_MAX = 8
/** What speaks clearly is shown at once; of what does not, so many at a time. */
const CLEAR_WEIGHT = 0.8
const UNCLEAR_MAX = 2

interface EvidenceSetting {
  readonly schema: readonly Signal[]
  readonly weights: Weights
  readonly stands: RescoreWithout
}

export function findMinimalEvidence(
  definition: ToolDefinition,
  judged: CategoryScore,
  { schema, weights, stands }: EvidenceSetting,
): Evidence[] {
  const shown: WeightedSignal[] = []
  let here = { definition, judged }
  let schemaLeft = schema
  for (let round = 0; round < ROUNDS_MAX && shown.length < EVIDENCE_MAX; round++) {
    const { own, signals, floor } = here.judged
    const weighted = weigh(own, signals, floor, weights)
    const clear = weighted.filter(({ weight }) => weight >= CLEAR_WEIGHT)
    const next = clear.length > 0 ? clear : weighted.slice(0, UNCLEAR_MAX)
    if (next.length === 0) break
    shown.push(...next)
    // A read is what is left where nothing else speaks: its words are shown, not tried.
    if (own === 'Read') break
    const gone = new Set(next.map(({ signal }) => signal.at))
    schemaLeft = schemaLeft.filter(({ at, start, end }) => end === start || !gone.has(at))
    const without = blank(here.definition, next)
    const again = stands(without, schemaLeft)
    if (again === undefined) break
    here = { definition: without, judged: again }
  }
  // Words that are gone in a later round stand in the definition as it was.
  return shown.slice(0, EVIDENCE_MAX).map((one) => toEvidence(definition, one))
}

/** The definition with the words of name, title and description as spaces. */
function blank(definition: ToolDefinition, words: readonly WeightedSignal[]): ToolDefinition {
  let { name, title, description } = definition
  for (const { at, start, end } of words.map(({ signal }) => signal)) {
    if (at === '/name') name = blankOut(name, start, end)
    else if (at === '/title' && title !== undefined) title = blankOut(title, start, end)
    else if (at === '/description' && description !== undefined)
      description = blankOut(description, start, end)
  }
  return {
    ...definition,
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  }
}

function blankOut(text: string, start: number, end: number): string {
  return text.slice(0, start) + ' '.repeat(end - start) + text.slice(end)
}
