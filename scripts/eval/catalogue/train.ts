// Learns the weights of the catalogue's signals: multinomial logistic regression, drawn towards what
// the lexicon says by itself, by plain gradient descent from the same start. No randomness: the same
// data gives the same numbers.

import { classOf, FAMILY_NAMES, type Family } from '../../../src/catalogue/lexicon.ts'
import { BIAS } from '../../../src/catalogue/score.ts'
import { CATEGORIES, type Category } from '../../../src/core/tools.ts'

export interface Example {
  readonly server: string
  readonly name: string
  readonly category: Category
  readonly amounts: ReadonlyMap<string, number>
}

const STEPS = 400
const RATE = 0.5
/** How strongly a weight is held to its beginning. */
const PULL = 0.004

/** What a signal is worth before any example: its family's or choice's own class. */
export function priorOf(feature: string): number[] {
  const weights = [0, 0, 0, 0, 0]
  for (const [pattern, category, strength] of PRIORS)
    if (pattern.test(feature)) {
      weights[CATEGORIES.indexOf(category)] = strength
      return weights
    }
  const [, zone, said] = /^([a-z.]+):(.+)$/.exec(feature) ?? []
  if (zone === undefined || said === undefined) return weights
  const known = FAMILY_NAMES.includes(said as Family) ? classOf(said as Family) : said
  const index = CATEGORIES.indexOf(known as Category)
  if (index >= 0) weights[index] = STRENGTH[zone] ?? 0
  return weights
}

const STRENGTH: Readonly<Record<string, number>> = {
  name: 2.5,
  'name.and': 1.5,
  text: 2,
  'text.means': 2,
  'text.and': 0.7,
  'text.too': 0.3,
  'text.later': 0.3,
  acts: 1.5,
  choice: 2,
  mode: 1,
}

/** What company says, before any example. */
const PRIORS: readonly (readonly [RegExp, Category, number])[] = [
  [/^name\.(act|none)\+money\.object$/, 'Financial', 2],
  [/^text\.act\+money\.object$/, 'Financial', 1.5],
  [/\+money\.near$/, 'Financial', 0.5],
  [/^deal with money:name\.object$/, 'Financial', 2],
  [/^deal with money:text\.object$/, 'Financial', 1.5],
  [/^deal with money:/, 'Financial', 0.5],
  [/^says:money moves$/, 'Financial', 3],
  [/^arg:money$/, 'Financial', 0.5],
  [/^says:gone for good$/, 'Destructive', 1.5],
  [/^says:restores over$/, 'Destructive', 2],
  [/^says:(to|from) the trash$/, 'Write', 2.5],
  [/^changes a price$/, 'Financial', 2.5],
  [/^(name|text)\.act\+inquiry\.object$/, 'Read', 1],
  [/^pictures a screen$/, 'Read', 3],
  [/^text\.read\+lore$/, 'Read', 2],
  [/^(name|text)\.act\+passing\.(object|near)$/, 'Read', 0.5],
  [/^says:only reads$/, 'Read', 1],
  [/^says:runs anything$/, 'Execute', 1],
  [/^arg:(sql|program)$/, 'Execute', 1],
  [/^(name|text)\.act\+screen\.object$|^server:screen$/, 'Execute', 1],
  [/^(name|text)\.act\+program\.object$/, 'Execute', 0.5],
]

export function train(examples: readonly Example[]): Map<string, number[]> {
  const features = [BIAS, ...featuresOf(examples)]
  const ids = new Map(features.map((feature, id) => [feature, id]))
  const rows = examples.map(({ amounts, category }) => ({
    ids: Int32Array.from([0, ...[...amounts.keys()].map((feature) => ids.get(feature) as number)]),
    amounts: Float64Array.from([1, ...amounts.values()]),
    truth: CATEGORIES.indexOf(category),
  }))
  const prior = Float64Array.from(features.flatMap((feature) => priorOf(feature)))
  const weights = prior.slice()
  const speed = new Float64Array(weights.length)
  for (let step = 0; step < STEPS; step++) {
    const slope = slopeOf(rows, weights)
    for (let at = 0; at < weights.length; at++) {
      const pull = at < CLASSES ? 0 : PULL * ((weights[at] as number) - (prior[at] as number))
      speed[at] = 0.9 * (speed[at] as number) - RATE * ((slope[at] as number) + pull)
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
}

function slopeOf(rows: readonly Row[], weights: Float64Array): Float64Array {
  const slope = new Float64Array(weights.length)
  const sums = new Float64Array(CLASSES)
  for (const { ids, amounts, truth } of rows) {
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
      const error = ((sums[index] as number) / total - (index === truth ? 1 : 0)) / rows.length
      for (let at = 0; at < ids.length; at++) {
        const place = (ids[at] as number) * CLASSES + index
        slope[place] = (slope[place] as number) + error * (amounts[at] as number)
      }
    }
  }
  return slope
}

/** Those seen, and those the lexicon has a word for: a family nobody showed still has its prior. */
function featuresOf(examples: readonly Example[]): string[] {
  const seen = new Set(examples.flatMap(({ amounts }) => [...amounts.keys()]))
  for (const zone of Object.keys(STRENGTH))
    for (const said of ['choice', 'acts', 'mode'].includes(zone) ? CATEGORIES : FAMILY_NAMES)
      seen.add(`${zone}:${said}`)
  return [...seen].sort()
}
