// `npm run bench -- agents [--count N] [--agents N] [--runs N] [--claude-flow DIR] [--peer
// COMMAND]`: agents in process (including thread hop and commit) and over MCP stdio, compared with
// rvagent-wasm in process, claude-flow's MCP server (installed into DIR on request) and any server
// with the same tools; many agents on disk; concurrent runs; and whether a call costs more with
// turns and files.

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ModelSettings } from '../packages/agents/src/models/models.ts'
import { Service } from '../packages/agents/src/service/service.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { installClaudeFlow } from '../scripts/install-claude-flow.ts'
import { ROOT } from '../scripts/run-step.ts'
import type { AtRest } from './agents/at-rest.ts'
import { besideClaudeFlow } from './agents/beside-claude-flow.ts'
import { fillStore } from './agents/fill-store.ts'
import { overMcp } from './agents/over-mcp.ts'
import { runsInGate } from './agents/runs-in-gate.ts'
import { show, summed, type Timing, time } from './agents/timing.ts'
import { workingTurns } from './agents/working-turns.ts'

const OWNER = 'bench'
/** Agents whose first turn warms the code up. */
const WARM = 20

export async function run(options: RunOptions): Promise<number> {
  const count = Number(options.count ?? 500)
  const base = mkdtempSync(join(tmpdir(), 'sluice-agents-bench-'))
  const scripts = join(base, 'scripts')
  mkdirSync(scripts)
  writeFileSync(join(scripts, 'work.json'), JSON.stringify({ turns: workingTurns(15) }))
  writeFileSync(join(scripts, 'long.json'), JSON.stringify({ turns: workingTurns(30) }))
  const models = { environment: {}, providers: {}, scripts, prices: {} }
  const rows: Timing[] = []
  const remarks: string[] = []
  const report = (...more: Timing[]): void => {
    rows.push(...more)
    if (!options.json) for (const row of more) console.log(show(row))
  }
  const service = await Service.start({ directory: join(base, 'data'), models })
  try {
    report(...(await inProcess(service, count)))
    report(...(await besideRvAgent(count)))
    report(...(await flat(service)))
    report(...(await runsAtOnce(service, Number(options.runs ?? 64), remarks)))
  } finally {
    await service.close()
  }
  const inGate = await runsInGate(join(base, 'gate'), Number(options.runs ?? 64))
  report(inGate.row)
  remarks.push(inGate.remark)
  for (const agents of new Set([1_000, Number(options.agents ?? 1_000)]))
    report(...(await many(base, models, agents, remarks)))
  const own = join(base, 'own')
  const serve = [
    process.execPath,
    join(ROOT, 'packages/cli/bin/sluice.js'),
    'agents',
    'serve',
    '--data',
    own,
  ]
  report(...(await overMcp('sluice over MCP', serve, count, 'script:none')))
  if (typeof options['claude-flow'] === 'string') {
    const peer = installClaudeFlow(resolve(options['claude-flow']))
    const home = join(base, 'peer')
    mkdirSync(home)
    const beside = await besideClaudeFlow(serve, peer, home)
    report(...beside.rows)
    remarks.push(...beside.remarks)
  }
  if (typeof options.peer === 'string')
    report(...(await overMcp('peer over MCP', options.peer.split(' '), count, 'local')))
  rmSync(base, { recursive: true, force: true })
  if (options.json) console.log(JSON.stringify({ rows, remarks }))
  else for (const remark of remarks) console.log(remark)
  return 0
}

async function inProcess(service: Service, count: number): Promise<Timing[]> {
  const { id } = await service.create(OWNER, { model: 'script:work' })
  await service.prompt(OWNER, id, { input: 'go' })
  const write = (at: number) =>
    service.callTool(OWNER, id, 'write_file', { path: `f${at % 20}`, content: `${at}` })
  const now = () => Date.now()
  const ask = (question: 'todos' | 'files') => service.ask(OWNER, id, { ask: question })
  const standing = () => service.steps.standing(OWNER, id, now())
  return [
    await time('create, committed', count, () => service.create(OWNER, { model: 'script:x' })),
    await time('todos, resident', count, () => service.ask(OWNER, id, { ask: 'todos' })),
    await time('is_stopped', count, standing),
    await time('write_file, committed', count, write),
    await time('todos, resident, first after a change', count, () => ask('todos'), {
      before: write,
    }),
    await time('files, resident, first after a change', count, () => ask('files'), {
      before: write,
    }),
    await time('is_stopped, first after a change', count, standing, { before: write }),
    await time('a hop to the step thread and back', count, () => service.steps.nextWake(0)),
    await time('export', Math.min(count, 100), () => service.export(OWNER, id, 'json', 'keep')),
    await forkBulk(service, id),
  ]
}

async function forkBulk(service: Service, id: string): Promise<Timing> {
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const began = performance.now()
    const forks = await service.fork(OWNER, id, { count: 150 })
    times.push(((performance.now() - began) * 1_000) / 150)
    for (const fork of forks) await service.terminate(OWNER, fork.id)
  }
  return summed('fork, an agent of 150 in bulk', times)
}

