import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { KILLS_POLICY, playProgramKills } from '../support/program-kills.ts'
import { endGates, fixture, startGate } from '../support/start-gate.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-programs-'))
const log = join(folder, 'calls')

afterAll(async () => {
  await endGates()
  rmSync(folder, { recursive: true, force: true })
})

test('programs with held calls go on after each kill -9, and call nothing twice', {
  timeout: 180_000,
}, async () => {
  const servers = { code: { builtin: 'code' as const }, count: fixture('counter', log) }
  await playProgramKills(() => startGate({ servers, policy: KILLS_POLICY, folder }), log)
})
