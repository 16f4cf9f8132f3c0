// How many slices long work is cut into. The clock goes on by a millisecond whenever it is read, so that a
// slice ends after the same number of pieces on any machine.

import { onTestFinished, vi } from 'vitest'
import { takeTurn } from './slices.ts'

/** Counts from now on; the function that is returned ends that and gives the number of slices. */
export function countSlices(): () => number {
  let nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++nowMs)
  const turns = vi.spyOn(globalThis, 'setImmediate')
  onTestFinished(() => {
    clock.mockRestore()
    turns.mockRestore()
  })
  void takeTurn()
  const [[giveTurn] = []] = turns.mock.calls
  return () => {
    const count = turns.mock.calls.filter(([work]) => work === giveTurn).length
    clock.mockRestore()
    turns.mockRestore()
    return count
  }
}
