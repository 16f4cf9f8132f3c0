// Long work on the gate's one thread, cut into slices with the event loop's turn between them, so that
// calls of others go on meanwhile. One slice a turn over all such work: ten clients that list at once
// take ten turns, and nobody waits for ten slices in a row.

import { performance } from 'node:perf_hooks'
import type { Steps } from '@sluice/policy/structures/steps'
import { enterStep, type NamedStep } from './current-step.ts'
import { SLICE_MS } from './limits.ts'

const waiting: (() => void)[] = []

function giveTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(giveTurn)
}

/** When the event loop has looked at everything else, and those who came before have had a slice. */
export function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(giveTurn)
  })
}

/** `for (…) { …; if (slices.isOver) await slices.next() }` */
export class Slices {
  #endMs = performance.now() + SLICE_MS

  get isOver(): boolean {
    return performance.now() >= this.#endMs
  }

  async next(): Promise<void> {
    await takeTurn()
    this.#endMs = performance.now() + SLICE_MS
  }
}

/** At once while that is short, then in slices: a promise only where it takes longer than one. */
export function runBriefly<Result>(
  steps: Steps<Result>,
  name: NamedStep,
): Result | Promise<Result> {
  const slices = new Slices()
  enterStep(name)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (slices.isOver) return slices.next().then(() => runInSlices(steps, name))
  }
}

/** What `runSteps` does at once. */
export async function runInSlices<Result>(steps: Steps<Result>, name: NamedStep): Promise<Result> {
  const slices = new Slices()
  for (;;) {
    enterStep(name)
    const { done, value } = steps.next()
    if (done === true) return value
    if (slices.isOver) await slices.next()
  }
}
