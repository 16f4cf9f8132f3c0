// Seeded chance for the generator: the same seed gives the same world on every machine.
// `random` is a function from nothing to [0, 1), as Math.random is.

export type Random = () => number

/** mulberry32: small, fast and good enough to draw test worlds from. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A whole number from `from` to `to`, both included. */
export function between(random: Random, from: number, to: number): number {
  return from + Math.floor(random() * (to - from + 1))
}

export function chance(random: Random, probability: number): boolean {
  return random() < probability
}

export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

/** One of the keys, as often as its weight says. */
export function weighted<K extends string>(random: Random, weights: Record<K, number>): K {
  const entries = Object.entries(weights) as [K, number][]
  let rest = random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [key, weight] of entries) {
    rest -= weight
    if (rest < 0) return key
  }
  return (entries.at(-1) as [K, number])[0]
}

/** Each item with this probability, in order. */
export function some<T>(random: Random, items: readonly T[], probability: number): T[] {
  return items.filter(() => chance(random, probability))
}

export function nonEmpty<T>(random: Random, items: readonly T[]): T[] {
  const chosen = some(random, items, 0.4)
  return chosen.length > 0 ? chosen : [pick(random, items)]
}

export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

export function isFirst<T>(item: T, index: number, items: readonly T[]): boolean {
  return items.indexOf(item) === index
}
