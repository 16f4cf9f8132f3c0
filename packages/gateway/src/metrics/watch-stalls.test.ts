import { expect, test } from 'vitest'
import { enterStep } from '../shared/current-step.ts'
import { STALL_LOOK_EVERY_MS, STALL_MS_MIN } from './limits.ts'
import { Meter } from './meter.ts'
import { watchStalls } from './watch-stalls.ts'

test('F9: a stall is counted and logged with the step that caused it', async () => {
  const meter = new Meter()
  const lines: { message: string; fields: unknown }[] = []
  const end = watchStalls(meter, (_, message, fields) => lines.push({ message, fields }))
  enterStep('read')
  enterStep('list')
  spin(STALL_MS_MIN + 3 * STALL_LOOK_EVERY_MS)
  enterStep('answer')
  await new Promise((resolve) => setTimeout(resolve, 2 * STALL_LOOK_EVERY_MS))
  end()
  expect(meter.stalls).toContainEqual({ labels: { step: 'list' }, value: 1 })
  expect(meter.stallSeconds[0]?.value).toBeGreaterThanOrEqual(STALL_MS_MIN / 1_000)
  expect(lines).toContainEqual({
    message: expect.stringContaining('event loop'),
    fields: expect.objectContaining({ step: 'list' }),
  })
})

test('stalls in which the gate itself did not work are counted, and logged once', async () => {
  const meter = new Meter()
  const lines: string[] = []
  const end = watchStalls(meter, (level) => lines.push(level))
  for (const _ of [1, 2, 3]) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * STALL_MS_MIN)
    await new Promise((resolve) => setTimeout(resolve, 2 * STALL_LOOK_EVERY_MS))
  }
  end()
  expect(meter.stalls.reduce((sum, { value }) => sum + value, 0)).toBeGreaterThanOrEqual(3)
  expect(lines.filter((level) => level === 'info')).toHaveLength(1)
})

/** Without letting the event loop go on. */
function spin(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}
