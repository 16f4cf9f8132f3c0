// `npm run eval -- claude-flow [--folder DIR]`: the gate in front of a large server that is not
// among the dev dependencies, as it takes 1.5 GB: installs `claude-flow` from the registry, into
// DIR or a temporary folder, starts it behind the gate with the rules of the policy page on its
// `wasm_agent_*` tools, and shows what is listed, allowed, limited and denied. Then it is used together
// with the built-in agents under one name, and the same operations are sent to its agents and to ours.
// Exits with 1 if a result differs from the expected one.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { listDirectly, listGated } from '../../test/support/list-tools.ts'
import { PlainClient } from '../../test/support/plain-client.ts'
import { endGates, type RunningGate, startGate } from '../../test/support/start-gate.ts'
import type { RunOptions } from '../dispatch.ts'
import { installClaudeFlow } from '../install-claude-flow.ts'
import { compareOperations, StdioServer } from './claude-flow/compare.ts'

const POLICY = `
version: 1
default: deny
categories:
  Read: allow
  Write: { action: allow, rate_limit: { max: 30, window: 60 } }
  Destructive: deny
tools:
  claude-flow/wasm_agent_create: allow
  claude-flow/wasm_agent_todos: allow
  claude-flow/wasm_agent_export:
    action: allow
    rate_limit: { max: 10, window: 60 }
  claude-flow/wasm_agent_terminate:
    action: deny
    reason: agents are ended by the person who owns them
  claude-flow/wasm_gallery_*: hide
`

type Command = { command: string[]; cwd: string; env: Record<string, string> }

const nameOf = (text: string): string => JSON.parse(text).name

