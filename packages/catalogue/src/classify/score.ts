// The model: the sum of what each signal weighs for each class, and what the network adds, made into
// shares of one. Pure; the numbers are in weights.json and network.json, learnt by
// `npm run eval -- catalogue`.

import { CATEGORIES, type Category, type ToolDefinition } from '@sluice/policy/calls/tools'
import type { Network } from './network.ts'

/** Maps each signal to its weights for Read, Write, Execute, Destructive and Financial. */
export type Weights = ReadonlyMap<string, readonly number[]>

export const BIAS = 'bias'

/** Weights of the signals, which the lexicon is the prior of, and the network beside them. */
export interface Model {
  readonly weights: Weights
  /** The network; if it is missing, the weights decide alone. */
  readonly network?: Network
}

/** The share of the network in what is summed; the rest is that of the weights. 0.5 was best on servers left out. */
export const NETWORK_SHARE = 0.5

/** Where the weights give Read this share, the network is not asked: it changes nothing there. */
const SURE_READ_SHARE = 0.99

/** Shares of the five classes, in their order. */
export function sharesOf(
  { weights, network }: Model,
  definition: ToolDefinition,
  amounts: ReadonlyMap<string, number>,
): number[] {
  const weighed = sumWeights(weights, amounts)
  const shares = toShares(weighed)
  if (network === undefined || (shares[0] as number) >= SURE_READ_SHARE) return shares
  const read = network.sum(definition, amounts)
  return toShares(
    weighed.map(
      (sum, index) => (1 - NETWORK_SHARE) * sum + NETWORK_SHARE * (read[index] as number),
    ),
  )
}

function sumWeights(weights: Weights, amounts: ReadonlyMap<string, number>): number[] {
  const sums = [...(weights.get(BIAS) ?? CATEGORIES.map(() => 0))]
  for (const [feature, amount] of amounts) {
    const values = weights.get(feature)
    if (values === undefined) continue
    for (let index = 0; index < sums.length; index++)
      sums[index] = (sums[index] as number) + amount * (values[index] as number)
  }
  return sums
}

function toShares(sums: readonly number[]): number[] {
  const top = Math.max(...sums)
  const powers = sums.map((sum) => Math.exp(sum - top))
  const total = powers.reduce((sum, power) => sum + power, 0)
  return powers.map((power) => power / total)
}

/** Read needs this share: a tool that changes something must not pass as one that reads. */
const READ_SHARE_MIN = 0.7
/** What runs, what cannot be undone and what costs counts more than its share. */
const STAKES = [0, 1, 1.2, 1.5, 4]
const READ_TIMES_MIN = 4

/** The class to act on: doubt goes to the riskier side. */
export function choose(shares: readonly number[]): Category {
  const read = shares[0] as number
  const most = Math.max(...stakedOf(shares))
  if (read >= READ_SHARE_MIN || read > READ_TIMES_MIN * most) return 'Read'
  return chooseAct(shares)
}

/** The class of a tool that does more than read. */
export function chooseAct(shares: readonly number[]): Category {
  const staked = stakedOf(shares)
  return CATEGORIES[staked.indexOf(Math.max(...staked))] as Category
}

function stakedOf(shares: readonly number[]): number[] {
  return shares.map((share, index) => share * (STAKES[index] as number))
}
