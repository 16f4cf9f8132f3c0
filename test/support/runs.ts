// How often a test repeats something: a property, a kill, an edit of each record. `npm test` does a quarter of it,
// always the same by the seed (seed.ts); `npm run soak -- repeats` does all. `SLUICE_RUNS=10` is ten times as much as that.
// Of cases that hold one promise in several forms (a version, a client, a width) `npm test` tries the first.

const SHARE_OF_NPM_TEST = 0.25
const share = Number(process.env.SLUICE_RUNS ?? SHARE_OF_NPM_TEST)

/** For `test.runIf`: a further form of what another test of `npm test` holds. */
export const IS_FULL = share >= 1

export function rounds(all: number): number {
  return Math.ceil(all * share)
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

/** All forms of a promise; in `npm test` as many of the first as are named. */
export function forms<T>(all: readonly T[], first = 1): readonly T[] {
  return IS_FULL ? all : all.slice(0, first)
}