export async function run(options: RunOptions): Promise<number> {
  const chosen = typeof options.folder === 'string' ? resolve(options.folder) : undefined
  const folder = chosen ?? mkdtempSync(join(tmpdir(), 'sluice-claude-flow-'))
  try {
    const command = installClaudeFlow(folder)
    const server = { command, cwd: folder, env: { HOME: folder } }
    const gate = await startGate({ servers: { 'claude-flow': server }, policy: POLICY })
    const failed = [
      ...(await compareLists(gate, server)),
      ...(await tryCalls(gate)),
      ...(await tryOneName(server)),
      ...(await compareAgents(command, folder)),
    ]
    for (const each of failed) console.log(`NOT SO: ${each}`)
    return failed.length === 0 ? 0 : 1
  } finally {
    await endGates()
    if (chosen === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** Prints a row for each operation; what differs without a reason is a failure. */
async function compareAgents(command: readonly string[], folder: string): Promise<string[]> {
  const cli = join(import.meta.dirname, '../../packages/cli/bin/sluice.js')
  const data = mkdtempSync(join(folder, 'agents-'))
  const theirs = new StdioServer(command, folder, folder)
  const ours = new StdioServer(
    [process.execPath, cli, 'agents', 'serve', '--data', data],
    folder,
    data,
  )
  try {
    await Promise.all([theirs.start(), ours.start()])
    const all = await compareOperations(theirs, ours)
    for (const { operation, meant, wrong } of all) {
      const verdict = wrong.length > 0 ? 'DIFFERS' : meant.length > 0 ? 'meant' : 'same'
      console.log(
        `${verdict.padEnd(8)} ${operation.name} ${JSON.stringify(operation.args).slice(0, 90)}`,
      )
      for (const { what, why } of meant) console.log(`           ${what}\n           why: ${why}`)
      for (const each of wrong) console.log(`           ${each}`)
    }
    const isSame = (each: (typeof all)[number]) => each.meant.length + each.wrong.length === 0
    const same = all.filter(isSame).length
    console.log(`${all.length} operations: ${same} the same, ${all.length - same} differ`)
    return all.flatMap(({ operation, wrong }) => wrong.map((each) => `${operation.name}: ${each}`))
  } finally {
    theirs.end()
    ours.end()
  }
}

async function compareLists(gate: RunningGate, server: Command): Promise<string[]> {
  const [direct, gated] = await Promise.all([listDirectly(server), listGated(gate, 'claude-flow')])
  const listed = gated.map(nameOf)
  console.log(`lists ${direct.length} tools, ${gated.length} through the gate; of wasm agents:`)
  for (const name of direct.map(nameOf).filter((name) => name.startsWith('wasm_')))
    console.log(`  ${listed.includes(name) ? 'listed' : 'hidden'}  ${name}`)
  return [
    ...gated.filter((text) => !direct.includes(text)).map((text) => `altered ${nameOf(text)}`),
    ...['todos', 'export', 'terminate']
      .map((word) => `wasm_agent_${word}`)
      .filter((name) => !listed.includes(name))
      .map((name) => `lost ${name}`),
    ...listed.filter((name) => name.startsWith('wasm_gallery_')).map((name) => `shown ${name}`),
  ]
}

/** Its server and the built-in agents under its name: one list, and calls that mix both. */
async function tryOneName(server: Command): Promise<string[]> {
  const both = { ...server, builtin: 'agents' as const }
  const gate = await startGate({ servers: { 'claude-flow': both } })
  const [direct, gated] = await Promise.all([listDirectly(server), listGated(gate, 'claude-flow')])
  const isAgents = (text: string) => nameOf(text).startsWith('wasm_')
  const [theirAgents, others] = [direct.filter(isAgents), direct.filter((each) => !isAgents(each))]
  const shown = gated.filter((each) => !isAgents(each))
  const ours = gated.filter(isAgents)
  console.log(
    `under one name: ${ours.length} tools of our agents, which include its ${theirAgents.length}, and ${shown.length} of its own`,
  )
  return [
    ...theirAgents
      .filter((each) => ours.filter((own) => nameOf(own) === nameOf(each)).length !== 1)
      .map((each) => `${nameOf(each)} is not listed once`),
    ...ours.filter((each) => direct.includes(each)).map((each) => `${nameOf(each)} is not ours`),
    ...(shown.join() === others.join() ? [] : ['its other tools are not listed as it lists them']),
    ...(await mixCalls(await PlainClient.open(gate, 'claude-flow'))),
  ]
}

async function mixCalls(client: PlainClient): Promise<string[]> {
  const failed: string[] = []
  const call = async (name: string, args: object, want: object) => {
    const value = await client.value(name, args)
    console.log(`${name} ${JSON.stringify(args)}\n  ${JSON.stringify(value).slice(0, 160)}`)
    if (!isDeepStrictEqual({ ...value, ...want }, value)) failed.push(`mixed: ${name}`)
    return value
  }
  const made = await call('wasm_agent_create', { instructions: 'be good' }, { success: true })
  const one = { agentId: String(made.agent?.id) }
  const entry = { key: 'agent', namespace: 'sluice' }
  const todos = [{ content: 'first', status: 'pending' }]
  await call('memory_store', { ...entry, value: one.agentId }, { success: true })
  const write = { ...one, toolName: 'write_todos', toolInput: { todos } }
  await call('wasm_agent_tool', write, { output: 'wrote 1 todos' })
  await call('memory_retrieve', entry, { value: one.agentId })
  const counts = { pending: 1, in_progress: 0, completed: 0, cancelled: 0 }
  await call('wasm_agent_todos', one, { ...one, counts })
  await call('wasm_agent_terminate', one, { success: true })
  await client.end()
  return failed
}

async function tryCalls(gate: RunningGate): Promise<string[]> {
  const client = await PlainClient.open(gate, 'claude-flow')
  const failed: string[] = []
  const call = async (name: string, args: object, want: RegExp): Promise<string> => {
    const { answer } = await client.call(name, args)
    const text: string = answer.error?.message ?? answer.result.content[0].text
    const line = text.replaceAll(/[\s\\]+/g, ' ').slice(0, 160)
    console.log(`${name} ${JSON.stringify(args)}\n  ${line}`)
    if (!want.test(text)) failed.push(`${name} says ${want}`)
    return text
  }
  const made = await call('wasm_agent_create', { template: 'coder' }, /agent/i)
  const agentId = /"(?:agentId|id)[\\":\s]+([\w-]+)/.exec(made)?.[1] ?? ''
  await call('wasm_agent_todos', { agentId }, /todo/i)
  for (let at = 0; at < 10; at++) await call('wasm_agent_export', { agentId }, /^(?!denied)/)
  await call('wasm_agent_export', { agentId }, /limit/i)
  await call('wasm_agent_terminate', { agentId }, /ended by the person who owns them/)
  await call('wasm_gallery_list', {}, /^Unknown tool: wasm_gallery_list$/)
  await client.end()
  return failed
}
