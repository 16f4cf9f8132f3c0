// What a gate of another version has been through when its data is stored as a fixture: calls that use half of their
// limits, approvals in every state, a session that has read private data, and an agent in the middle of a run.

import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askAgents } from '../support/cluster-in-full.ts'
import { ROOT } from '../support/modules.ts'
import { PIN, runAtTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { CLUSTER_KEY } from '../support/postgres.ts'
import {
  type GateSpec,
  NODE,
  type RunningGate,
  startGate,
  until,
  writeScript,
} from '../support/start-gate.ts'

export const FIXTURES = join(import.meta.dirname, 'fixtures')

/** Of `write` in a window; `WRITES_USED` of them are used, and so is half of the amount. */
export const WRITES_MAX = 10
export const WRITES_USED = 5
export const AMOUNT_MAX = 100
export const AMOUNT_USED = 60.5
/** Calls of the standing approval, beside the one that it was given for. */
export const STANDING_CALLS = 3
export const STANDING_USED = 1

const POLICY = `version: 1
default: allow
labels: { count/read: [private] }
tools:
  count/write: { action: allow, rate_limit: { max: ${WRITES_MAX}, window: 30d, per: everyone } }
  count/fail: { action: allow, spend_limit: { amount: args.amount, max: ${AMOUNT_MAX}, window: 30d, per: everyone } }
  count/slow: { action: require_approval, approval: { wait: 1s, timeout: 7d } }
guardrails:
  - name: private data stays in
    match: { tools: [count/write] }
    when: session.saw.private
    action: deny
    reason: it has read private data
`
const TURNS = [
  { toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'one' } }] },
  { toolCalls: [{ name: 'count__slow', input: { by: 'agent' } }] },
  { text: 'done' },
]

export const PENDING = { x: 'pending' }
export const APPROVED = { x: 'approved' }
export const STANDING = { x: 'standing', n: 1 }

/** What the test has to know of the gate that made the data; stored beside it. */
export interface Story {
  readonly madeAtMs: number
  /** Token of the session that has read private data. Undefined if the version has no such tokens. */
  readonly reader: string | undefined
  readonly agentId: string
  readonly runId: string
  /** The identifier of the approval request that nobody has decided. */
  readonly pending: string
}

/** The configuration is the same for the gate that makes the data and the one that goes on with it: a server whose entry
 * changed would be another one. */
export function storySpec(folder: string, store?: string): GateSpec {
  return {
    folder,
    servers: {
      agents: { builtin: 'agents' },
      count: { command: ['node', './counter.ts', './calls.log'] },
    },
    policy: POLICY,
    ...(store === undefined
      ? {}
      : { config: { store, cluster: { name: 'first', key: CLUSTER_KEY } } }),
  }
}

/** Runs a gate of the version whose command is `program` in `folder`, and leaves its data there. */
export async function makeStory(folder: string, program: string, store?: string): Promise<void> {
  copyFileSync(join(ROOT, 'test/servers/counter.ts'), join(folder, 'counter.ts'))
  const gate = await startGate({ ...storySpec(folder, store), program })
  try {
    const story = await tellStory(gate, program)
    writeFileSync(join(folder, 'story.json'), `${JSON.stringify(story, null, 2)}\n`)
  } finally {
    await gate.stop()
  }
}

async function tellStory(gate: RunningGate, program: string): Promise<Story> {
  const type = async (args: readonly string[], ...lines: string[]): Promise<void> => {
    const at = ['--data', gate.data]
    const { code, text } = await runAtTerminal([...args, ...at], lines, undefined, program)
    if (code !== 0) throw new Error(`${args.join(' ')}: ${text}`)
  }
  await type(['approvers', 'pin'], PIN, PIN)
  writeScript(gate.data, 'story', TURNS)
  const worker = await PlainClient.open(gate, 'count')
  for (let n = 1; n <= WRITES_USED; n++) expectPassed(await worker.call('write', { n }))
  expectPassed(await worker.call('fail', { amount: AMOUNT_USED }))
  const { stdout } = spawnSync(NODE, [program, 'sessions', 'token', '--data', gate.data])
  const token = stdout.toString().trim() || undefined
  const reader = await PlainClient.open(gate, readerAddress(token))
  expectPassed(await reader.call('read'))
  const ask = async (args: object): Promise<string> => findId(await worker.call('slow', args))
  await type(['approvals', 'approve', await ask(APPROVED)], PIN)
  const forAWhile = ['--for', '8h', '--bound', 'n>=1', '--calls', String(STANDING_CALLS)]
  await type(['approvals', 'approve', await ask(STANDING), ...forAWhile], PIN)
  for (let used = 0; used <= STANDING_USED; used++)
    expectPassed(await worker.call('slow', { ...STANDING, n: 1 + used }))
  const pending = await ask(PENDING)
  const begun = await beginAgent(gate)
  return {
    madeAtMs: Date.now(),
    reader: token,
    ...begun,
    pending,
  }
}

export function readerAddress(token: string | undefined): string {
  return token === undefined ? 'count' : `count?sluice_session=${token}`
}

/** Its run waits for an approval. */
async function beginAgent(gate: RunningGate) {
  const given = { model: 'script:story', tools: ['count/*'] }
  const { agent } = await askAgents(gate, 'wasm_agent_create', given)
  const prompt = { agentId: agent.id, input: 'go', waitMs: 0 }
  const { runId } = await askAgents(gate, 'wasm_agent_prompt', prompt)
  await until(async () => {
    const state = JSON.stringify(await askAgents(gate, 'wasm_agent_list', {}))
    return state.includes('"state":"waiting"')
  })
  return { agentId: agent.id as string, runId: runId as string }
}

function findId({ text }: { readonly text: string }): string {
  const [, id] = /"approvalId":"([^"]+)"/.exec(text) ?? []
  if (id === undefined) throw new Error(`no approval was requested: ${text}`)
  return id
}

function expectPassed({ text }: { readonly text: string }): void {
  if (text.includes('sluice/decision":{"decision":"deny')) throw new Error(`refused: ${text}`)
}
