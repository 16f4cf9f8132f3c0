// 1,000 due times of agents' schedules under kill -9, at random places among the writes that they lead to: none is
// missing, none begins twice, and every run ends.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { killSchedules } from '../agents/schedule-kills.ts'

export async function run(_options: RunOptions): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-schedules-'))
  try {
    const how = { due: 1_000, killsMax: Number.POSITIVE_INFINITY, random: Math.random }
    const { lives, kills, due, ...faults } = await killSchedules(join(scratch, 'data'), how)
    const { missing, twice, unended } = faults
    console.log(`${due} due times, ${lives} lives, ${kills} of them killed`)
    console.log(
      `${missing.length} missing, ${twice.length} twice, ${unended.length} runs without an answer`,
    )
    const found = [missing, twice, unended].flat()
    if (found.length > 0) console.log(JSON.stringify(faults))
    return found.length > 0 || due < how.due ? 1 : 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
