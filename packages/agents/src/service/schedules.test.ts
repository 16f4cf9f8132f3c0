// Schedules that are due, of a store that gives the oldest first: those that wait for an approver stay due.

import { expect, test } from 'vitest'
import type { ScheduleRow } from '../journal/schedules.ts'
import { SCHEDULES_DUE_MAX } from '../shared/limits.ts'
import { NO_GATE } from '../shared/tool-gate.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { ScheduledPrompts } from './schedules.ts'

test('held schedules of one owner do not stop those of another', async () => {
  const rows = Array.from(
    { length: SCHEDULES_DUE_MAX + 1 },
    (_, n): ScheduleRow => ({
      agent: `agent_${n}`,
      owner: n < SCHEDULES_DUE_MAX ? 'ann' : 'ben',
      name: 'work',
      plan: { atMs: n, fresh: false },
      input: 'go',
      writer: { kind: 'person' },
      nextMs: n,
      last: null,
    }),
  )
  const called = Promise.withResolvers<void>()
  const steps = {
    dueSchedules: async (_: number, max = SCHEDULES_DUE_MAX) => rows.slice(0, max),
    runOf: async () => undefined,
    advanceSchedule: async () => undefined,
    standing: async (_: string, id: string) => ({
      agent: { id, family: 1, summary: { turnCount: 0 } },
      family: { labels: [] },
    }),
  }
  const gate = {
    ...NO_GATE,
    call: async ({ owner }: { readonly owner: string }) => {
      if (owner === 'ben') called.resolve()
      return { kind: 'held', ticket: 't', reason: 'ask' } as const
    },
    settle: () => new Promise<never>(() => {}),
  }
  let isLooking = false
  const schedules = new ScheduledPrompts({
    // The operations that schedules need, without a thread.
    steps: steps as unknown as Steps,
    way: { gate, server: 'agents' },
    prompt: async () => undefined,
    wake: () => {
      if (isLooking) return
      isLooking = true
      setImmediate(() => {
        isLooking = false
        void schedules.fireDue(SCHEDULES_DUE_MAX)
      })
    },
    now: () => SCHEDULES_DUE_MAX,
  })
  await schedules.fireDue(SCHEDULES_DUE_MAX)
  await expect(called.promise).resolves.toBeUndefined()
  schedules.close()
})
