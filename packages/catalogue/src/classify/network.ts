// The network: signals and words in, one hidden layer, what they say for each class out. It knows
// what a word means beside another, which no sum of weights does. Pure; the numbers are in
// network.json, learnt by `npm run eval -- catalogue`.

import { CATEGORIES, type ToolDefinition } from '@sluice/policy/calls/tools'
import { KNOWN_WORDS_MAX } from '../signals/limits.ts'
import {
  eachArgument,
  partsOfWord,
  placeWords,
  textsOf,
  type WordZone,
  wordsOfArgument,
  wordsOfName,
  wordsOfProse,
} from '../signals/read-words.ts'
import type { Signal } from '../signals/signal.ts'

/** The network as it is stored: for each feature a letter for each hidden unit. */
export interface NetworkData {
  /** What each hidden unit starts from. */
  readonly bias: readonly number[]
  /** What each hidden unit adds to each class. */
  readonly output: readonly (readonly number[])[]
  /** What each class starts from. */
  readonly constant: readonly number[]
  readonly features: Readonly<Record<string, string>>
}

/** What the network reads in a definition, and what that adds. */
export interface NetworkExplanation {
  /** The words of the definition that it reads, each as a signal. */
  readonly words: readonly Signal[]
  /** What each feature, of signals and words, adds for each class, in their order. */
  readonly pulls: ReadonlyMap<string, readonly number[]>
}

