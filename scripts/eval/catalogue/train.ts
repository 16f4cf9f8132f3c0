// Learns the weights of the catalogue's signals: multinomial logistic regression, regularised
// towards the lexicon's priors, by plain gradient descent from a fixed start. Deterministic: the
// same data gives the same numbers.

import { CATEGORIES, type Category, type ToolDefinition } from '@sluice/policy/calls/tools'
import { BIAS } from '../../../packages/catalogue/src/classify/score.ts'
import { COMBINED_FEATURES } from '../../../packages/catalogue/src/signals/combined-signals.ts'
import { FAMILY_NAMES } from '../../../packages/catalogue/src/signals/lexicon.ts'
import { getPrior, STRENGTH } from './priors.ts'

export interface Example {
  readonly tool: ToolDefinition
  readonly category: Category
  readonly amounts: ReadonlyMap<string, number>
  /** Its weight relative to the others. */
  readonly counts: number
}

const STEPS = 400
const RATE = 0.5
/** Strength of the regularisation towards the prior. */
const PULL = 0.002
/** A server of a hundred tools counts as ten of one: tools of one server are redundant. */
const SERVER_POWER = 0.5

export function train(examples: readonly Example[]): Map<string, number[]> {
  const features = [BIAS, ...listFeatures(examples)]
  const ids = new Map(features.map((feature, id) => [feature, id]))
  const rows = examples.map(({ amounts, category }) => ({
    ids: Int32Array.from([0, ...[...amounts.keys()].map((feature) => ids.get(feature) as number)]),
    amounts: Float64Array.from([1, ...amounts.values()]),
    truth: CATEGORIES.indexOf(category),
    share: 0,
  }))
  shareOut(examples, rows)
  const start = Float64Array.from(features.flatMap((feature) => getPrior(feature)))
  const weights = start.slice()
  const speed = new Float64Array(weights.length)
  for (let step = 0; step < STEPS; step++) {
    const slope = computeGradient(rows, weights)
    for (let at = 0; at < weights.length; at++) {
      const off = (weights[at] as number) - (start[at] as number)
      const drawn = at < CLASSES ? 0 : PULL * off
      speed[at] = 0.9 * (speed[at] as number) - RATE * ((slope[at] as number) + drawn)
      weights[at] = (weights[at] as number) + (speed[at] as number)
    }
  }
  return new Map(
    features.map((feature, id) => [
      feature,
      [...weights.subarray(id * CLASSES, (id + 1) * CLASSES)].map(
        (value) => Math.round(value * 100) / 100,
      ),
    ]),
  )
}

const CLASSES = CATEGORIES.length

interface Row {
  readonly ids: Int32Array
  readonly amounts: Float64Array
  readonly truth: number
  /** The share of this example. */
  share: number
}

function computeGradient(rows: readonly Row[], weights: Float64Array): Float64Array {
  const slope = new Float64Array(weights.length)
  const sums = new Float64Array(CLASSES)
  for (const { ids, amounts, truth, share } of rows) {
    sums.fill(0)
    for (let at = 0; at < ids.length; at++)
      for (let index = 0; index < CLASSES; index++)
        sums[index] =
          (sums[index] as number) +
          (amounts[at] as number) * (weights[(ids[at] as number) * CLASSES + index] as number)
    const top = Math.max(...sums)
    let total = 0
    for (let index = 0; index < CLASSES; index++)
      total += sums[index] = Math.exp((sums[index] as number) - top)
    for (let index = 0; index < CLASSES; index++) {
      const error = ((sums[index] as number) / total - (index === truth ? 1 : 0)) * share
      for (let at = 0; at < ids.length; at++) {
        const place = (ids[at] as number) * CLASSES + index
        slope[place] = (slope[place] as number) + error * (amounts[at] as number)
      }
    }
  }
  return slope
}

function shareOut(examples: readonly Example[], rows: readonly Row[]): void {
  const tools = new Map<string, number>()
  for (const { tool } of examples) tools.set(tool.server, (tools.get(tool.server) ?? 0) + 1)
  const counts = examples.map(
    ({ tool, counts }) => counts * (tools.get(tool.server) as number) ** -SERVER_POWER,
  )
  const whole = counts.reduce((sum, count) => sum + count, 0)
  rows.forEach((row, index) => {
    row.share = (counts[index] as number) / whole
  })
}

/** Those in the lexicon: a family without examples still has its prior. */
function knownFeatures(): string[] {
  const known: string[] = [...COMBINED_FEATURES]
  for (const zone of Object.keys(STRENGTH))
    for (const value of ['choice', 'acts', 'mode', 'alone'].includes(zone)
      ? CATEGORIES
      : FAMILY_NAMES)
      known.push(`${zone}:${value}`)
  return known
}

function listFeatures(examples: readonly Example[]): string[] {
  const seen = new Set([
    ...knownFeatures(),
    ...examples.flatMap(({ amounts }) => [...amounts.keys()]),
  ])
  return [...seen].sort()
}
