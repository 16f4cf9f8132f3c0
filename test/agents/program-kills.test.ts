import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { atTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { KILLS_POLICY, playProgramKills } from '../support/program-kills.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, startGate, until } from '../support/start-gate.ts'

const folder = fileScratchDirectory()
const log = join(folder, 'calls')

afterAll(async () => {
  await endGates()
})

// test/cluster/agents.test.ts kills the gates of a cluster in the same way.
test.runIf(IS_FULL)(
  'programs with held calls go on after each kill -9, and call nothing twice',
  {
    timeout: 180_000,
  },
  async () => {
    const servers = { code: { builtin: 'code' as const }, count: fixture('counter', log) }
    await playProgramKills(() => startGate({ servers, policy: KILLS_POLICY, folder }), log)
  },
)

test('a call is known to be held if the gate is killed before the program has noted that', {
  timeout: 120_000,
}, async () => {
  const home = mkdtempSync(join(folder, 'window-'))
  const calls = join(home, 'calls')
  const servers = { code: { builtin: 'code' as const }, count: fixture('counter', calls) }
  const start = () => startGate({ servers, policy: KILLS_POLICY, folder: home })
  let gate = await start()
  const pending = async (): Promise<{ id: string }[]> =>
    (await sluiceJson(['approvals', 'list', '--data', gate.data])).requests
  inJournal(gate.data, NEVER_NOTED)
  const code = 'return await tools.count.slow({ n: 1 })'
  const client = await PlainClient.open(gate, '?mode=code')
  const { runId } = await client.value('run_code', { code, waitMs: 1 })
  await until(async () => (await pending()).length === 1)
  const [request] = await pending()
  await gate.kill()
  inJournal(gate.data, 'DROP TRIGGER never; DROP VIEW forever')

  gate = await start()
  await atTerminal(gate.data)
  expect(await pending()).toMatchObject([{ id: request?.id }])
  const approved = await sluice(['approvals', 'approve', String(request?.id), '--data', gate.data])
  expect(approved).toMatchObject({ code: 0 })
  const again = await PlainClient.open(gate, '?mode=code')
  const ended = await again.value('run_code', { runId, waitMs: 30_000 })
  expect(ended).toMatchObject({ status: 'completed', result: 'slow {"n":1}' })
  expect(readFileSync(calls, 'utf8').trim().split('\n')).toHaveLength(1)
})

/** The thread of the journal never returns from the note that a call is held. */
const NEVER_NOTED = `
  CREATE VIEW forever AS WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)
    SELECT count(*) AS n FROM numbers;
  CREATE TRIGGER never BEFORE INSERT ON program_events WHEN NEW.event LIKE '{"kind":"held"%'
    BEGIN SELECT n FROM forever; END`

function inJournal(data: string, sql: string): void {
  const database = new DatabaseSync(join(data, 'agents.db'))
  database.exec(sql)
  database.close()
}
