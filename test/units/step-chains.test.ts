// The chains of sessions of ACS: each entry follows the head, an id counts once whichever gate takes it, and what two
// gates write at the same time is one chain. In SQLite, and for two gates on one PostgreSQL.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openGateStore } from '../../packages/gateway/src/data/gate-store.ts'
import { openSharedGate } from '../../packages/ledger/src/store/postgres/shared-gate.test-support.ts'
import { PostgresStepChains } from '../../packages/ledger/src/store/postgres/step-chains.ts'
import { SqliteStepChains } from '../../packages/ledger/src/store/sqlite/step-chains.ts'
import type { StepChains, StepEntry } from '../../packages/ledger/src/store/step-chains.ts'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { scratchDirectory } from '../support/scratch.ts'

type TwoGates = readonly [StepChains, StepChains]

function testChains(open: () => Promise<TwoGates>): void {
  test("the hashes are those of the standard's test vectors", async () => {
    const [one, other] = await open()
    const session = '0b2f6f7e-0c1d-4e5f-8a9b-1c2d3e4f5a60'
    const steps = [
      `{"entry_id":"1","step_id":"${session}","step_type":"steps/sessionStart","timestamp":"2026-09-19T10:00:00Z"}`,
      '{"entry_id":"2","provenance_summary":{"entry_count":2,"entry_count_by_origin":{"tool_output":1,"user_input":1},"origins_seen":["user_input","tool_output"]},"request_hash":"1f73e15e340da6bc294e18e38557aef0241921fd3985c94266e1b7416c743058","step_id":"8d0b6b0e-4d6b-4f7a-9d1c-1f1c7f0e2a10","step_type":"steps/toolCallRequest","timestamp":"2026-09-19T10:00:01Z"}',
      '{"entry_id":"é-3","step_id":"c1d2e3f4-a5b6-4c7d-8e9f-0a1b2c3d4e5f","step_type":"steps/toolCallResult","timestamp":"2026-09-19T10:00:02Z"}',
    ]
    const hashes = [
      '1552a42d04ec72f9c18945400488e3f50fba5b3256537db01b705eea66e30373',
      '14e6d50a913e8295606bc0d86ee9cde870040e0e0a319b13ae15836128d0d111',
      '86e28e694a7e762f205dc0739e4764d9cb32ff2c2c03a56ca88ecbbe0f505229',
    ]
    for (const [at, content] of steps.entries()) {
      const chains = at === 1 ? other : one
      expect(await chains.append({ chain: 'vectors', request: `${at}`, content })).toEqual({
        hash: hashes[at],
        previous: hashes[at - 1],
      })
    }
  })

  test('a request that one gate has taken is refused by both; another session may have its id', async () => {
    const [one, other] = await open()
    const step = { chain: 'replay', request: 'r', content: '{}' }
    const first = await one.append(step)
    expect(first?.previous).toBeUndefined()
    expect(await one.append(step)).toBeUndefined()
    expect(await other.append(step)).toBeUndefined()
    expect((await other.append({ ...step, chain: 'replay 2' }))?.previous).toBeUndefined()
    // What was refused has not moved the head.
    expect((await other.append({ ...step, request: 's' }))?.previous).toBe(first?.hash)
  })

  test('what two gates write at the same time is one chain', async () => {
    const gates = await open()
    const entries = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (gates[at % 2] as StepChains).append({ chain: 'both', request: `${at}`, content: `${at}` }),
      ),
    )
    const after = new Map(entries.map((entry, at) => [entry?.previous, { entry, at }]))
    expect(after.size).toBe(20)
    let head: StepEntry | undefined
    for (let count = 0; count < 20; count++) {
      const next = after.get(head?.hash)
      const hash = createHash('sha256').update(`${next?.at}`)
      if (head !== undefined) hash.update(Buffer.from(head.hash, 'hex'))
      expect(next?.entry?.hash).toBe(hash.digest('hex'))
      head = next?.entry
    }
  })
}

describe('in SQLite', () => {
  testChains(async () => {
    const store = openGateStore(scratchDirectory())
    onTestFinished(() => store.close())
    const chains = new SqliteStepChains(store, Date.now)
    return [chains, chains]
  })
})

const postgres = findPostgres()
describe.skipIf(postgres === undefined)(namePostgresSuite('step chains', postgres), () => {
  let server: RunningPostgres
  let gates: TwoGates
  const ended: (() => void | Promise<void>)[] = []
  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    await server.createDatabase('steps')
    const opened = []
    for (const name of ['a', 'b']) opened.push(await openSharedGate(server.url('steps'), name))
    ended.push(...opened.map(({ close }) => close))
    const [one, other] = opened.map(({ connections }) => new PostgresStepChains(connections))
    gates = [one as StepChains, other as StepChains]
  }, 60_000)
  afterAll(async () => {
    for (const end of ended) await end()
    await server?.end()
  })

  testChains(async () => gates)
})
