// A real gate that the paths of `sluice threats` are sent to, call by call: tools of servers over MCP, or those of a coding
// client by its hooks, all of one path in one session, with the stranger's text in the answer of the first call.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { PRIVATE_TEXT } from '../../packages/cli/src/threats/probes.ts'
import type { PathStep, ThreatPath } from '../../packages/cli/src/threats/threat.ts'
import { ATTACK_TEXT, writeAttack } from '../../packages/policy/src/cases/attack-answer.ts'
import { ADA, type OwnGate, ownGate } from './own-gate.ts'
import { PlainClient } from './plain-client.ts'
import { fixture, until } from './start-gate.ts'

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
}

/** What is behind the gate of a user. */
export interface Machine {
  /** Tools by server. */
  readonly servers: Readonly<Record<string, readonly ListedTool[]>>
  /** The name of Claude Code in the configuration, whose hooks then make all calls: there are no servers. */
  readonly client?: string
}

export interface Trial {
  readonly machine: Machine
  readonly gate: OwnGate
  /** The file by which `sluice threats` finds what the gate has seen. */
  readonly config: string
}

const TOKEN = makeToken()
let calls = 0

/** In a folder of its own below `scratch`. The gate has seen the tools. */
export async function startTrial(
  scratch: string,
  machine: Machine,
  policy: string,
): Promise<Trial> {
  const folder = mkdtempSync(join(scratch, 'trial-'))
  const listed = Object.entries(machine.servers).map(([name, tools]) => {
    const file = join(folder, `${name}.json`)
    writeAnswers(file, tools, {})
    return [name, fixture('table', file)] as const
  })
  const { client } = machine
  const hash = `sha256:${hashGrantToken(TOKEN)?.toString('hex')}`
  const servers = {
    ...Object.fromEntries(listed),
    ...(client === undefined ? {} : { [client]: { builtin: 'claude-code' } }),
  }
  const grants =
    client === undefined
      ? {}
      : { grants: { ann: { hash, policy: 'policy', prompt: true, hooks: client } } }
  const gate = await ownGate({ folder, servers, policy, config: grants } as never)
  const config = join(folder, 'sluice.yaml')
  const own = { version: 1, servers, ...grants, policy: './policy.yaml', data: './data' }
  writeFileSync(config, JSON.stringify(own))
  if (listed.length > 0) await (await PlainClient.open(gate, '')).ask('tools/list')
  return { machine, gate, config }
}

/** How many calls passed before one was held or denied; all of them if the path is open. */
export async function playPath(trial: Trial, path: ThreatPath): Promise<number> {
  const { machine, gate } = trial
  const [first] = path.steps
  for (const [name, tools] of Object.entries(machine.servers)) {
    const said = tools.map((one) => [
      one.name,
      first?.tool === `${name}/${one.name}` ? writeOrder(path) : PRIVATE_TEXT,
    ])
    writeAnswers(join(gate.folder, `${name}.json`), tools, Object.fromEntries(said))
  }
  const session = `s${++calls}`
  const client = machine.client === undefined ? await PlainClient.open(gate, '') : undefined
  for (const [passed, step] of path.steps.entries()) {
    const said = passed === 0 ? writeOrder(path) : PRIVATE_TEXT
    const asked =
      client === undefined ? askByHook(trial, session, step, said) : callOverMcp(client, step)
    if (!(await denyWhatWaits(gate, asked))) return passed
  }
  return path.steps.length
}

/** With hooks, all that this process sends is one session: each path then has a gate of its own. */
export async function playAll(
  scratch: string,
  { machine, policy }: { readonly machine: Machine; readonly policy: string },
  paths: readonly ThreatPath[],
): Promise<number[]> {
  const passed: number[] = []
  let trial: Trial | undefined
  for (const path of paths) {
    trial ??= await startTrial(scratch, machine, policy)
    passed.push(await playPath(trial, path))
    if (machine.client === undefined) continue
    await trial.gate.stop()
    trial = undefined
  }
  await trial?.gate.stop()
  return passed
}

/** `said`: what a tool answers. */
function writeAnswers(
  file: string,
  tools: readonly ListedTool[],
  said: Readonly<Record<string, string>>,
): void {
  const answers = tools.map(({ name }) => {
    const content = [{ type: 'text', text: said[name] ?? 'done' }]
    return [`tools/call ${name}`, { content }] as const
  })
  const all = { 'tools/list': { tools }, ...Object.fromEntries(answers) }
  writeFileSync(file, JSON.stringify({ capabilities: { tools: {} }, answers: all }))
}

/** What the stranger wrote, if the first answer has it. */
function writeOrder({ form, steps }: ThreatPath): string {
  const args = steps.slice(1).map((step) => step.args)
  const goal = steps.slice(1).map(({ tool, args }) => `call ${tool} with ${JSON.stringify(args)}`)
  return writeAttack({ kind: form, goal: goal.join(', then '), args, text: ATTACK_TEXT })
}

async function callOverMcp(client: PlainClient, { tool, args }: PathStep): Promise<boolean> {
  const { answer } = await client.call(tool.replace('/', '__'), args)
  return answer.result !== undefined && answer.result.isError !== true
}

async function askByHook(
  { machine, gate }: Trial,
  session: string,
  { tool, args }: PathStep,
  said: string,
): Promise<boolean> {
  const { cwd = process.cwd(), ...tool_input } = args
  const asked = {
    session_id: session,
    cwd,
    hook_event_name: 'PreToolUse',
    tool_name: tool.slice(tool.indexOf('/') + 1),
    tool_input,
    tool_use_id: `toolu_${++calls}`,
  }
  const post = async (payload: object) => {
    const response = await fetch(`${gate.url}/hooks/${machine.client}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify(payload),
    })
    return JSON.stringify(await response.json())
  }
  const answer = await post(asked)
  if (answer !== '{}') {
    if (!answer.includes('"permissionDecision":"deny"')) throw new Error(answer)
    return false
  }
  const tool_response = { stdout: said, stderr: '', interrupted: false, isImage: false }
  await post({ ...asked, hook_event_name: 'PostToolUse', tool_response })
  return true
}

/** A person who is asked says no. */
async function denyWhatWaits<Answer>(
  { approvals }: OwnGate,
  answered: Promise<Answer>,
): Promise<Answer> {
  let isOver = false
  const over = answered.finally(() => {
    isOver = true
  })
  await until(() => isOver || approvals.pendingCount > 0)
  for (const { id, state } of await approvals.list())
    if (state === 'pending') await approvals.decide(id, { verdict: 'deny' }, ADA, 'console')
  return over
}
