// Many concurrent scripted runs in a gate, every turn with a call of a server behind it: decided,
// recorded and answered like any other. Gate and server are separate processes, so that the CPU
// time of each can be measured; the cost of the turns' script is measured separately and
// subtracted.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { playScript } from '../../packages/agents/src/models/script-model.ts'
import { ROOT } from '../../scripts/run-step.ts'
import { cpuUs } from '../gateway/process-figures.ts'
import { start } from '../gateway/running.ts'
import { summed, type Timing } from './timing.ts'

const TURNS = 30
const SCRIPT = 'through'
const POLICY = 'version: 1\ndefault: allow\n'
const WAIT_MS = 30_000

export async function runsInGate(
  folder: string,
  runs: number,
): Promise<{ row: Timing; remark: string }> {
  const data = join(folder, 'data')
  const scripts = join(data, 'scripts')
  mkdirSync(scripts, { recursive: true })
  writeFileSync(join(scripts, `${SCRIPT}.json`), JSON.stringify({ turns: createTurns() }))
  const echo = await start({
    command: [process.execPath, join(ROOT, 'bench/gateway/echo-server.ts')],
  })
  const servers = { agents: { builtin: 'agents' }, echo: { url: echo.url } }
  const config = { version: 1, servers, policy: './policy.yaml', data: './data' }
  writeFileSync(join(folder, 'policy.yaml'), POLICY)
  // JSON is YAML.
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(config))
  const up = ['up', '--config', join(folder, 'sluice.yaml'), '--port', '0']
  const gate = await start({
    command: [process.execPath, join(ROOT, 'packages/cli/bin/sluice.js'), ...up],
  })
  try {
    const call = await connect(`${gate.url}/mcp/agents`)
    const ids: string[] = []
    for (let at = 0; at < runs; at += 1) {
      const config = { model: `script:${SCRIPT}`, tools: ['echo/*'], maxTurns: 100 }
      ids.push((await call('wasm_agent_create', config)).agent.id)
    }
    const before = [cpuUs(gate.pid), cpuUs(echo.pid)] as const
    const began = performance.now()
    const times = await Promise.all(ids.map((id) => timed(() => run(call, id))))
    const ms = performance.now() - began
    const turns = runs * (TURNS + 1)
    const ofGate = (cpuUs(gate.pid) - before[0]) / turns
    const ofServer = (cpuUs(echo.pid) - before[1]) / turns
    const ofModel = await scriptUs(scripts)
    const own = (ofGate - ofModel) / (ofGate + ofServer)
    const remark =
      `${runs} runs of ${TURNS + 1} turns at once, each turn with a tool through the gate: ` +
      `${Math.round((runs * 60_000) / ms)} runs a minute, ${Math.round(ofGate)} µs of the gate's CPU ` +
      `a turn (${Math.round(ofModel)} of them the script's), ${Math.round(ofServer)} µs of the server's; ` +
      `${Math.round(own * 100)} % is neither model nor server`
    return {
      row: summed(`a run of ${TURNS + 1} turns through the gate, ${runs} at once`, times),
      remark,
    }
  } finally {
    await gate.stop()
    await echo.stop()
  }
}

/** A file and a call of the server in each. */
function createTurns(): object[] {
  const work = Array.from({ length: TURNS }, (_, at) => ({
    text: `thinking about step ${at}`,
    toolCalls: [
      { name: 'write_file', input: { path: `src/f${at % 20}.ts`, content: `v${at}\n`.repeat(80) } },
      { name: 'echo__echo', input: { message: `step ${at}` } },
    ],
  }))
  return [...work, { text: 'finished' }]
}

async function run(call: Call, agentId: string): Promise<void> {
  let state = await call('wasm_agent_prompt', { agentId, input: 'go', waitMs: WAIT_MS })
  while (state.runId !== undefined)
    state = await call('wasm_agent_wait', { agentId, runId: state.runId, waitMs: WAIT_MS })
  if (state.turns !== TURNS + 1 || state.toolCalls !== 2 * TURNS)
    throw new Error(`the run did not do its work: ${JSON.stringify(state)}`)
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) * 1_000
}

/** The cost of a turn of the script alone. */
async function scriptUs(scripts: string): Promise<number> {
  const { signal } = new AbortController()
  const rounds = 10
  const cpu = process.cpuUsage()
  for (let round = 0; round < rounds; round += 1)
    for (let turn = 0; turn <= TURNS; turn += 1)
      await playScript(SCRIPT, { turn, signal } as never, scripts)
  const { user, system } = process.cpuUsage(cpu)
  return (user + system) / (rounds * (TURNS + 1))
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a tool answers
type Call = (tool: string, args: object) => Promise<any>

async function connect(url: string): Promise<Call> {
  let next = 1
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const ask = async (body: object): Promise<Response> => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...body })
    return fetch(url, { method: 'POST', headers, body: text })
  }
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const opened = await ask({ id: next++, method: 'initialize', params })
  headers['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? ''
  await opened.text()
  await (await ask({ method: 'notifications/initialized' })).text()
  return async (name, args) => {
    const called = { id: next++, method: 'tools/call', params: { name, arguments: args } }
    const text = await (await ask(called)).text()
    const line = text.split('\n').findLast((each) => /^(data: )?\{/.test(each)) ?? ''
    const { result, error } = JSON.parse(line.replace(/^data: /, ''))
    if (result?.structuredContent === undefined || result.isError)
      throw new Error(`${name}: ${JSON.stringify(error ?? result)}`)
    return result.structuredContent
  }
}