interface RvAgent {
  get_todos(): unknown
  is_stopped(): boolean
}

async function besideRvAgent(count: number): Promise<Timing[]> {
  const { initSync, WasmAgent } = await import('@ruvector/rvagent-wasm')
  const file = import.meta.resolve('@ruvector/rvagent-wasm/rvagent_wasm_bg.wasm')
  initSync({ module: readFileSync(fileURLToPath(file)) })
  const make = (): RvAgent => new WasmAgent('{"model":"test"}') as unknown as RvAgent
  const agent = make()
  return [
    await time('rvagent-wasm in process: create (shared memory)', count, make),
    await time('rvagent-wasm in process: todos', count, () => agent.get_todos()),
    await time('rvagent-wasm in process: is_stopped', count, () => agent.is_stopped()),
  ]
}

/** The cost of a write and of a query, independent of the history of an agent. */
async function flat(service: Service): Promise<Timing[]> {
  const rows: Timing[] = []
  for (const megabytes of [0, 1, 8]) {
    const files = Object.fromEntries(
      Array.from({ length: megabytes }, (_, at) => [`big${at}`, 'x'.repeat(1_000_000)]),
    )
    const { id } = await service.create(OWNER, { model: 'script:x', files })
    const touch = (at: number) =>
      service.callTool(OWNER, id, 'write_todos', { todos: [`todo ${at}`] })
    rows.push(await time(`a todo write with ${megabytes} MB of files`, 60, touch))
    rows.push(
      await time(`todos with ${megabytes} MB of files`, 60, () =>
        service.ask(OWNER, id, { ask: 'todos' }),
      ),
    )
  }
  const fresh = () => service.create(OWNER, { model: 'script:x', maxTurns: 5_000 })
  const made = await Promise.all(Array.from({ length: 50 + WARM }, fresh))
  const nameOf = (at: number) => made[at]?.id ?? ''
  const first = (at: number) => oneTurn(service, nameOf(at), 0)
  // Waking an agent is not part of a turn.
  const wake = (at: number) => service.callTool(OWNER, nameOf(at), 'write_todos', { todos: [] })
  rows.push(await time("a turn's two steps, turn 1", 50, first, { before: wake, warm: WARM }))
  const { id } = await fresh()
  let turn = 0
  for (const until of [100, 1_000]) {
    const times: number[] = []
    while (turn < until) {
      const began = performance.now()
      await oneTurn(service, id, turn)
      turn += 1
      times.push((performance.now() - began) * 1_000)
    }
    rows.push(summed(`a turn's two steps, around turn ${until}`, times.slice(-50)))
  }
  return rows
}

/** A prompt and its answer, without a model: the cost of a turn except for the model. */
async function oneTurn(service: Service, id: string, turn: number): Promise<void> {
  const runId = `run_bench_${String(turn).padStart(6, '0')}`
  const prompt = {
    kind: 'prompt',
    at: Date.now(),
    runId,
    input: 'x'.repeat(200),
    maxTurns: null,
  } as const
  const { step } = await service.steps.apply(OWNER, id, prompt)
  await service.steps.apply(OWNER, id, {
    kind: 'model',
    at: Date.now(),
    effectId: step.effects[0]?.id ?? '',
    text: 'y'.repeat(500),
    toolCalls: [],
    usage: { inputTokens: 10, outputTokens: 10 },
  })
}

/** Agents that have worked 15 turns with 20 files, on disk, in a separate process. */
async function many(
  base: string,
  models: ModelSettings,
  agents: number,
  remarks: string[],
): Promise<Timing[]> {
  const directory = join(base, `many-${agents}`)
  await fillStore(directory, models, OWNER, agents)
  const child = join(import.meta.dirname, 'agents/at-rest.ts')
  const args = [child, directory, OWNER, String(agents)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { rows, rssMb, startMs } = JSON.parse(stdout) as AtRest
  const megabytes = statSync(join(directory, 'agents.db')).size / 1_048_576
  remarks.push(
    `${agents} agents at rest: RSS ${rssMb} MB, start ${Math.round(startMs)} ms, ` +
      `${Math.round(megabytes)} MB on disk`,
  )
  rmSync(directory, { recursive: true, force: true })
  return [...rows]
}

async function runsAtOnce(service: Service, runs: number, remarks: string[]): Promise<Timing[]> {
  const agents = await Promise.all(
    Array.from({ length: runs }, () =>
      service.create(OWNER, { model: 'script:long', maxTurns: 100 }),
    ),
  )
  const cpu = process.cpuUsage()
  const began = performance.now()
  const times = await Promise.all(
    agents.map(async ({ id }) => {
      const start = performance.now()
      await service.prompt(OWNER, id, { input: 'go', waitMs: 600_000 })
      return (performance.now() - start) * 1_000
    }),
  )
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  remarks.push(
    `${runs} runs of 31 turns at once: ${Math.round((runs * 60_000) / ms)} runs a minute, ` +
      `${Math.round((user + system) / (runs * 31))} µs of CPU a turn`,
  )
  return [summed(`a run of 31 turns, ${runs} at once`, times)]
}
