// Work that can pause between its steps: a generator that yields after each. The caller either runs
// it to the end or lets other work run between the steps. Pure.

export type Steps<Result> = Generator<undefined, Result, undefined>

/** Runs all steps without a pause. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
