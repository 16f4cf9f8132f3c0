// Work that can pause between its steps: a generator that yields after each. Whoever runs it decides
// whether all of it is done at once or other work gets its turn in between. Pure.

export type Steps<Result> = Generator<undefined, Result, undefined>

/** All of it, at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
