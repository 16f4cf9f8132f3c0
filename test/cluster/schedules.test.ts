// Schedules of gates that share one PostgreSQL: a gate is killed and another one is suspended while times are due, and
// each time begins one run, at whichever gate runs the agent by then.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askAgents } from '../support/cluster-in-full.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import {
  endGates,
  type GateSpec,
  type RunningGate,
  type ServingGate,
  startGate,
  until,
  writeScript,
} from '../support/start-gate.ts'

const postgres = findPostgres()
const TIMEOUT_MS = 180_000
/** Of each agent: some before the gates are gone, some meanwhile. */
const TIMES = 5
const APART_MS = 2_000
/** Enough to make them all before the first is due. */
const AHEAD_MS = 8_000

interface Listed {
  readonly agentId: string
  readonly last: { readonly outcome: string } | null
}

describe.skipIf(postgres === undefined)(
  namePostgresSuite('schedules of a cluster', postgres),
  () => {
    let server: RunningPostgres
    let gates: { readonly a: RunningGate; readonly b: RunningGate; readonly c: ServingGate }

    beforeAll(async () => {
      server = await startPostgres(postgres as string)
      await server.createDatabase('agents')
      const start = async <Gate extends ServingGate>(
        name: string,
        begin: (spec: GateSpec) => Promise<Gate>,
      ): Promise<Gate> => {
        const store = server.url('agents')
        const gate = await begin({
          servers: { agents: { builtin: 'agents' as const } },
          config: { store, cluster: { name, key: CLUSTER_KEY } },
        })
        writeScript(
          gate.data,
          'ok',
          Array.from({ length: TIMES + 1 }, () => ({ text: 'ok' })),
        )
        return gate
      }
      gates = {
        a: await start('a', startGate),
        b: await start('b', startGate),
        c: await start('c', serveGate),
      }
    }, TIMEOUT_MS)
    afterAll(async () => {
      await endGates()
      await server?.end()
    })

    test('each time begins one run although a gate is killed and one is suspended', {
      timeout: TIMEOUT_MS,
    }, async () => {
      const { a, b, c } = gates
      const client = await PlainClient.open(c, 'agents')
      const agents: string[] = []
      for (const gate of [a, b])
        agents.push((await askAgents(gate, 'wasm_agent_create', { model: 'script:ok' })).agent.id)
      const beginMs = Math.ceil(Date.now() / 1_000) * 1_000 + AHEAD_MS
      for (const agentId of agents)
        for (let n = 0; n < TIMES; n += 1) {
          const at = new Date(beginMs + n * APART_MS).toISOString().replace('.000', '')
          // A gate that does not run the agent is asked.
          await client.value('wasm_agent_schedule', { agentId, name: `n${n}`, input: `n${n}`, at })
        }
      const schedules = async (): Promise<Listed[]> => {
        const listed = (await client.value('wasm_agent_schedules', {})).schedules as Listed[]
        return listed.filter(({ agentId }) => agents.includes(agentId))
      }
      expect(await schedules()).toHaveLength(agents.length * TIMES)
      await until(async () => (await schedules()).some(({ last }) => last !== null))
      a.process.kill('SIGSTOP')
      await b.kill()
      await until(
        async () => (await schedules()).every(({ last }) => last?.outcome === 'answered'),
        TIMEOUT_MS,
      )
      a.process.kill('SIGCONT')
      await until(() => a.log.includes('other gates have taken over'))
      for (const agentId of agents) {
        const { events } = await client.value('wasm_agent_history', { agentId })
        const prompts = events.filter(({ kind }: { kind: string }) => kind === 'prompt')
        expect(prompts.map(({ input }: { input: string }) => input).sort()).toEqual(
          Array.from({ length: TIMES }, (_, n) => `n${n}`),
        )
      }
    })
  },
)
