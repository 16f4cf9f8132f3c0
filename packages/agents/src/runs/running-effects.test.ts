import { afterEach, expect, test, vi } from 'vitest'
import { RunningEffects } from './running-effects.ts'

afterEach(() => void vi.useRealTimers())

test('a gate that ends waits for what is under way, and leaves no timer that keeps it', async () => {
  vi.useFakeTimers()
  const running = new RunningEffects()
  const done: string[] = []
  running.start('a 1', async () => void done.push('a 1'))
  await running.finish(new Promise(() => {}))
  expect(done).toEqual(['a 1'])
  expect(vi.getTimerCount()).toBe(0)
})
