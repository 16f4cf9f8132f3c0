// A week of connects against a running gate, one a minute (`--connects`, 10,080), compressed: what the gate
// stores of sessions and the memory that it needs do not grow. Prints both after each day.

import { readFileSync } from 'node:fs'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { connectClients, countStoredSessions, WEEK_GATE } from '../support/session-week.ts'
import { endGates, startGate } from '../support/start-gate.ts'

const DAYS = 7
/** Until then the gate fills what it keeps anyway: sessions without an end, names that are over. */
const FULL_AFTER_DAYS = 4
const GROWTH_MAX = 1.15

export async function run(options: RunOptions): Promise<number> {
  const connects = Number(options.connects ?? 7 * 24 * 60)
  const gate = await startGate(WEEK_GATE)
  const days: { stored: number; megabytes: number }[] = []
  try {
    for (let day = 1; day <= DAYS; day += 1) {
      const count = Math.floor(connects / DAYS)
      const answered = await connectClients(gate, count)
      if (answered !== count) throw new Error(`day ${day}: ${count - answered} calls failed`)
      const now = { stored: countStoredSessions(gate), megabytes: rssMegabytes(gate.process.pid) }
      days.push(now)
      console.log(`day ${day}: ${now.stored} sessions stored, ${now.megabytes} MB resident`)
    }
  } finally {
    await endGates()
  }
  const before = Math.max(...days.slice(0, FULL_AFTER_DAYS).map(({ megabytes }) => megabytes))
  const after = Math.max(...days.slice(FULL_AFTER_DAYS).map(({ megabytes }) => megabytes))
  const stored = Math.max(...days.map((day) => day.stored))
  const hasGrown = after > before * GROWTH_MAX || stored > 200
  console.log(
    `${connects} connects: at most ${stored} sessions stored; ${before} MB in the first ${FULL_AFTER_DAYS} days, ${after} MB after: ${hasGrown ? 'it grows' : 'no growth'}`,
  )
  return hasGrown ? 1 : 0
}

function rssMegabytes(pid: number | undefined): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1_024)
}
