// The words of a definition that speak for its class: the places of the signals that raise it, the
// strongest first, several signals at one place as one. Pure; called by stand-on.

import { CATEGORIES, type ToolDefinition } from '@sluice/policy/calls/tools'
import type { JsonValue } from '@sluice/policy/values/json'
import { isObject } from '@sluice/policy/values/json'
import { unescapePointer } from '@sluice/policy/values/json-pointer'
import { amountsOf } from '../signals/gather-signals.ts'
import { isWordFeature } from '../signals/read-words.ts'
import type { Signal } from '../signals/signal.ts'
import type { CategoryScore } from './classify.ts'
import { describeSignal, type EvidenceKind, kindOfSignal } from './describe-signal.ts'
import { type Model, NETWORK_SHARE } from './score.ts'

/**
 * A passage of a definition that its category rests on.
 *
 * @example
 * ```ts
 * for (const { at, text, says } of assessTool(definition).evidence) console.log(at, text, says)
 * ```
 */
export interface Evidence {
  /** JSON Pointer of the text in the definition. */
  readonly at: string
  /** Where the words begin and end in that text; both are 0 if all of it is meant. */
  readonly start: number
  readonly end: number
  /** The words themselves; of a whole argument its name. */
  readonly text: string
  /** What they tell, for programs. */
  readonly kind: EvidenceKind
  /** What they tell, for people. */
  readonly says: string
  /** What it adds for the class over what it adds for the others; a floor counts as 9. */
  readonly weight: number
}

const FLOOR_WEIGHT = 9
const WEIGHT_MIN = 0.05

/** A place that speaks for the class, and how much. */
export interface WeightedSignal {
  /** The strongest signal at this place. */
  readonly signal: Signal
  /** What all signals at this place weigh together. */
  readonly weight: number
}

/** What places weigh for the class that was found, the heaviest first. */
export function weigh(
  definition: ToolDefinition,
  { own, signals, floor }: CategoryScore,
  model: Model,
): readonly WeightedSignal[] {
  const index = CATEGORIES.indexOf(own)
  const read = model.network?.explain(definition, signals, amountsOf(signals))
  const pullOf = (feature: string) => {
    const weighed = speaksFor(model.weights.get(feature), index)
    if (read === undefined) return weighed
    return (1 - NETWORK_SHARE) * weighed + NETWORK_SHARE * speaksFor(read.pulls.get(feature), index)
  }
  const places = new Map<string, { signal: Signal; weight: number; most: number }>()
  for (const signal of [...signals, ...(read?.words ?? [])]) {
    const floored = floor?.category === own && floor.feature === signal.feature
    const weight = floored ? FLOOR_WEIGHT : pullOf(signal.feature) * signal.amount
    if (weight < WEIGHT_MIN) continue
    const key = `${signal.at}\n${signal.start}\n${signal.end}`
    const known = places.get(key)
    if (known === undefined) places.set(key, { signal, weight, most: weight })
    else {
      known.weight += weight
      // A signal says more than that a word is there.
      if (weight > known.most && !isWordFeature(signal.feature))
        Object.assign(known, { signal, most: weight })
    }
  }
  return [...places.values()].sort((a, b) => b.weight - a.weight)
}

/** How much more it weighs for this class than for the others on the whole. */
function speaksFor(values: readonly number[] | undefined, index: number): number {
  if (values === undefined) return 0
  const rest = values.reduce((sum, value, at) => (at === index ? sum : sum + value), 0)
  return (values[index] as number) - rest / (values.length - 1)
}

export function toEvidence(
  definition: ToolDefinition,
  { signal, weight }: WeightedSignal,
): Evidence {
  const { at, start, end, feature } = signal
  const value = readPointer(definition, at)
  const key = unescapePointer(at.slice(at.lastIndexOf('/') + 1))
  const text = typeof value === 'string' ? value.slice(start, end) : start === end ? key : ''
  const rounded = Math.round(weight * 100) / 100
  return {
    at,
    start,
    end,
    text,
    kind: kindOfSignal(feature),
    says: describeSignal(feature),
    weight: rounded,
  }
}

/** The value that a JSON Pointer refers to; undefined if it refers to nothing. */
export function readPointer(value: unknown, pointer: string): JsonValue | undefined {
  let here = value as JsonValue | undefined
  for (const part of pointer.split('/').slice(1)) {
    const key = unescapePointer(part)
    if (Array.isArray(here)) here = here[Number(key)]
    else if (isObject(here) && Object.hasOwn(here, key)) here = here[key]
    else return undefined
  }
  return here
}
