// S5 with kills: the gates at which an approval was asked for, decided and used are killed or stopped right
// after. The call is made once, and never again.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADA, endOwnGates, ownGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, startGate, until } from '../support/start-gate.ts'

const postgres = findPostgres()
const KEY = 'a key of the cluster with 32 characters or more'
const POLICY = `version: 1
default: allow
tools: { count/slow: { action: require_approval } }
`

describe.skipIf(postgres === undefined)(namePostgresSuite('kills', postgres), () => {
  let server: RunningPostgres

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
  })
  afterAll(async () => {
    await endOwnGates()
    await endGates()
    await server?.end()
  })

  test('S5: each gate dies in between, and the approval is used once', async () => {
    const log = join(scratchDirectory(), 'calls')
    const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
    const spec = (name: string) => ({
      servers: { count: fixture('counter', log) },
      policy: POLICY,
      config: { store: server.url(), cluster: { name, key: KEY } },
    })
    const open = async (gate: Awaited<ReturnType<typeof startGate>>) => {
      const client = await PlainClient.open(gate, 'count')
      await client.ask('tools/list')
      return client
    }
    const decides = await ownGate(spec('decides'))
    const [asks, uses, later] = await Promise.all(
      ['asks', 'uses', 'later'].map((name) => startGate(spec(name))),
    )
    const held = (await open(asks!)).call('slow', { x: 1 }).catch(() => {})
    const pending = () => decides.approvals.list({ states: ['pending'] })
    await until(() => pending().length === 1)
    await asks!.kill()
    await held
    await decides.approvals.decide(pending()[0]?.id ?? '', { verdict: 'approve' }, ADA, 'terminal')
    await decides.stop()
    const used = (await open(uses!)).call('slow', { x: 1 }).catch(() => {})
    await until(() => calls().length === 1)
    await uses!.kill()
    await used
    // It waits for another approval, or is told that this one was used.
    const aborter = new AbortController()
    setTimeout(() => aborter.abort(), 2_000)
    const again = await (await open(later!))
      .call('slow', { x: 1 }, aborter.signal)
      .catch(() => undefined)
    expect(again?.text ?? 'waits').toMatch(/APPROVAL|waits/)
    expect(calls()).toHaveLength(1)
  })
})
