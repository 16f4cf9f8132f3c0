// Searches the text that costs a reader most: every unit at a small length first, then mutations of
// the slowest, then the slowest of all at doubling lengths up to what the reader is given in life.

import { cpuMicros, growthExponent, measureGrowth, type Point } from './measure.ts'
import { PREFIXES, type Shape, SUFFIXES, textOf, UNITS } from './units.ts'

export interface TextReader {
  readonly name: string
  /** The longest text that can reach it, in UTF-16 code units. */
  readonly charsMax: number
  /** Makes what the function gets of a text, which is not measured, and returns the run that is. A run
   * may return steps, as those that the gate runs in slices. */
  readonly prepare: (text: string) => () => unknown
}

export interface SearchOptions {
  /** CPU for the search of one reader, and for one measured run of it. */
  readonly secondsMax: number
  readonly runMicrosMax: number
  /** Texts are no longer than this, whatever the reader takes. */
  readonly charsMax: number
  readonly random: () => number
}

export interface SlowInput {
  readonly reader: string
  readonly shape: Shape
  readonly exponent: number
  readonly points: readonly Point[]
  /** The longest piece up to the reader's own limit: measured if it was reached, otherwise extrapolated. */
  readonly atLimit: {
    readonly chars: number
    readonly micros: number
    readonly isMeasured: boolean
  }
}

/** The longest probe, each next one this many times as long, and the last if it took so much. */
const PROBE_CHARS_MAX = 16_384
const PROBE_FACTOR = 4
const PROBE_MICROS_MAX = 2_000
/** Where growth is measured from. */
const GROWTH_CHARS_MIN = 1_024
const POOL = 24
const GROWN = 3

interface Probe {
  readonly shape: Shape
  readonly micros: number
  /** Of the probe's two lengths: 1 is linear. */
  readonly exponent: number
}

/** The worst input that was found: by growth, and among equals by time. */
export function findSlowInput(reader: TextReader, options: SearchOptions): SlowInput {
  const began = process.threadCpuUsage()
  const spent = () => {
    const { user, system } = process.threadCpuUsage(began)
    return (user + system) / 1e6
  }
  // Warm: what is compiled on the first run is not growth.
  for (const unit of UNITS.slice(0, 20)) cpuMicros(reader.prepare(cutTo(unit)), 2)
  const probes: Probe[] = []
  for (const unit of shuffle(UNITS, options.random)) {
    if (probes.length > 0 && spent() > options.secondsMax * 0.4) break
    probes.push(probe(reader, { prefix: '', unit, suffix: '' }, options))
  }
  while (spent() < options.secondsMax * 0.7) {
    const pool = best(probes, POOL)
    probes.push(probe(reader, mutate(pool, options.random), options))
  }
  const worst = best(probes, GROWN).map(({ shape }) =>
    grow(reader, shape, options, { runs: 2, totalMin: 0 }),
  )
  return worst.reduce((one, other) => (isWorse(other, one) ? other : one))
}

/** The same input again, each length for longer than the clock's tick: noise does not repeat itself. */
export function confirm(reader: TextReader, found: SlowInput, options: SearchOptions): SlowInput {
  return grow(reader, found.shape, options, { runs: 3, totalMin: CONFIRM_MICROS })
}

const CONFIRM_MICROS = 25_000

function cutTo(unit: string): string {
  return textOf({ prefix: '', unit, suffix: '' }, 256)
}

/** Longer and longer until a run takes long enough to tell: a square must not eat the search. */
function probe(reader: TextReader, shape: Shape, options: SearchOptions): Probe {
  const charsMax = Math.min(reader.charsMax, options.charsMax, PROBE_CHARS_MAX)
  let chars = Math.max(1, Math.floor(charsMax / PROBE_FACTOR ** 3))
  let before = Number.NaN
  for (;;) {
    const { micros } = cpuMicros(reader.prepare(textOf(shape, chars)), 2)
    const exponent = Math.log(Math.max(micros, 1) / Math.max(before, 20)) / Math.log(PROBE_FACTOR)
    const isLast = chars * PROBE_FACTOR > charsMax || micros > PROBE_MICROS_MAX
    // Times are compared at one length: that of the longest probe.
    if (isLast) return { shape, micros: micros * (charsMax / chars), exponent: exponent || 0 }
    before = micros
    chars *= PROBE_FACTOR
  }
}

/** Half of them the slowest, half of them the fastest growing among those that take any time. */
function best(probes: readonly Probe[], count: number): Probe[] {
  const slow = [...probes].sort((a, b) => b.micros - a.micros).slice(0, Math.ceil(count / 2))
  const steep = probes
    .filter((one) => one.micros > 300 && !slow.includes(one))
    .sort((a, b) => b.exponent - a.exponent)
  return [...slow, ...steep.slice(0, count - slow.length)]
}

function mutate(pool: readonly Probe[], random: () => number): Shape {
  const { shape } = pick(pool, random)
  const other = pick(pool, random).shape
  const unit = pick(UNITS, random)
  const ways: readonly (() => Shape)[] = [
    () => ({ ...shape, unit: shape.unit + other.unit }),
    () => ({ ...shape, unit: shape.unit + unit }),
    () => ({ ...shape, unit: unit + shape.unit }),
    () => ({ ...shape, unit: shape.unit.repeat(1 + Math.floor(random() * 6)) + unit }),
    () => ({ ...shape, prefix: pick(PREFIXES, random) }),
    () => ({ ...shape, suffix: pick(SUFFIXES, random) }),
    () => ({ ...shape, prefix: pick(UNITS, random), suffix: pick(SUFFIXES, random) }),
    () => ({ ...shape, second: unit }),
    () => ({ ...shape, unit: shape.unit.slice(0, 1 + Math.floor(random() * shape.unit.length)) }),
  ]
  const made = pick(ways, random)()
  return made.unit.length > UNIT_CHARS_MAX ? shape : made
}

const UNIT_CHARS_MAX = 400

function grow(
  reader: TextReader,
  shape: Shape,
  options: SearchOptions,
  runs: { runs: number; totalMin: number },
): SlowInput {
  const charsMax = Math.min(reader.charsMax, options.charsMax)
  const points = measureGrowth((chars) => reader.prepare(textOf(shape, chars)), {
    charsMin: Math.min(GROWTH_CHARS_MIN, charsMax),
    charsMax,
    microsMax: options.runMicrosMax,
    ...runs,
  })
  const exponent = growthExponent(points) ?? 0
  const last = points.at(-1) as Point
  const isMeasured = last.chars >= reader.charsMax
  const factor = (reader.charsMax / last.chars) ** Math.max(exponent, 0)
  // A text past some budget is refused at once: a shorter one may cost more.
  const worst = Math.max(...points.map((point) => point.pieceMicros))
  const micros = isMeasured ? worst : Math.max(worst, last.pieceMicros * factor)
  const atLimit = { chars: reader.charsMax, micros, isMeasured }
  return { reader: reader.name, shape, exponent, points, atLimit }
}

/** Above this growth counts as more than linear: memory and caches alone reach about 1.2. */
export const EXPONENT_MAX = 1.3

function isWorse(one: SlowInput, other: SlowInput): boolean {
  const [steep, steepOther] = [one, other].map(({ exponent }) => exponent > EXPONENT_MAX)
  return steep === steepOther ? one.atLimit.micros > other.atLimit.micros : steep === true
}

function pick<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)] as T
}

function shuffle<T>(values: readonly T[], random: () => number): T[] {
  const left = [...values]
  for (let at = left.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[left[at], left[other]] = [left[other] as T, left[at] as T]
  }
  return left
}