export class Network {
  readonly #data: NetworkData
  readonly #units: number
  readonly #signals = new Map<string, Vector>()
  readonly #words: Readonly<Record<WordZone, Map<string, Vector>>> = {
    n: new Map(),
    '^': new Map(),
    d: new Map(),
    f: new Map(),
    a: new Map(),
    e: new Map(),
  }
  readonly #arguments = new Map<string, readonly Vector[]>()
  readonly #zeros: number[]
  #round = 0

  constructor(data: NetworkData) {
    this.#data = data
    this.#units = data.bias.length
    // Filled with fractions first, so that the engine keeps them as numbers with a fraction.
    this.#zeros = data.bias.map(() => 0.5).fill(0)
  }

  /** What each class gets, before it is made into shares. */
  sum(definition: ToolDefinition, amounts: ReadonlyMap<string, number>): number[] {
    const { output, constant } = this.#data
    const { values } = this.#hide(definition, amounts)
    const sums = [...constant]
    for (let unit = 0; unit < this.#units; unit++) {
      const value = values[unit] as number
      if (value <= 0) continue
      const row = output[unit] as readonly number[]
      for (let index = 0; index < sums.length; index++)
        sums[index] = (sums[index] as number) + value * (row[index] as number)
    }
    return sums
  }

  /**
   * What each signal and each word adds for each class here. It holds for this definition: which
   * units speak depends on all of them.
   */
  explain(
    definition: ToolDefinition,
    signals: readonly Signal[],
    amounts: ReadonlyMap<string, number>,
  ): NetworkExplanation {
    const { values, scale } = this.#hide(definition, amounts)
    const pullOf = (vector: Vector) =>
      CATEGORIES.map((_, index) => {
        let pull = 0
        for (let unit = 0; unit < this.#units; unit++)
          if ((values[unit] as number) > 0)
            pull +=
              (vector.values[unit] as number) *
              ((this.#data.output[unit] as readonly number[])[index] as number)
        return pull * scale
      })
    const pulls = new Map<string, readonly number[]>()
    for (const { feature } of signals) pulls.set(feature, pullOf(this.#ofSignal(feature)))
    const words = placeWords(definition).map(({ zone, word, place }): Signal => {
      const feature = `${zone} ${word}`
      pulls.set(feature, pullOf(this.#ofWord(zone, word)))
      return { feature, amount: 1, ...place }
    })
    return { words, pulls }
  }

  /** The values of the hidden units. */
  #hide(definition: ToolDefinition, amounts: ReadonlyMap<string, number>): Hidden {
    const sum: InputSum = { values: this.#zeros.slice(), squares: 1 }
    for (const [feature, amount] of amounts) {
      const vector = this.#ofSignal(feature)
      if (vector.squares === 0) continue
      addTo(sum.values, vector.values, amount)
      sum.squares += amount * amount
    }
    this.#round++
    const { name, prose, properties } = textsOf(definition)
    const names = wordsOfName(name)
    for (const word of names) this.#add(sum, this.#ofWord('n', word))
    if (names[0] !== undefined) this.#add(sum, this.#ofWord('^', names[0]))
    const words = wordsOfProse(prose)
    for (const word of words) this.#add(sum, this.#ofWord('d', word))
    if (words[0] !== undefined) this.#add(sum, this.#ofWord('f', words[0]))
    eachArgument(properties, (argument, values) => {
      for (const vector of this.#ofArgument(argument)) this.#add(sum, vector)
      for (const value of values) if (typeof value === 'string') this.#addValue(sum, value)
    })
    const scale = INPUT_SCALE / Math.sqrt(sum.squares)
    const { values } = sum
    for (let unit = 0; unit < this.#units; unit++)
      values[unit] = (values[unit] as number) * scale + (this.#data.bias[unit] as number)
    return { values, scale }
  }

  /** A word counts once. */
  #add(sum: InputSum, vector: Vector): void {
    if (vector.squares === 0 || vector.round === this.#round) return
    vector.round = this.#round
    addTo(sum.values, vector.values, 1)
    sum.squares += vector.squares
  }

  #ofSignal(feature: string): Vector {
    const vector = this.#signals.get(feature)
    return vector ?? remember(this.#signals, feature, this.#read([[feature, 1]]))
  }

  #ofWord(zone: WordZone, word: string): Vector {
    const known = this.#words[zone]
    return known.get(word) ?? remember(known, word, this.#read(featuresOfWord(zone, word)))
  }

  #ofArgument(argument: string): readonly Vector[] {
    const vectors = this.#arguments.get(argument)
    if (vectors !== undefined) return vectors
    const read = wordsOfArgument(argument).map((word) => this.#ofWord('a', word))
    return remember(this.#arguments, argument, read)
  }

  #addValue(sum: InputSum, value: string): void {
    const [word] = wordsOfArgument(value)
    if (word !== undefined) this.#add(sum, this.#ofWord('e', word))
  }

  /** One vector for all of the features; its squares are 0 if none is known. */
  #read(features: readonly WeightedFeature[]): Vector {
    const values = this.#zeros.slice()
    let squares = 0
    for (const [feature, amount] of features) {
      if (!Object.hasOwn(this.#data.features, feature)) continue
      const letters = this.#data.features[feature] as string
      for (let unit = 0; unit < this.#units; unit++)
        values[unit] = (values[unit] as number) + amount * decodeLetter(letters.charCodeAt(unit))
      squares += amount * amount
    }
    return { values, squares, round: 0 }
  }
}

function remember<T>(known: Map<string, T>, key: string, value: T): T {
  if (known.size >= KNOWN_WORDS_MAX) known.clear()
  known.set(key, value)
  return value
}

interface InputSum {
  readonly values: number[]
  squares: number
}

interface Hidden {
  readonly values: number[]
  /** The factor that the inputs were multiplied by. */
  readonly scale: number
}

/** What a signal or word adds to the hidden units. */
interface Vector {
  readonly values: number[]
  /** The squares of its amounts. */
  readonly squares: number
  /** The last definition that counted it: a word counts once. */
  round: number
}

type WeightedFeature = readonly [feature: string, amount: number]

/** The inputs are scaled to this length, so that a long text does not shout. */
export const INPUT_SCALE = 3

/** A word by itself, and in names and arguments by its parts as well. */
export function featuresOfWord(zone: WordZone, word: string): WeightedFeature[] {
  const whole: WeightedFeature = [`${zone} ${word}`, 1]
  if (zone !== 'n' && zone !== 'a') return [whole]
  const parts = partsOfWord(word)
  return [whole, ...parts.map((part): WeightedFeature => [`~${part}`, 1 / Math.sqrt(parts.length)])]
}

function addTo(sums: number[], values: number[], amount: number): void {
  for (let unit = 0; unit < sums.length; unit++)
    sums[unit] = (sums[unit] as number) + amount * (values[unit] as number)
}

/** The letter of 0; 45 letters below it are negative, 45 above it positive. */
const ZERO_LETTER = 'P'.charCodeAt(0)
const LETTERS = 45
const LETTER_MAX = 4

/** Finer near zero: the square of the distance from the letter of 0. */
function decodeLetter(code: number): number {
  const steps = code - ZERO_LETTER
  return (Math.sign(steps) * steps * steps * LETTER_MAX) / (LETTERS * LETTERS)
}

export function encodeLetter(value: number): string {
  const size = Math.min(1, Math.abs(value) / LETTER_MAX)
  const steps = Math.round(Math.sqrt(size) * LETTERS) * Math.sign(value)
  return String.fromCharCode(ZERO_LETTER + steps)
}
