// Gates of one PostgreSQL whose clocks differ by an hour, or did: the one that is wrong ends nothing that is not its
// own, decides nothing and leaves its agents to the others; nothing is done twice.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import { askAgents, beginAgent, TURNS } from '../support/cluster-in-full.ts'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal, makePerson } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL } from '../support/runs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { HOUR_MS, SetClock } from '../support/set-clock.ts'
import {
  endGates,
  fixture,
  type GateSpec,
  type RunningGate,
  type ServingGate,
  until,
  writeScript,
} from '../support/start-gate.ts'

const postgres = findPostgres()
const POLICY = `version: 1
default: allow
tools:
  count/read: { action: require_approval, approval: { wait: 1s, timeout: 10m } }
`
/** A gate reads what others have changed, and looks at expiry, several times in it. */
const A_WHILE_MS = 3_000
const pause = () => new Promise((resolve) => setTimeout(resolve, A_WHILE_MS))

describe.skipIf(postgres === undefined)(namePostgresSuite('clocks of a cluster', postgres), () => {
  let server: RunningPostgres
  let databases = 0

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
  })
  afterEach(endGates)
  afterAll(async () => {
    await server?.end()
  })

  /** A gate whose clock is right, and others beside it; with agents if the test has one. */
  async function startRight(agents: GateSpec['servers'] = {}) {
    const database = `clock_${++databases}`
    await server.createDatabase(database)
    const log = join(scratchDirectory(), 'calls')
    const specify = (name: string): GateSpec => ({
      servers: { ...agents, count: fixture('counter', log) },
      policy: POLICY,
      config: { store: server.url(database), cluster: { name, key: CLUSTER_KEY } },
    })
    const right = await serveGate(specify('right'))
    writeScript(right.data, 'story', TURNS)
    await atTerminal(right.data)
    const startWith = async (clock: SetClock): Promise<RunningGate> => {
      const gate = await clock.start(specify('wrong'))
      writeScript(gate.data, 'story', TURNS)
      await makePerson(gate.data)
      return gate
    }
    const effects = () =>
      (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []).map((line) =>
        String(JSON.parse(line).effect),
      )
    return { right, effects, startWith }
  }

  const requests = async ({ data }: ServingGate): Promise<readonly ApprovalRequest[]> =>
    (await sluiceJson(['approvals', 'list', '--all', '--data', data])).requests
  const approve = async ({ data }: ServingGate, id: string) =>
    (await sluice(['approvals', 'approve', id, '--data', data])).stderr
  const isReady = async ({ url }: RunningGate) => (await fetch(`${url}/readyz`)).status === 200

  test('a gate whose clock is an hour ahead ends no request of another, and is right again with its clock', async () => {
    const { right, startWith } = await startRight()
    const clock = new SetClock()
    const wrong = await startWith(clock)
    const client = await PlainClient.open(right, 'count')
    const other = await PlainClient.open(wrong, 'count')
    expect((await client.call('read', { before: 1 })).text).toContain('APPROVAL_PENDING')
    clock.set(HOUR_MS)
    await until(async () => !(await isReady(wrong)))
    expect((await client.call('read')).text).toContain('APPROVAL_PENDING')
    await pause()
    const found = await requests(right)
    expect(found.map(({ state }) => state)).toEqual(['pending', 'pending'])
    const [id = '', before = ''] = found.map((request) => request.id)
    const why = /the clock of this gate is 3\d{3} s ahead/
    expect((await other.call('read')).text).toContain('GATE_UNAVAILABLE')
    expect(wrong.log).toMatch(why)
    expect(await approve(wrong, id)).toMatch(why)
    clock.set(0)
    await until(() => isReady(wrong))
    expect((await other.call('read', { after: 1 })).text).toContain('APPROVAL_PENDING')
    expect(await approve(wrong, before)).toBe('')
    expect(await approve(right, id)).toBe('')
    expect((await client.call('read')).answer.result.isError).toBeFalsy()
    await until(async () => (await requests(right)).length === 3)
    const [last] = await requests(right)
    expect(((last?.expiresAtMs ?? 0) - Date.now()) / HOUR_MS).toBeLessThan(0.5)
  })

  test('a gate that is started while its clock is ahead ends nothing, also when it is set back', async () => {
    const { right, startWith } = await startRight()
    const clock = new SetClock()
    clock.set(HOUR_MS)
    const late = await startWith(clock)
    const client = await PlainClient.open(right, 'count')
    for (const ahead of [HOUR_MS, 0]) {
      clock.set(ahead)
      expect((await client.call('read', { ahead })).text).toContain('APPROVAL_PENDING')
      await pause()
      expect((await requests(right))[0]?.state).toBe('pending')
    }
    const other = await PlainClient.open(late, 'count')
    const why = /the clock of this gate was 3\d{3} s ahead .* at its start: restart it/
    expect((await other.call('slow')).text).toContain('GATE_UNAVAILABLE')
    expect(late.log).toMatch(why)
    expect(await isReady(late)).toBe(false)
  })

  test.runIf(IS_FULL)(
    'an agent goes on at another gate while the clock of its own is wrong, and does nothing twice',
    async () => {
      const { right, startWith, effects } = await startRight({ agents: { builtin: 'agents' } })
      const clock = new SetClock()
      const wrong = await startWith(clock)
      const { agentId, runId } = await beginAgent(wrong, { runMs: HOUR_MS / 2 })
      await until(() => effects().length > 1)
      clock.set(HOUR_MS)
      const ended = await askAgents(right, 'wasm_agent_wait', { agentId, runId, waitMs: 60_000 })
      expect(ended.response).toBe('done')
      expect(new Set(effects()).size).toBe(effects().length)
      // Its gate runs agents again when its clock is right.
      clock.set(0)
      await until(() => wrong.log.includes('other gates have taken over the agents of this one'))
      const next = await beginAgent(wrong)
      const waited = { agentId: next.agentId, runId: next.runId, waitMs: 60_000 }
      expect((await askAgents(right, 'wasm_agent_wait', waited)).response).toBe('done')
    },
  )
})
