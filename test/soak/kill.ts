// `npm run soak -- kill [--times N]`: kill -9 of the gate under load, 50 times where nothing is said;
// kill.test.ts does the same a few times.

import type { RunOptions } from '../../scripts/dispatch.ts'
import { killRounds } from '../support/kill-rounds.ts'
import { endGates } from '../support/start-gate.ts'

export async function run({ times = '50' }: RunOptions): Promise<number> {
  try {
    const { wrong, arrived } = await killRounds(Number(times))
    for (const each of wrong) console.log(each)
    console.log(`${times} kills, ${arrived} calls arrived, ${wrong.length} things wrong`)
    return wrong.length === 0 ? 0 : 1
  } finally {
    await endGates()
  }
}
