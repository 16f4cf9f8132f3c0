// `sluice agents acp` as a process beside a real gate, spoken to by the client of the protocol's own SDK. Every line
// that it writes fits the published schema. What a client would not send is written as raw lines.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { methods, type NewSessionResponse } from '@agentclientprotocol/sdk'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  callsOf,
  checkLine,
  endEditors,
  FOLDER,
  startAcp,
  textOf,
  withEditor,
} from '../support/acp-editor.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import {
  endGates,
  fixture,
  type RunningGate,
  startGate,
  until,
  writeScript,
} from '../support/start-gate.ts'

const TIMEOUT_MS = 120_000
const POLICY = `
version: 1
default: allow
tools:
  office/write_note: { action: require_approval, approval: { wait: 1s } }
  office/delete_all: { action: deny, reason: nothing is deleted }
`
const TURNS = [
  {
    text: 'I plan.',
    toolCalls: [
      { name: 'write_todos', input: { todos: [{ content: 'note it', status: 'in_progress' }] } },
      { name: 'write_file', input: { path: 'a.txt', content: 'one' } },
    ],
  },
  { toolCalls: [{ name: 'office__delete_all', input: {} }] },
  { toolCalls: [{ name: 'office__write_note', input: { text: 'hello' } }] },
  { text: 'All is noted.' },
]
let gate: RunningGate

beforeAll(async () => {
  const servers = {
    agents: { builtin: 'agents' as const },
    office: fixture('office', './office.log'),
  }
  gate = await startGate({ servers, policy: POLICY })
  await atTerminal(gate.data)
  writeScript(gate.data, 'story', TURNS)
  writeScript(gate.data, 'slow', [{ text: 'late', delayMs: 60_000 }])
  writeScript(gate.data, 'short', [{ text: 'hello there' }])
}, TIMEOUT_MS)
afterEach(endEditors)
afterAll(endGates)

const STORY = ['write_todos completed', 'write_file completed', 'office/delete_all in_progress']

test('a held call outlives the editor, and the session is loaded whole', {
  timeout: TIMEOUT_MS,
}, async () => {
  const options = ['--model', 'script:story', '--tools', 'office/*']
  const sessionId = await withEditor(gate.data, options, async ({ agent, updates, child }) => {
    const session = await agent.request<NewSessionResponse>(methods.agent.session.new, FOLDER)
    const prompt = [{ type: 'text', text: 'note it' } as const]
    const { sessionId: id } = session
    agent.request(methods.agent.session.prompt, { sessionId: id, prompt }).catch(() => undefined)
    await until(() => callsOf(updates).includes('pending'))
    expect(textOf(updates, 'agent_message_chunk')).toBe('I plan.')
    const live = [...STORY, 'failed', 'office/write_note in_progress', 'pending']
    expect(callsOf(updates)).toEqual(live)
    expect(updates.find(({ sessionUpdate }) => sessionUpdate === 'plan')?.entries).toEqual([
      { content: 'note it', priority: 'medium', status: 'in_progress' },
    ])
    child.kill('SIGKILL')
    return id
  })
  const at = ['--data', gate.data]
  const { stdout } = await sluice(['approvals', 'list', '--json', ...at])
  const [request] = JSON.parse(stdout).requests
  expect(request).toMatchObject({ agent: sessionId, server: 'office' })
  const approved = await sluice(['approvals', 'approve', request.id, ...at])
  expect(approved).toMatchObject({ code: 0 })

  await withEditor(gate.data, [], async ({ agent, updates }) => {
    const { sessions } = await agent.request(methods.agent.session.list, {})
    expect(sessions.map((each) => each.sessionId)).toContain(sessionId)
    const isDone = async () => {
      updates.length = 0
      await agent.request(methods.agent.session.load, { ...FOLDER, sessionId })
      return textOf(updates, 'agent_message_chunk') === 'I plan.|All is noted.'
    }
    await until(isDone)
    expect(textOf(updates, 'user_message_chunk')).toBe('note it')
    expect(callsOf(updates)).toEqual([
      ...STORY,
      'failed',
      'office/write_note in_progress',
      'pending',
      'completed',
    ])
  })
})

