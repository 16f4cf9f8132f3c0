// Measures several things in one run, alternating: machines are shared and noisy, so what is
// compared must meet the same noise. Each turn times a batch; reported are the median of the turns,
// the span between the 10th and 90th percentile, and ratios of medians.

export interface Side {
  readonly name: string
  /** Operations in one turn; enough that a turn takes about a millisecond or more. */
  readonly batch: number
  run(count: number): void | Promise<void>
}

export interface Measurement {
  readonly name: string
  readonly p50Ns: number
  readonly p10Ns: number
  readonly p90Ns: number
  readonly turns: number
}

export async function sideBySide(sides: readonly Side[], turns: number): Promise<Measurement[]> {
  const times = sides.map((): number[] => [])
  // The first turns warm everything up and are not counted.
  for (let turn = -Math.ceil(turns / 5); turn < turns; turn++) {
    for (let at = 0; at < sides.length; at++) {
      const index = (at + Math.abs(turn)) % sides.length
      const side = sides[index] as Side
      const began = process.hrtime.bigint()
      await side.run(side.batch)
      const each = Number(process.hrtime.bigint() - began) / side.batch
      if (turn >= 0) times[index]?.push(each)
    }
  }
  return sides.map(({ name }, index) => {
    const sorted = (times[index] as number[]).sort((a, b) => a - b)
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number
    return { name, p50Ns: at(0.5), p10Ns: at(0.1), p90Ns: at(0.9), turns }
  })
}

export function table(rows: readonly Measurement[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length))
  return rows
    .map(
      ({ name, p50Ns, p10Ns, p90Ns }) =>
        `${name.padEnd(width)}  p50 ${time(p50Ns)}  (p10 ${time(p10Ns)}, p90 ${time(p90Ns)})`,
    )
    .join('\n')
}

function time(ns: number): string {
  if (ns < 10_000) return `${ns.toFixed(0)} ns`.padStart(9)
  return ns < 10_000_000
    ? `${(ns / 1_000).toFixed(1)} µs`.padStart(9)
    : `${(ns / 1_000_000).toFixed(1)} ms`.padStart(9)
}
