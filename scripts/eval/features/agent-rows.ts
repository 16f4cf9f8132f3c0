// Rows of `npm run eval -- features` about the agents, over MCP as a client of Claude Flow would use them.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PlainClient } from '../../../test/support/plain-client.ts'
import { fixture, startGate } from '../../../test/support/start-gate.ts'
import { agent, callText, type Place, tools, writeScript } from './place.ts'

/** Creates the agent that the next rows look at. */
export async function todos(place: Place): Promise<boolean> {
  const config = { model: 'script:story', tools: ['up/write'] }
  const created = JSON.parse(await callText(place.agents, 'wasm_agent_create', config))
  place.made.id = created.agent.id
  await agent(place, 'prompt', { input: 'go' })
  return (await agent(place, 'todos')).todos.length === 2
}

/** False while it may go on, true at once when its turns are used up. */
export async function isStopped(place: Place): Promise<boolean> {
  const { agents } = place
  const { isStopped: before } = await agent(place, 'is_stopped')
  const config = { model: 'script:story', maxTurns: 1 }
  const { agent: made } = JSON.parse(await callText(agents, 'wasm_agent_create', config))
  const own = { ...place, made }
  await agent(own, 'prompt', { input: 'go' })
  return before === false && (await agent(own, 'is_stopped')).isStopped === true
}

export async function exported(place: Place): Promise<boolean> {
  const { todos: written, info, digest } = await agent(place, 'export')
  const fields = ['state', 'config', 'turnCount', 'fileCount', 'isStopped']
  return written.length === 2 && fields.every((field) => field in info) && digest !== undefined
}

/** The names, and the arguments that differed once; `--claude-flow` compares with the real package. */
export async function claudeFlowTools({ agents }: Place): Promise<boolean> {
  const names = (await tools(agents)).filter((name) => name.startsWith('wasm_'))
  const compose = { skills: ['a skill'], includePlugins: ['a plugin'] }
  const composed = await callText(agents, 'wasm_agent_compose', compose)
  const template = { id: 'own', name: 'Own', description: 'of Claude Flow', prompt: 'be brief' }
  const added = await callText(agents, 'wasm_gallery_add_custom', { template })
  return names.length >= 27 && !composed.includes('AGENT_INPUT') && !added.includes('AGENT_INPUT')
}

export async function modelLoop(place: Place): Promise<boolean> {
  return (await agent(place, 'wait')).response === 'done'
}

export async function programLimits(place: Place): Promise<boolean> {
  const program = (code: string) => ({ toolName: 'run_code', toolInput: { code } })
  const endless = await agent(place, 'tool', program('for (;;) {}'))
  const large = await agent(
    place,
    'tool',
    program('const a = []; for (;;) a.push("x".repeat(1e5))'),
  )
  const outside = await agent(place, 'tool', program('return typeof process + typeof fetch'))
  const isAlone = JSON.stringify(outside).includes('undefinedundefined')
  return endless.success === false && large.success === false && isAlone
}

export async function samePolicy({ log }: Place): Promise<boolean> {
  return readFileSync(log, 'utf8').includes('"n":1')
}

const COUNT = 8

/** A gate that is killed in the middle of a run goes on with it, and makes no call twice. */
export async function survivesKill(): Promise<boolean> {
  const policy = 'version: 1\ndefault: allow\n'
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-features-')), 'up.log')
  const servers = { agents: { builtin: 'agents' as const }, up: fixture('counter', file) }
  let gate = await startGate({ servers, policy })
  const turns = Array.from({ length: COUNT }, (_, n) => ({
    toolCalls: [{ name: 'up__write', input: { n } }],
    delayMs: 100,
  }))
  writeScript(gate, 'long', [...turns, { text: 'all done' }])
  const client = await PlainClient.open(gate, 'agents')
  const config = { model: 'script:long', tools: ['up/write'] }
  const { agent: made } = JSON.parse(await callText(client, 'wasm_agent_create', config))
  const prompt = { agentId: made.id, input: 'go', waitMs: 0 }
  const { runId } = JSON.parse(await callText(client, 'wasm_agent_prompt', prompt))
  await sleep(350)
  await gate.kill()
  gate = await startGate({ servers, policy, folder: gate.folder })
  const after = await PlainClient.open(gate, 'agents')
  const wait = { agentId: made.id, runId }
  const { response } = JSON.parse(await callText(after, 'wasm_agent_wait', wait))
  const calls = readFileSync(file, 'utf8').trim().split('\n')
  rmSync(dirname(file), { recursive: true })
  // One may have been in flight: whether it was made is then the agent's question.
  return (
    response === 'all done' && new Set(calls).size === calls.length && calls.length >= COUNT - 1
  )
}

export async function pauseAndReplay(place: Place): Promise<boolean> {
  const made = { id: '' }
  const own = { ...place, made }
  const config = { model: 'script:story', tools: ['up/write'] }
  made.id = JSON.parse(await callText(place.agents, 'wasm_agent_create', config)).agent.id
  const { runId } = await agent(own, 'prompt', { input: 'go', waitMs: 0 })
  const { state } = await agent(own, 'pause')
  await sleep(1_000)
  const { turnCount } = await agent(own, 'turn_count')
  await agent(own, 'resume')
  const ended = await agent(own, 'wait', { runId })
  const { agents: forks } = await agent(own, 'fork', { at: 1 })
  const replayed = await agent(own, 'replay')
  const isHeld = state === 'paused' && turnCount <= 1
  return isHeld && ended.response === 'done' && forks.length === 1 && replayed.isSame === true
}

/** Two exports are the same to the byte, and what is imported from one is that agent. */
export async function exportTwice(place: Place): Promise<boolean> {
  const [one, two] = [await agent(place, 'export'), await agent(place, 'export')]
  const bundle = JSON.stringify(one)
  const brought = JSON.parse(await callText(place.agents, 'wasm_agent_import', { bundle }))
  const copy = await agent({ ...place, made: { id: brought.agent.id } }, 'export')
  const isSame =
    JSON.stringify(copy.agentState.messages) === JSON.stringify(one.agentState.messages)
  return bundle === JSON.stringify(two) && isSame
}
