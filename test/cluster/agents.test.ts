// Agents of gates that share one PostgreSQL, from outside: any gate answers for any agent, an agent goes on at
// another gate when its own is stopped, killed or asked to end, and nothing that it does is done twice.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlainClient } from '../support/plain-client.ts'
import {
  findPgBouncer,
  findPostgres,
  namePostgresSuite,
  type RunningPgBouncer,
  type RunningPostgres,
  startPgBouncer,
  startPostgres,
} from '../support/postgres.ts'
import { endGates, fixture, type RunningGate, startGate, until } from '../support/start-gate.ts'

const postgres = findPostgres()
const TIMEOUT_MS = 120_000
const KEY = 'a key of the cluster with 32 characters or more'
const CALLS = 8
/** Longer than a slow call takes, shorter than a lease. */
const AWAY_MS = 1_500
/** Writes, slow ones in between, so that a gate can be stopped while one is out. */
const TURNS = [
  ...Array.from({ length: CALLS }, (_, n) => ({
    toolCalls: [{ name: n % 2 === 0 ? 'count__write' : 'count__slow', input: { n } }],
  })),
  { text: 'done' },
]

describe.skipIf(postgres === undefined)(namePostgresSuite('agents of a cluster', postgres), () => {
  let server: RunningPostgres
  let pooler: RunningPgBouncer | undefined
  let gates: Record<'a' | 'b' | 'c', RunningGate>
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
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
      const gate = await startGate({ servers, config: { store, cluster: { name, key: KEY } } })
      const scripts = join(gate.data, 'scripts')
      mkdirSync(scripts, { recursive: true })
      writeFileSync(join(scripts, 'story.json'), JSON.stringify({ turns: TURNS }))
      return gate
    }
    gates = { a: await start('a'), b: await start('b'), c: await start('c') }
  }, TIMEOUT_MS)
  afterAll(async () => {
    await endGates()
    await pooler?.end()
    await server?.end()
    rmSync(folder, { recursive: true })
  })

  // biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
  async function ask(gate: RunningGate, name: string, args: object): Promise<any> {
    const client = await PlainClient.open(gate, 'agents')
    const { answer } = await client.call(name, args)
    return answer.result.structuredContent ?? JSON.parse(answer.result.content[0].text)
  }

  async function begin(gate: RunningGate): Promise<{ agentId: string; runId: string }> {
    const given = { model: 'script:story', tools: ['count/*'] }
    const { agent } = await ask(gate, 'wasm_agent_create', given)
    const prompt = { agentId: agent.id, input: 'go', waitMs: 0 }
    return { agentId: agent.id, ...(await ask(gate, 'wasm_agent_prompt', prompt)) }
  }

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

  const slowIsOut = (agentId: string) => until(() => arrived(agentId).length % 2 === 0)
  const startedMs = performance.now()
  const say = (what: string) =>
    process.env.SLUICE_TEST_FIGURES &&
    console.log(`${((performance.now() - startedMs) / 1000).toFixed(1)} s: ${what}`)

  test('every gate answers for an agent that another one runs', async () => {
    const { a, b, c } = gates
    const { agentId, runId } = await begin(a)
    expect((await ask(b, 'wasm_agent_list', {})).agents.map(({ id }: never) => id)).toContain(
      agentId,
    )
    const [ended] = await Promise.all([
      ask(b, 'wasm_agent_wait', { agentId, runId, waitMs: 30_000 }),
      ask(c, 'wasm_agent_turn_count', { agentId }),
    ])
    expect(ended.response).toBe('done')
    expect(new Set(arrived(agentId)).size).toBe(CALLS)
    // A file of the agent is written and read at gates that do not run it.
    const toolInput = { path: 'f.txt', content: 'ö' }
    await ask(b, 'wasm_agent_tool', { agentId, toolName: 'write_file', toolInput })
    const { files } = await ask(c, 'wasm_agent_files', { agentId, path: 'f.txt' })
    expect(files).toMatchObject([{ path: 'f.txt', content: 'ö' }])
    const { bundle } = await ask(b, 'wasm_agent_export', {
      agentId,
      format: 'bundle',
      secrets: 'keep',
    })
    expect(await ask(a, 'wasm_agent_import', { bundle })).toMatchObject({ restored: 'memory' })
    const missing = await ask(c, 'wasm_agent_state', { agentId: 'agent_none' })
    expect(missing.code).toBe('AGENT_NOT_FOUND')
  })

  test('S3, S4: an agent goes on where its gate was stopped or killed, and does nothing twice', async () => {
    const { a, b, c } = gates
    const [stopped, killed] = [await begin(a), await begin(b)]
    await slowIsOut(stopped.agentId)
    a.process.kill('SIGSTOP')
    await slowIsOut(killed.agentId)
    await b.kill()
    say('a is stopped, b is killed')
    const before = { ...stopped, calls: arrived(stopped.agentId).length }
    await until(() => arrived(stopped.agentId).length > before.calls)
    say('the next turn of the agent of a')
    for (const { agentId, runId } of [stopped, killed]) {
      const ended = await ask(c, 'wasm_agent_wait', { agentId, runId, waitMs: 30_000 })
      expect(ended.response).toBe('done')
      const effects = arrived(agentId)
      expect(new Set(effects).size).toBe(effects.length)
      // What was out is unknown to the agent, unless its answer was stored just before.
      const { state } = await ask(c, 'wasm_agent_state', { agentId })
      const unknown = JSON.stringify(state.messages).split('OUTCOME_UNKNOWN').length - 1
      expect(unknown).toBeLessThanOrEqual(1)
      expect(effects.length).toBeGreaterThanOrEqual(CALLS - unknown)
    }
    say('both runs have ended')
    const calls = arrived(stopped.agentId)
    a.process.kill('SIGCONT')
    await until(() => a.log.includes('other gates have taken over'))
    await until(async () => (await fetch(`${a.url}/readyz`)).status === 200)
    const history = await ask(a, 'wasm_agent_history', { agentId: stopped.agentId })
    expect(history).toEqual(await ask(c, 'wasm_agent_history', { agentId: stopped.agentId }))
    expect(arrived(stopped.agentId)).toEqual(calls)
  })

  test('a gate that is asked to end hands its agents over, and every call is made once', async () => {
    const { a, c } = gates
    const { agentId, runId } = await begin(c)
    await slowIsOut(agentId)
    const before = arrived(agentId).length
    const exit = c.stop()
    say('c is asked to end')
    await until(() => arrived(agentId).length > before)
    say('the next turn of its agent')
    expect(await exit).toBe(0)
    const ended = await ask(a, 'wasm_agent_wait', { agentId, runId, waitMs: 30_000 })
    expect(ended).toMatchObject({ response: 'done', toolCalls: CALLS })
    const effects = arrived(agentId)
    expect([effects.length, new Set(effects).size]).toEqual([CALLS, CALLS])
    const { state } = await ask(a, 'wasm_agent_state', { agentId })
    expect(JSON.stringify(state.messages)).not.toContain('OUTCOME_UNKNOWN')
  })

  test('a result that comes while the database is away waits for it', async () => {
    const { a } = gates
    const { agentId, runId } = await begin(a)
    await slowIsOut(agentId)
    await server.stop()
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS))
    await server.start()
    await until(async () => {
      const given = { agentId, runId, waitMs: 5_000 }
      return (await ask(a, 'wasm_agent_wait', given).catch(() => ({}))).response === 'done'
    })
    const { state } = await ask(a, 'wasm_agent_state', { agentId })
    expect(JSON.stringify(state.messages)).not.toContain('OUTCOME_UNKNOWN')
    expect(new Set(arrived(agentId)).size).toBe(arrived(agentId).length)
  })
})
