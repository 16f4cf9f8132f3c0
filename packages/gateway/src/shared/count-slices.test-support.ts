// How many slices long work is cut into. The clock goes on by a millisecond whenever it is read, so that a
// slice ends after the same number of pieces on any machine.

import { onTestFinished, vi } from 'vitest'

/** Counts from now on; the function that is returned ends that and gives the number of slices. */
export function countSlices(): () => number {
  let nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++nowMs)
  const turns = vi.spyOn(globalThis, 'setImmediate')
  onTestFinished(() => {
    clock.mockRestore()
    turns.mockRestore()
  })
  return () => {
    // By its name: work of an earlier test may still wait for its turn.
    const count = turns.mock.calls.filter(([work]) => work.name === 'giveTurn').length
    clock.mockRestore()
    turns.mockRestore()
    return count
  }
}
