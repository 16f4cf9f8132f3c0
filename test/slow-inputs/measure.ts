// CPU of this thread for one run of a function, and how it grows with the length of its text. Thread
// CPU and the best of several runs: a loaded machine makes a run slow, never fast.

export interface Point {
  readonly chars: number
  readonly micros: number
}

/** The least CPU of `runs` runs, in microseconds. What a run throws is its answer. With `totalMin` each is
 * repeated until all together took so much: the clock of a thread may tick in milliseconds only. */
export function cpuMicros(run: () => unknown, runs: number, totalMin = 0): number {
  let best = Number.POSITIVE_INFINITY
  for (let count = 0; count < runs; count++) {
    const began = process.threadCpuUsage()
    let micros = 0
    let times = 0
    do {
      try {
        run()
      } catch {
        // A refusal is an answer.
      }
      const { user, system } = process.threadCpuUsage(began)
      micros = user + system
      times++
    } while (micros < totalMin && times < REPEATED_MAX)
    best = Math.min(best, micros / times)
  }
  return best
}

const REPEATED_MAX = 1_000

/** Points below this are mostly the clock's own grain. */
export const GRAIN_MICROS = 200

/** Slope of log(time) over log(length), by least squares: 1 is linear, 2 is the square. Undefined
 * without three points above the grain. */
export function growthExponent(points: readonly Point[]): number | undefined {
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
  run: (text: string) => unknown,
  make: (chars: number) => string,
  limits: { charsMin: number; charsMax: number; microsMax: number; runs: number; totalMin: number },
): Point[] {
  const points: Point[] = []
  for (let chars = limits.charsMin; ; chars = Math.min(chars * 2, limits.charsMax)) {
    const text = make(chars)
    const micros = cpuMicros(() => run(text), limits.runs, limits.totalMin)
    points.push({ chars, micros })
    if (chars >= limits.charsMax || micros > limits.microsMax) return points
  }
}
