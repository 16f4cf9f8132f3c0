// `npm run bench -- console [--rounds N] [--ms N]`: what it costs the gate that people look on. Gates
// side by side, taking turns under the same load; throughput with three pages is to be within 3 % of
// that without.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { beside } from './console/beside.ts'
import { byItself } from './console/by-itself.ts'

const BY_ITSELF_ROUNDS = 5

export async function run(options: RunOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    await byItself(join(folder, 'by-itself'), BY_ITSELF_ROUNDS)
    if (options.brief) return 0
    const isWithin = await beside({
      folder,
      rounds: Number(options.rounds ?? 15),
      turnMs: Number(options.ms ?? 700),
      warmCalls: Number(options.warm ?? 20_000),
    })
    return isWithin ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
