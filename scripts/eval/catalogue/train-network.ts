// Learns the numbers of the network: stochastic gradient descent with a step of its own for each
// number, inputs left out at random so that no word decides alone. Deterministic: a fixed generator,
// fixed orders, so the same data gives the same numbers.

import { CATEGORIES } from '@sluice/policy/calls/tools'
import {
  encodeLetter,
  featuresOfWord,
  INPUT_SCALE,
  type NetworkData,
} from '../../../packages/catalogue/src/classify/network.ts'
import { isWordFeature, placeWords } from '../../../packages/catalogue/src/signals/read-words.ts'
import type { Example } from './train.ts'

/** Parts of the hidden layer that are trained each by itself: their mean errs less than one of all. */
const PARTS = 2
const PART_UNITS = 10
const EPOCHS = 10
const RATE = 0.03
/** The share of the inputs that is left out. */
const DROPPED = 0.3
const DECAY = 1e-5
/** Words that fewer servers use identify the server; parts of words are in many. */
const WORD_SERVERS_MIN = 4
const PART_SERVERS_MIN = 6
/** A server of a hundred tools counts as ten of one: tools of one server are redundant. */
const SERVER_POWER = 0.5
/** No example counts more than so many of the average. */
const SHARE_MAX = 3
const CLASSES = CATEGORIES.length

export function trainNetwork(examples: readonly Example[]): NetworkData {
  const { rows, features } = toRows(examples)
  const parts = Array.from({ length: PARTS }, (_, part) =>
    trainPart(rows, features.length, part + 1),
  )
  const round = (value: number) => Math.round(value * 1_000) / 1_000
  return {
    bias: parts.flatMap(({ bias }) => [...bias].map(round)),
    output: parts.flatMap(({ output }) =>
      Array.from({ length: PART_UNITS }, (_, unit) =>
        [...output.subarray(unit * CLASSES, (unit + 1) * CLASSES)].map((value) =>
          round(value / PARTS),
        ),
      ),
    ),
    constant: CATEGORIES.map((_, index) =>
      round(parts.reduce((sum, { constant }) => sum + (constant[index] as number), 0) / PARTS),
    ),
    features: Object.fromEntries(
      features.map((feature, id) => [
        feature,
        parts
          .map(({ input }) =>
            [...input.subarray(id * PART_UNITS, (id + 1) * PART_UNITS)].map(encodeLetter).join(''),
          )
          .join(''),
      ]),
    ),
  }
}

interface Row {
  readonly ids: Int32Array
  readonly amounts: Float32Array
  readonly truth: number
  readonly share: number
}

function toRows(examples: readonly Example[]): { rows: Row[]; features: string[] } {
  const tools = new Map<string, number>()
  for (const { tool } of examples) tools.set(tool.server, (tools.get(tool.server) ?? 0) + 1)
  const inputs = examples.map(listInputs)
  const servers = new Map<string, Set<string>>()
  inputs.forEach((input, at) => {
    for (const [feature] of input) {
      const known = servers.get(feature) ?? new Set()
      servers.set(feature, known.add((examples[at] as Example).tool.server))
    }
  })
  const isKept = (feature: string, { size }: ReadonlySet<string>) =>
    size >=
    (feature.startsWith('~') ? PART_SERVERS_MIN : isWordFeature(feature) ? WORD_SERVERS_MIN : 1)
  const features = [...servers]
    .filter(([feature, used]) => isKept(feature, used))
    .map(([feature]) => feature)
    .sort()
  const ids = new Map(features.map((feature, id) => [feature, id]))
  const counts = examples.map(
    ({ tool, counts }) => counts * (tools.get(tool.server) as number) ** -SERVER_POWER,
  )
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
  const rows = inputs.map((input, at): Row => {
    const kept = input.filter(([feature]) => ids.has(feature))
    return {
      ids: Int32Array.from(kept.map(([feature]) => ids.get(feature) as number)),
      amounts: Float32Array.from(kept.map(([, amount]) => amount)),
      truth: CATEGORIES.indexOf((examples[at] as Example).category),
      share: Math.min(SHARE_MAX, (counts[at] as number) / mean),
    }
  })
  return { rows, features }
}

/** The signals, and every word of a zone once. */
function listInputs({ tool, amounts }: Example): (readonly [string, number])[] {
  const seen = new Set<string>()
  const inputs: (readonly [string, number])[] = [...amounts]
  for (const { zone, word } of placeWords(tool)) {
    const key = `${zone} ${word}`
    if (!seen.has(key)) inputs.push(...featuresOfWord(zone, word))
    seen.add(key)
  }
  return inputs
}

