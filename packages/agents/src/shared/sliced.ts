// Work in the step thread that is too long for one piece, as a generator: wherever it yields, requests
// of other owners may go first. The thread runs a slice for each turn that the client takes for it
// (step-thread.ts, step-client.ts), so that slices of different owners alternate.

import { SLICE_MS } from './limits.ts'

/** Yields where it may be interrupted. */
export type SlicedWork<Result> = Generator<undefined, Result>

/** What an operation gives in the end, sliced or not. */
export type ResultOf<Value> = Value extends SlicedWork<infer Result> ? Result : Awaited<Value>

export function isSliced(value: unknown): value is SlicedWork<unknown> {
  return typeof (value as SlicedWork<unknown> | undefined)?.next === 'function'
}

/** Runs until it ends or its time is up, at least from one yield to the next. */
export function runSlice<Result>(
  work: SlicedWork<Result>,
  nowMs: () => number = () => performance.now(),
): IteratorResult<undefined, Result> {
  const untilMs = nowMs() + SLICE_MS
  for (;;) {
    const step = work.next()
    if (step.done === true || nowMs() >= untilMs) return step
  }
}

/** In one piece, if nobody else can wait for it. */
export function runWhole<Result>(work: SlicedWork<Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
