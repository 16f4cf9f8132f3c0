// Parts of test/cluster in full, for `npm run soak -- cluster`: each returns what is wrong. The agents that they
// start are also those of test/cluster/agents.test.ts.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { endOwnGates, ownGate } from './own-gate.ts'
import { PlainClient } from './plain-client.ts'
import type { RunningPostgres } from './postgres.ts'
import { CLUSTER_KEY } from './postgres.ts'
import {
  fixture,
  type RunningGate,
  type ServingGate,
  startGate,
  until,
  writeScript,
} from './start-gate.ts'

const POLICY = `version: 1
default: allow
tools:
  count/write: { action: allow, rate_limit: { max: 100, window: 1h, per: everyone } }
  count/fail: { action: allow, spend_limit: { amount: args.amount, max: 10.5, window: 1h, per: everyone } }
`
/** Calls of an agent of the script `story`. */
export const CALLS = 8
/** Writes, slow ones in between, so that a gate can be stopped while one is out. */
export const TURNS = [
  ...Array.from({ length: CALLS }, (_, n) => ({
    toolCalls: [{ name: n % 2 === 0 ? 'count__write' : 'count__slow', input: { n } }],
  })),
  { text: 'done' },
]

/** S1: four gates, 1,000 calls at once: exactly 100 pass, and exactly 10.5 is spent in steps of 0.1. */
export async function checkLimits(server: RunningPostgres): Promise<string[]> {
  await server.createDatabase('limits')
  return inFolder(async (folder) => {
    const log = join(folder, 'calls')
    const names = ['a', 'b', 'c', 'd']
    const gates = await Promise.all(
      names.map((name) =>
        startGate({
          servers: { count: fixture('counter', log) },
          policy: POLICY,
          config: { store: server.url('limits'), cluster: { name, key: CLUSTER_KEY } },
        }),
      ),
    )
    const clients = await Promise.all(gates.map((gate) => PlainClient.open(gate, 'count')))
    const wrong: string[] = []
    for (const [tool, expected] of [
      ['write', 100],
      ['fail', 105],
    ] as const) {
      const before = readLines(log).length
      const tries = clients.flatMap((client) =>
        Array.from({ length: 250 }, () => client.call(tool, { amount: 0.1 })),
      )
      const limited = (await Promise.all(tries)).filter(({ text }) => text.includes('LIMITED'))
      const arrived = readLines(log).length - before
      console.log(`${tries.length} calls of ${tool}: ${arrived} arrived, ${limited.length} limited`)
      if (arrived !== expected) wrong.push(`${tool}: ${arrived} calls passed, not ${expected}`)
    }
    return wrong
  })
}

/** S10: twenty gates have at most four connections each. */
export async function checkConnections(server: RunningPostgres): Promise<string[]> {
  await server.createDatabase('connections')
  const gates = 20
  const admin = new PostgresConnections(parsePostgresUrl(server.url('connections')))
  try {
    await admin.query('ALTER SYSTEM SET max_connections = 200')
    await server.stop()
    await server.start()
    const clients: PlainClient[] = []
    await inFolder(async (folder) => {
      const servers = { count: fixture('counter', join(folder, 'calls')) }
      for (let at = 1; at <= gates; at++) {
        const config = {
          store: server.url('connections'),
          cluster: { name: `g${at}`, key: CLUSTER_KEY },
        }
        const gate = (await ownGate({ servers, config })) as unknown as RunningGate
        clients.push(await PlainClient.open(gate, 'count'))
      }
      for (let turn = 0; turn < 5; turn++)
        await Promise.all(clients.flatMap((client) => [1, 2, 3].map(() => client.call('read'))))
    })
    const sql = `SELECT count(*) FROM pg_stat_activity
      WHERE application_name = 'sluice' AND datname = 'connections' AND pid <> pg_backend_pid()`
    const [row] = await admin.query(sql)
    console.log(`${gates} gates, ${row?.count} connections`)
    return Number(row?.count) <= gates * 4 ? [] : [`${row?.count} connections of ${gates} gates`]
  } finally {
    await endOwnGates()
    await admin.close()
  }
}

/** S3: gates that run agents are stopped for longer than their lease, with their agents at different places; each
 * agent ends at another gate, and no effect is made twice, also after the gate goes on. */
export async function checkAgents(
  server: RunningPostgres,
  { rounds = '4' }: RunOptions,
): Promise<string[]> {
  await server.createDatabase('agents')
  return inFolder(async (folder) => {
    const log = join(folder, 'calls')
    const start = async (name: string): Promise<RunningGate> => {
      const servers = { agents: { builtin: 'agents' as const }, count: fixture('counter', log) }
      const config = { store: server.url('agents'), cluster: { name, key: CLUSTER_KEY } }
      const gate = await startGate({ servers, config })
      writeScript(gate.data, 'story', TURNS)
      return gate
    }
    const gates = [await start('a'), await start('b')] as const
    const wrong: string[] = []
    const places = new Set<number>()
    for (let round = 0; round < Number(rounds); round++) {
      const [own, other] = round % 2 === 0 ? gates : ([gates[1], gates[0]] as const)
      const begun: { agentId: string; runId: string }[] = []
      const effectsOf = (agentId: string) => readEffects(log).filter((id) => id.startsWith(agentId))
      for (let at = 0; at < CALLS; at++) {
        begun.push(await beginAgent(own))
        // The first ones are further than the last when the gate is stopped.
        await new Promise((resolve) => setTimeout(resolve, 150))
      }
      await until(() => effectsOf(begun[0]?.agentId ?? '').length >= CALLS - 2)
      own.process.kill('SIGSTOP')
      for (const { agentId } of begun) places.add(effectsOf(agentId).length)
      for (const { agentId, runId } of begun) {
        const ended = await askAgents(other, 'wasm_agent_wait', { agentId, runId, waitMs: 60_000 })
        if (ended.response !== 'done')
          wrong.push(`${agentId} did not end: ${JSON.stringify(ended)}`)
      }
      own.process.kill('SIGCONT')
      await until(async () => (await fetch(`${own.url}/readyz`)).status === 200)
      // Whatever the gate still believes, it has had the time to do it.
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      for (const { agentId } of begun) {
        const effects = effectsOf(agentId)
        if (new Set(effects).size !== effects.length) wrong.push(`${agentId} did something twice`)
      }
    }
    console.log(
      `${rounds} rounds, stopped after ${[...places].sort().join(', ')} calls of an agent`,
    )
    return wrong
  })
}

export async function beginAgent(
  gate: ServingGate,
  limits: object = {},
): Promise<{ agentId: string; runId: string }> {
  const given = { model: 'script:story', tools: ['count/*'], limits }
  const { agent } = await askAgents(gate, 'wasm_agent_create', given)
  const prompt = { agentId: agent.id, input: 'go', waitMs: 0 }
  return { agentId: agent.id, ...(await askAgents(gate, 'wasm_agent_prompt', prompt)) }
}

// biome-ignore lint/suspicious/noExplicitAny: taken apart by the caller
export async function askAgents(gate: ServingGate, name: string, args: object): Promise<any> {
  const client = await PlainClient.open(gate, 'agents')
  return client.value(name, args)
}

function readLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

function readEffects(file: string): string[] {
  return readLines(file).map((line) => String(JSON.parse(line).effect))
}

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-soak-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