test('a cancelled prompt says so, and only one runs at a time', {
  timeout: TIMEOUT_MS,
}, async () => {
  await withEditor(gate.data, ['--model', 'script:slow'], async ({ agent, lines }) => {
    const { sessionId } = await agent.request<NewSessionResponse>(methods.agent.session.new, FOLDER)
    const prompt = [{ type: 'text', text: 'go' } as const]
    const running = agent.request(methods.agent.session.prompt, { sessionId, prompt })
    const second = agent.request(methods.agent.session.prompt, { sessionId, prompt })
    await expect(second).rejects.toMatchObject({ code: -32600 })
    const mcp = await PlainClient.open(gate, 'agents')
    const states = async () => JSON.stringify(await mcp.value('wasm_agent_list', {}))
    await until(async () => (await states()).includes('"state":"running"'))
    await agent.notify(methods.agent.session.cancel, { sessionId })
    expect(await running).toEqual({ stopReason: 'cancelled' })
    expect(lines.join('')).not.toContain('late')
    await until(async () => !(await states()).includes('"state":"running"'), 20_000)
  })
})

test('what the editor adds is named, and a skill is read by the agent', {
  timeout: TIMEOUT_MS,
}, async () => {
  const folder = join(gate.folder, 'release-notes')
  mkdirSync(join(folder, 'data'), { recursive: true })
  const head = '---\nname: release-notes\ndescription: write release notes\n---\n'
  writeFileSync(join(folder, 'SKILL.md'), `${head}List the changes.\n`)
  writeFileSync(join(folder, 'data/style.txt'), 'short')
  const options = ['--model', 'script:short', '--skill', folder]
  await withEditor(gate.data, options, async ({ agent, updates }) => {
    const mcpServers = [{ name: 'fs', command: '/bin/true', args: [], env: [] }]
    const { sessionId } = await agent.request<NewSessionResponse>(methods.agent.session.new, {
      cwd: '/',
      mcpServers,
    })
    const resource = { uri: 'file:///x', text: 'of the editor' }
    const prompt = [
      { type: 'text', text: 'sum up' } as const,
      { type: 'resource', resource } as const,
    ]
    const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt })
    expect(answer).toEqual({ stopReason: 'end_turn' })
    const text = textOf(updates, 'agent_message_chunk')
    expect(text).toContain("The editor's MCP servers are not used (`fs`)")
    expect(text).toContain('hello there')
    const client = await PlainClient.open(gate, 'agents')
    const { files } = await client.value('wasm_agent_files', { agentId: sessionId })
    const paths = files.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(['skills/release-notes/SKILL.md', 'skills/release-notes/data/style.txt'])
    const { state } = await client.value('wasm_agent_state', { agentId: sessionId })
    expect(state.config.instructions).toBe(
      'Skill `release-notes`: write release notes. Read skills/release-notes/SKILL.md first.',
    )
  })
})

test('bad lines are answered with the code and a sentence', { timeout: TIMEOUT_MS }, async () => {
  const child = startAcp(gate.data, '--model', 'script:short')
  const answers: { id: number; error?: { code: number; message: string } }[] = []
  createInterface({ input: child.stdout as Readable }).on('line', (line) => {
    checkLine(line)
    answers.push(JSON.parse(line))
  })
  const ask = (id: number, method: string, params: object) =>
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  child.stdin?.write('{"jsonrpc": \n')
  ask(1, 'session/fork', {})
  ask(2, 'session/prompt', { prompt: [] })
  ask(3, 'session/prompt', { sessionId: 'agent_none', prompt: [] })
  ask(4, 'session/prompt', { sessionId: 'agent_none', prompt: [{ type: 'text', text: 'hi' }] })
  ask(5, 'session/load', { sessionId: 'agent_none', cwd: '/', mcpServers: [] })
  await until(() => answers.length === 6)
  const told = new Map(answers.map(({ id, error }) => [id, `${error?.code} ${error?.message}`]))
  expect(Object.fromEntries(told)).toEqual({
    null: '-32700 not a JSON object',
    1: '-32601 there is no method `session/fork`',
    2: '-32602 `sessionId` is missing',
    3: '-32602 the prompt is empty',
    4: '-32602 there is no agent `agent_none` (AGENT_NOT_FOUND)',
    5: '-32602 there is no agent `agent_none` (AGENT_NOT_FOUND)',
  })
})
