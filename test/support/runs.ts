// How often a test repeats something: a property, a kill, an edit of each record. `npm test` does a quarter of it,
// always the same by the seed (seed.ts); `npm run soak -- repeats` does all. `SLUICE_RUNS=10` is ten times as much as that.

const SHARE_OF_NPM_TEST = 0.25

export function rounds(all: number): number {
  return Math.ceil(all * Number(process.env.SLUICE_RUNS ?? SHARE_OF_NPM_TEST))
}

/** For `fc.assert`. */
export function runs(all: number): { readonly numRuns: number } {
  return { numRuns: rounds(all) }
}

/** Of the numbers from 1 on as many as there are rounds, evenly; the first and the last always. */
export function spread(last: number): number[] {
  const step = Math.max(1, last / rounds(last))
  const inner = Array.from({ length: Math.floor(last / step) }, (_, n) => 1 + Math.floor(n * step))
  return [...new Set([...inner, last])]
}
