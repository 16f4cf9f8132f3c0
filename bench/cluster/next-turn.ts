// Seconds until the next turn of an agent at another gate, after its gate was killed and after SIGTERM. Used by
// `npm run bench -- cluster`.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PlainClient } from '../../test/support/plain-client.ts'
import {
  endGates,
  fixture,
  type RunningGate,
  startGate,
  until,
  writeScript,
} from '../../test/support/start-gate.ts'

const KEY = 'a key of the cluster, of the benchmark only'
const CALLS = 200
const TURNS = [
  ...Array.from({ length: CALLS }, (_, n) => ({
    toolCalls: [{ name: 'count__slow', input: { n } }],
  })),
  { text: 'done' },
]

export async function measureNextTurn(store: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-next-turn-'))
  const start = async (name: string): Promise<RunningGate> => {
    const count = fixture('counter', join(folder, name))
    const servers = { agents: { builtin: 'agents' as const }, count }
    const gate = await startGate({ servers, config: { store, cluster: { name, key: KEY } } })
    writeScript(gate.data, 'story', TURNS)
    return gate
  }
  try {
    await start('other')
    for (const [name, how] of [
      ['killed', 'killed'],
      ['ended', 'stopped with SIGTERM'],
    ] as const) {
      const gate = await start(name)
      const agentId = await begin(gate)
      await until(() => countCalls(join(folder, name), agentId) >= 2)
      const beganMs = performance.now()
      const ended = name === 'killed' ? gate.kill() : gate.stop()
      await until(() => countCalls(join(folder, 'other'), agentId) > 0, 60_000)
      const seconds = (performance.now() - beganMs) / 1_000
      console.log(`next turn of an agent at another gate, ${how}: ${seconds.toFixed(1)} s`)
      await ended
    }
  } finally {
    await endGates()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function begin(gate: RunningGate): Promise<string> {
  const client = await PlainClient.open(gate, 'agents')
  const ask = async (name: string, args: object) => {
    const { result } = (await client.call(name, args)).answer
    return result.structuredContent ?? JSON.parse(result.content[0].text)
  }
  const { agent } = await ask('wasm_agent_create', { model: 'script:story', tools: ['count/*'] })
  await ask('wasm_agent_prompt', { agentId: agent.id, input: 'go', waitMs: 0 })
  return agent.id
}

function countCalls(log: string, agentId: string): number {
  if (!existsSync(log)) return 0
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes(agentId)).length
}
