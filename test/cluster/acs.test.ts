// Agents that ask by the Agent Control Standard at gates that share one PostgreSQL: an id counts once at all of them, and
// a call that one gate deferred passes at another.

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AcsClient } from '../../examples/support/acs-client.ts'
import { ACS_KEY, ORDER, sendAcs, writeAcsRequest } from '../support/acs-request.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'

const POLICY = `
version: 1
default: deny
tools:
  shop/get_order: allow
  shop/refund: { action: require_approval, approval: { wait: 1s } }
`
const postgres = findPostgres()

describe.skipIf(postgres === undefined)(namePostgresSuite('shared ACS', postgres), () => {
  let server: RunningPostgres
  let gates: readonly OwnGate[] = []

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    await server.createDatabase('acs')
    const start = (name: string) =>
      ownGate({
        servers: { shop: { builtin: 'acs' } },
        policy: POLICY,
        config: {
          grants: { shop: { acs: 'shop', hmac_key: ACS_KEY, policy: 'policy' } },
          store: server.url('acs'),
          cluster: { name, key: CLUSTER_KEY },
        },
      })
    gates = [await start('a'), await start('b')]
  }, 120_000)
  afterAll(async () => {
    await endOwnGates()
    await server?.end()
  })

  test('a request that one gate has taken is a replay at the other', async () => {
    const sent = { session: randomUUID(), requestId: randomUUID() }
    const body = writeAcsRequest('steps/toolCallRequest', ORDER, sent)
    const [first, second] = await Promise.all(gates.map(({ url }) => sendAcs(url, body)))
    expect([first?.code, second?.code].sort()).toEqual([-32005, undefined])
    for (const { url } of gates) expect(await sendAcs(url, body)).toMatchObject({ code: -32005 })
    // Its chain goes on at either.
    const heads = []
    for (const { url } of gates) {
      const step = writeAcsRequest('steps/turnEnd', {}, { session: sent.session })
      heads.push((await sendAcs(url, step)).chain_hash)
    }
    expect(new Set([first?.chain_hash ?? second?.chain_hash, ...heads]).size).toBe(3)
  })

  test('a call that one gate deferred passes once at the other', async () => {
    const [a, b] = gates as [OwnGate, OwnGate]
    const open = async (url: string, session?: string) => {
      const known = { url: `${url}/acs`, agent: 'shop', key: ACS_KEY }
      const client = new AcsClient(session === undefined ? known : { ...known, session })
      await client.start()
      return client
    }
    const first = await open(a.url)
    const refund = { id: 'call_1', tool: 'refund', args: { amount: 40 } }
    const held = await first.ask(refund)
    expect(held.is).toBe('waiting')
    const id = held.is === 'waiting' ? (held.approval ?? '') : ''
    expect(await a.approvals.decide(id, { verdict: 'approve' }, ADA, 'terminal')).toBeDefined()
    const second = await open(b.url, first.session)
    expect(await second.ask(refund)).toMatchObject({ is: 'allowed' })
    expect((await first.ask({ ...refund, id: 'call_2' })).is).not.toBe('allowed')
  })
})
