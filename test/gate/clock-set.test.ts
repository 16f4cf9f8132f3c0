// A real gate whose clock is set by an hour, a day, decades and back while a limit's window is open and
// records are written: no call more passes, and the ledger verifies with the times as they were shown.

import { afterAll, expect, test } from 'vitest'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import { HOUR_MS, SetClock, YEAR_MS } from '../support/set-clock.ts'
import { endGates, fixture } from '../support/start-gate.ts'

const DAY_MS = 24 * HOUR_MS
const POLICY = `version: 1
default: allow
tools:
  echo/echo: { action: allow, rate_limit: { max: 2, window: 1h, per: principal } }
`

afterAll(endGates)

test('a limit stays reached, and the ledger verifies', async () => {
  const clock = new SetClock()
  const gate = await clock.start({ servers: { echo: fixture('echo') }, policy: POLICY })
  const client = await PlainClient.open(gate, 'echo')
  for (let n = 0; n < 2; n++) expect((await client.call('echo')).answer.result.isError).toBeFalsy()
  // The last but one is beyond 2038-01-19, where seconds no longer fit into 31 bits.
  for (const ms of [-HOUR_MS, DAY_MS, -YEAR_MS, 14 * YEAR_MS, 0]) {
    clock.set(ms)
    expect((await client.call('echo')).text).toContain('RATE_LIMITED')
    expect((await client.call('pid')).answer.result.isError).toBeFalsy()
  }
  expect(await gate.stop()).toBe(0)
  const refusals = recordsOf(gate).filter(({ kind }) => kind === 'refusal')
  const years = refusals.map(({ atMs }) => Math.round((atMs - Date.now()) / YEAR_MS) + 0)
  expect(years).toEqual([0, 0, -1, 14, 0])
  expect(gate.log).toContain("the machine's clock was set back")
  const verified = await sluice(['ledger', 'verify', '--data', gate.data])
  expect(verified.code, verified.stdout).toBe(0)
})
