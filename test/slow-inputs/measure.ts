// CPU of this thread for one run of a function, and how it grows with the length of its text. Thread
// CPU and the best of several runs: a loaded machine makes a run slow, never fast.

import type { Steps } from '@sluice/policy/structures/steps'

export interface Point extends Cost {
  readonly chars: number
}

/** CPU of one run, in microseconds. */
export interface Cost {
  readonly micros: number
  /** Of the longest piece that nothing else can run between: of a reader without steps, all of it. */
  readonly pieceMicros: number
}

/** The least CPU of `runs` runs. What a run throws is its answer; steps that it returns are run, each
 * measured. With `totalMin` each is repeated until all together took so much: the clock of a thread may tick
 * in milliseconds only. */
export function cpuMicros(run: () => unknown, runs: number, totalMin = 0): Cost {
  let micros = Number.POSITIVE_INFINITY
  let pieceMicros = Number.POSITIVE_INFINITY
  for (let count = 0; count < runs; count++) {
    const began = process.threadCpuUsage()
    let total = 0
    let times = 0
    let pieces = 0
    do {
      pieces += runPieces(run)
      total = microsSince(began)
      times++
    } while (total < totalMin && times < REPEATED_MAX)
    micros = Math.min(micros, total / times)
    pieceMicros = Math.min(pieceMicros, pieces / times)
  }
  return { micros, pieceMicros }
}

/** The longest piece. */
function runPieces(run: () => unknown): number {
  let longest = 0
  let began = process.threadCpuUsage()
  const endPiece = (): void => {
    longest = Math.max(longest, microsSince(began))
    began = process.threadCpuUsage()
  }
  try {
    const steps = run()
    if (isSteps(steps)) for (const _ of steps) endPiece()
  } catch {
    // A refusal is an answer.
  }
  endPiece()
  return longest
}

function isSteps(value: unknown): value is Steps<unknown> {
  return Object.prototype.toString.call(value) === '[object Generator]'
}

function microsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(began)
  return user + system
}

const REPEATED_MAX = 1_000

/** Points below this are mostly the clock's own grain. */
export const GRAIN_MICROS = 200

/** Slope of log(time) over log(length), by least squares: 1 is linear, 2 is the square. Undefined
 * without three points above the grain. */
export function growthExponent(points: readonly Omit<Point, 'pieceMicros'>[]): number | undefined {
  const useful = points.filter(({ micros }) => micros >= GRAIN_MICROS).slice(-FITTED_POINTS)
  if (useful.length < 3) return undefined
  const xs = useful.map(({ chars }) => Math.log(chars))
  const ys = useful.map(({ micros }) => Math.log(micros))
  const meanX = mean(xs)
  const meanY = mean(ys)
  let above = 0
  let below = 0
  for (const [at, x] of xs.entries()) {
    above += (x - meanX) * ((ys[at] as number) - meanY)
    below += (x - meanX) ** 2
  }
  return above / below
}

/** The last ones: short texts are dominated by what does not grow. */
const FITTED_POINTS = 5

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Times at doubling lengths, until one takes more than `microsMax` or the text is `charsMax` long. */
export function measureGrowth(
  start: (chars: number) => () => unknown,
  limits: { charsMin: number; charsMax: number; microsMax: number; runs: number; totalMin: number },
): Point[] {
  const points: Point[] = []
  for (let chars = limits.charsMin; ; chars = Math.min(chars * 2, limits.charsMax)) {
    const cost = cpuMicros(start(chars), limits.runs, limits.totalMin)
    points.push({ chars, ...cost })
    if (chars >= limits.charsMax || cost.micros > limits.microsMax) return points
  }
}
