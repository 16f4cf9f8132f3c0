// The words a class stands on: the strongest evidence first, and no more of it than it takes for the
// class to fall when those words are gone. Where it still stands on others, those are evidence too.
// So what is shown is what decided, and the eval can measure it. Pure; called by classify.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isObject } from '@sluice/policy/values/json'
import { unescapePointer } from '@sluice/policy/values/json-pointer'
import { EVIDENCE_MAX } from '../signals/limits.ts'
import type { SignalSpan } from '../signals/signal.ts'
import type { CategoryScore } from './classify.ts'
import { type Evidence, toEvidence, type WeightedSignal, weigh } from './evidence.ts'
import type { Model } from './score.ts'

/** The verdict without some words, if the class still stands. */
type RescoreWithout = (without: ToolDefinition) => CategoryScore | undefined

const ROUNDS_MAX = 8
/** What speaks clearly is shown at once; of what does not, so many at a time. */
const CLEAR_WEIGHT = 1.2
const UNCLEAR_MAX = 2

interface EvidenceSetting {
  readonly model: Model
  readonly stands: RescoreWithout
}

export function findMinimalEvidence(
  definition: ToolDefinition,
  judged: CategoryScore,
  { model, stands }: EvidenceSetting,
): Evidence[] {
  const shown: WeightedSignal[] = []
  let here = { definition, judged }
  for (let round = 0; round < ROUNDS_MAX && shown.length < EVIDENCE_MAX; round++) {
    const weighted = weigh(here.definition, here.judged, model)
    const clear = weighted.filter(({ weight }) => weight >= CLEAR_WEIGHT)
    const next = clear.length > 0 ? clear : weighted.slice(0, UNCLEAR_MAX)
    if (next.length === 0) break
    shown.push(...next)
    // A read is what is left where nothing else speaks: its words are shown, not tried.
    if (here.judged.own === 'Read') break
    const without = removePlaces(
      here.definition,
      next.map(({ signal }) => signal),
    )
    const again = stands(without)
    if (again === undefined) break
    here = { definition: without, judged: again }
  }
  // Words that are gone in a later round stand in the definition as it was.
  return shown.slice(0, EVIDENCE_MAX).map((one) => toEvidence(definition, one))
}

/** The definition with spaces in the place of words, and without the arguments that are shown as a whole. */
export function removePlaces(
  definition: ToolDefinition,
  places: readonly SignalSpan[],
): ToolDefinition {
  let left: unknown = definition
  for (const { at, start, end } of places) {
    const keys = at.split('/').slice(1).map(unescapePointer)
    if (start < end) left = changeAt(left, keys, (text) => blank(text, start, end))
    else if (IS_ARGUMENT.test(at)) left = changeAt(left, keys, () => undefined)
  }
  return left as ToolDefinition
}

const IS_ARGUMENT = /^\/inputSchema\/properties\/[^/]+$/

/** A copy with the value at these keys changed; undefined takes a member away. */
function changeAt(
  value: unknown,
  [key, ...rest]: readonly string[],
  change: (value: unknown) => unknown,
): unknown {
  if (key === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((item, at) => (String(at) === key ? changeAt(item, rest, change) : item))
  if (!isObject(value)) return value
  const members = Object.entries(value)
    .map(
      ([name, member]) => [name, name === key ? changeAt(member, rest, change) : member] as const,
    )
    .filter(([, member]) => member !== undefined)
  return Object.fromEntries(members)
}

function blank(text: unknown, start: number, end: number): unknown {
  if (typeof text !== 'string') return text
  return text.slice(0, start) + ' '.repeat(end - start) + text.slice(end)
}
