// Agents of gates that share one PostgreSQL, from outside: any gate answers for any agent, an agent goes on at
// another gate when its own is stopped, killed or asked to end, and nothing that it does is done twice.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askAgents, beginAgent, CALLS, TURNS } from '../support/cluster-in-full.ts'
import {
  CLUSTER_KEY,
  findPgBouncer,
  findPostgres,
  namePostgresSuite,
  type RunningPgBouncer,
  type RunningPostgres,
  startPgBouncer,
  startPostgres,
} from '../support/postgres.ts'
import { KILLS_POLICY, playProgramKills } from '../support/program-kills.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import {
  endGates,
  fixture,
  type RunningGate,
  startGate,
  until,
  writeScript,
} from '../support/start-gate.ts'

const postgres = findPostgres()
const TIMEOUT_MS = 120_000
/** Longer than a slow call takes, shorter than a lease. */
const AWAY_MS = 1_500

describe.skipIf(postgres === undefined)(namePostgresSuite('agents of a cluster', postgres), () => {
  let server: RunningPostgres
  let pooler: RunningPgBouncer | undefined
  let gates: Record<'a' | 'b' | 'c', RunningGate>
  const folder = fileScratchDirectory()
  const log = join(folder, 'calls')

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    await server.createDatabase('agents')
    const pgBouncer = findPgBouncer()
    if (pgBouncer !== undefined) pooler = await startPgBouncer(pgBouncer, server)
    const start = async (name: string): Promise<RunningGate> => {
      const servers = { agents: { builtin: 'agents' as const }, count: fixture('counter', log) }
      // One of them through PgBouncer in transaction mode.
      const { port } = name === 'c' ? (pooler ?? server) : server
      const store = `postgres://sluice@127.0.0.1:${port}/agents`
      const gate = await startGate({
        servers,
        config: { store, cluster: { name, key: CLUSTER_KEY } },
      })
      writeScript(gate.data, 'story', TURNS)
      return gate
    }
    gates = { a: await start('a'), b: await start('b'), c: await start('c') }
  }, TIMEOUT_MS)
  afterAll(async () => {
    await endGates()
    await pooler?.end()
    await server?.end()
  })

  /** The calls of an agent that arrived, by the name of the effect. */
  function arrived(agentId: string): string[] {
    let text = ''
    try {
      text = readFileSync(log, 'utf8')
    } catch {}
    const lines = text.split('\n').filter((line) => line !== '')
    const effects = lines.map((line) => String(JSON.parse(line).effect))
    return effects.filter((effect) => effect.startsWith(agentId))
  }

  const slowIsOut = (agentId: string) =>
    until(() => {
      const { length } = arrived(agentId)
      return length > 0 && length % 2 === 0
    })

  test('every gate answers for an agent that another one runs', async () => {
    const { a, b, c } = gates
    const { agentId, runId } = await beginAgent(a)
    expect((await askAgents(b, 'wasm_agent_list', {})).agents.map(({ id }: never) => id)).toContain(
      agentId,
    )
    const [ended] = await Promise.all([
      askAgents(b, 'wasm_agent_wait', { agentId, runId, waitMs: 30_000 }),
      askAgents(c, 'wasm_agent_turn_count', { agentId }),
    ])
    expect(ended.response).toBe('done')
    expect(new Set(arrived(agentId)).size).toBe(CALLS)
    // A file of the agent is written and read at gates that do not run it.
    const toolInput = { path: 'f.txt', content: 'ö' }
    await askAgents(b, 'wasm_agent_tool', { agentId, toolName: 'write_file', toolInput })
    const { files } = await askAgents(c, 'wasm_agent_files', { agentId, path: 'f.txt' })
    expect(files).toMatchObject([{ path: 'f.txt', content: 'ö' }])
    const { bundle } = await askAgents(b, 'wasm_agent_export', {
      agentId,
      format: 'bundle',
      secrets: 'keep',
    })
    expect(await askAgents(a, 'wasm_agent_import', { bundle })).toMatchObject({
      restored: 'memory',
    })
    const missing = await askAgents(c, 'wasm_agent_state', { agentId: 'agent_none' })
    expect(missing.code).toBe('AGENT_NOT_FOUND')
  })

  test('S3, S4: an agent goes on where its gate was stopped or killed, and does nothing twice', async () => {
    const { a, b, c } = gates
    const [stopped, killed] = [await beginAgent(a), await beginAgent(b)]
    await slowIsOut(stopped.agentId)
    a.process.kill('SIGSTOP')
    await slowIsOut(killed.agentId)
    await b.kill()
    const before = { ...stopped, calls: arrived(stopped.agentId).length }
    await until(() => arrived(stopped.agentId).length > before.calls)
    const unknownOf = new Map<string, number>()
    for (const { agentId, runId } of [stopped, killed]) {
      const ended = await askAgents(c, 'wasm_agent_wait', { agentId, runId, waitMs: 30_000 })
      expect(ended.response).toBe('done')
      const effects = arrived(agentId)
      expect(new Set(effects).size).toBe(effects.length)
      // What was out is unknown to the agent, unless its answer was stored just before.
      const { state } = await askAgents(c, 'wasm_agent_state', { agentId })
      const unknown = JSON.stringify(state.messages).split('OUTCOME_UNKNOWN').length - 1
      expect(unknown).toBeLessThanOrEqual(1)
      unknownOf.set(agentId, unknown)
      expect(effects.length).toBeGreaterThanOrEqual(CALLS - unknown)
    }
    const calls = arrived(stopped.agentId)
    a.process.kill('SIGCONT')
    await until(() => a.log.includes('other gates have taken over'))
    await until(async () => (await fetch(`${a.url}/readyz`)).status === 200)
    const history = await askAgents(a, 'wasm_agent_history', { agentId: stopped.agentId })
    expect(history).toEqual(await askAgents(c, 'wasm_agent_history', { agentId: stopped.agentId }))
    // A gate that was suspended between recording a call and sending it sends it when it goes on: that call is the
    // one whose outcome is unknown to the agent, and it arrives once.
    const all = arrived(stopped.agentId)
    expect(all.slice(0, calls.length)).toEqual(calls)
    expect(all.length - calls.length).toBeLessThanOrEqual(unknownOf.get(stopped.agentId) ?? 0)
    expect(new Set(all).size).toBe(all.length)
  })

  test('a gate that is asked to end hands its agents over, and every call is made once', async () => {
    const { a, c } = gates
    const { agentId, runId } = await beginAgent(c)
    await slowIsOut(agentId)
    const before = arrived(agentId).length
    const exit = c.stop()
    await until(() => arrived(agentId).length > before)
    expect(await exit).toBe(0)
    const ended = await askAgents(a, 'wasm_agent_wait', { agentId, runId, waitMs: 30_000 })
    expect(ended).toMatchObject({ response: 'done', toolCalls: CALLS })
    const effects = arrived(agentId)
    expect([effects.length, new Set(effects).size]).toEqual([CALLS, CALLS])
    const { state } = await askAgents(a, 'wasm_agent_state', { agentId })
    expect(JSON.stringify(state.messages)).not.toContain('OUTCOME_UNKNOWN')
  })

  test('a result that comes while the database is away waits for it', async () => {
    const { a } = gates
    const { agentId, runId } = await beginAgent(a)
    await slowIsOut(agentId)
    await server.stop()
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS))
    await server.start()
    await until(async () => {
      const given = { agentId, runId, waitMs: 5_000 }
      return (await askAgents(a, 'wasm_agent_wait', given).catch(() => ({}))).response === 'done'
    })
    const { state } = await askAgents(a, 'wasm_agent_state', { agentId })
    expect(JSON.stringify(state.messages)).not.toContain('OUTCOME_UNKNOWN')
    expect(new Set(arrived(agentId)).size).toBe(arrived(agentId).length)
  })

  test('programs with held calls are taken over by another gate after each kill -9', async () => {
    await server.createDatabase('programs')
    const calls = join(folder, 'programs')
    const servers = { code: { builtin: 'code' as const }, count: fixture('counter', calls) }
    const start = (life: number) => {
      const cluster = { name: `life-${life}`, key: CLUSTER_KEY }
      return startGate({
        servers,
        policy: KILLS_POLICY,
        config: { store: server.url('programs'), cluster },
      })
    }
    await playProgramKills(start, calls)
  })
})