interface Part {
  readonly input: Float32Array
  readonly bias: Float32Array
  readonly output: Float32Array
  readonly constant: Float32Array
}

function trainPart(rows: readonly Row[], features: number, seed: number): Part {
  const random = createRandom(seed)
  const start = (size: number, spread: number) =>
    Float32Array.from({ length: size }, () => (random() - 0.5) * spread)
  const input = new Parameters(start(features * PART_UNITS, 0.3))
  const output = new Parameters(start(PART_UNITS * CLASSES, 0.5))
  const bias = new Parameters(new Float32Array(PART_UNITS))
  const constant = new Parameters(new Float32Array(CLASSES))
  const order = rows.map((_, at) => at)
  const hidden = new Float32Array(PART_UNITS)
  const blame = new Float32Array(PART_UNITS)
  const errors = new Float64Array(CLASSES)
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    shuffle(order, random)
    for (const at of order) {
      const { ids, amounts, truth, share } = rows[at] as Row
      const used: number[] = []
      let squares = 1
      for (let each = 0; each < ids.length; each++)
        if (random() >= DROPPED) {
          used.push(each)
          squares += (amounts[each] as number) ** 2
        }
      const scale = INPUT_SCALE / Math.sqrt(squares)
      hidden.set(bias.values)
      for (const each of used) {
        const from = (ids[each] as number) * PART_UNITS
        const amount = (amounts[each] as number) * scale
        for (let unit = 0; unit < PART_UNITS; unit++)
          hidden[unit] = (hidden[unit] as number) + amount * (input.values[from + unit] as number)
      }
      errors.set(constant.values)
      for (let unit = 0; unit < PART_UNITS; unit++)
        for (let index = 0; index < CLASSES; index++)
          errors[index] =
            (errors[index] as number) +
            Math.max(0, hidden[unit] as number) * (output.values[unit * CLASSES + index] as number)
      toErrors(errors, truth, share)
      blame.fill(0)
      for (let unit = 0; unit < PART_UNITS; unit++) {
        if ((hidden[unit] as number) <= 0) continue
        for (let index = 0; index < CLASSES; index++) {
          const place = unit * CLASSES + index
          const error = errors[index] as number
          blame[unit] = (blame[unit] as number) + error * (output.values[place] as number)
          output.step(place, error * (hidden[unit] as number))
        }
        bias.step(unit, blame[unit] as number)
      }
      for (let index = 0; index < CLASSES; index++) constant.step(index, errors[index] as number)
      for (const each of used) {
        const from = (ids[each] as number) * PART_UNITS
        const amount = (amounts[each] as number) * scale
        for (let unit = 0; unit < PART_UNITS; unit++)
          if ((hidden[unit] as number) > 0)
            input.step(
              from + unit,
              (blame[unit] as number) * amount + DECAY * (input.values[from + unit] as number),
            )
      }
    }
  }
  return {
    input: input.values,
    bias: bias.values,
    output: output.values,
    constant: constant.values,
  }
}

/** Numbers that are learnt, each with the sum of its squared slopes: what moved much moves less (AdaGrad). */
class Parameters {
  readonly values: Float32Array
  readonly #squares: Float32Array

  constructor(values: Float32Array) {
    this.values = values
    this.#squares = new Float32Array(values.length).fill(1e-3)
  }

  step(at: number, slope: number): void {
    const squares = (this.#squares[at] as number) + slope * slope
    this.#squares[at] = squares
    this.values[at] = (this.values[at] as number) - (RATE * slope) / Math.sqrt(squares)
  }
}

/** From sums to shares less the truth. */
function toErrors(sums: Float64Array, truth: number, share: number): void {
  const top = Math.max(...sums)
  let total = 0
  for (let index = 0; index < CLASSES; index++)
    total += sums[index] = Math.exp((sums[index] as number) - top)
  for (let index = 0; index < CLASSES; index++)
    sums[index] = ((sums[index] as number) / total - (index === truth ? 1 : 0)) * share
}

function shuffle(order: number[], random: () => number): void {
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    const kept = order[at] as number
    order[at] = order[other] as number
    order[other] = kept
  }
}

/** Numbers from 0 to 1 by the mulberry32 generator. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
