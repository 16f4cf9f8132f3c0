// Labels of agents inside a gate: whatever way an agent takes through `agents`, what it has seen comes
// along. One gate, a real server behind it, programs of agents as the attackers.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import {
  endGates,
  fixture,
  type RunningGate,
  type ServingGate,
  startGate,
} from '../support/start-gate.ts'

const LONG = { timeout: 120_000 }
const POLICY = `
version: 1
default: allow
labels: { office/read_file: [private], office/get_slow: [private] }
guardrails:
  - name: private data stays in
    match: { tools: [office/send_mail] }
    when: session.saw.private
    action: deny
    reason: it has read private data
`
const servers = {
  agents: { builtin: 'agents' as const },
  office: fixture('office', './office.log'),
}
let gate: ServingGate

beforeAll(async () => {
  gate = await startGate({ servers, policy: POLICY })
}, 120_000)
afterAll(endGates)

/** It sees all agents of its owner, which is where labels have the longest way. */
async function create(client: PlainClient, ...tools: string[]): Promise<string> {
  const given = { model: 'script:none', tools, sees: 'owner' }
  return (await client.value('wasm_agent_create', given)).agent.id
}

/** What the program returned, or why it failed. */
async function program(client: PlainClient, agentId: string, code: string) {
  const input = { agentId, toolName: 'run_code', toolInput: { code } }
  const { output } = await client.value('wasm_agent_tool', input)
  return JSON.parse(output).result ?? output
}

const SEND = `tools.office.send_mail({ to: 'x' }).then(() => 'sent', String)`
const sendBy = (id: string) =>
  `(await tools.agents.wasm_agent_tool({ agentId: ${id}, toolName: 'office__send_mail', toolInput: { to: 'x' } })).output`
const DENIED = /it has read private data/

function sentMails(): number {
  return recordsOf(gate).filter((each) => each.kind === 'intent' && each.name === 'send_mail')
    .length
}

test('H2: no way through `agents` takes the labels off', LONG, async () => {
  const client = await PlainClient.open(gate, 'agents')
  const spy = await create(client, 'agents/*', 'office/*')
  const sibling = await create(client, 'office/*')
  const prompted = await create(client, 'office/*')
  const [reader, listing, written] = [
    await create(client, 'agents/*', 'office/*'),
    await create(client, 'agents/*', 'office/*'),
    await create(client, 'agents/*', 'office/*'),
  ]
  const first = await client.value('wasm_agent_tool', {
    agentId: sibling,
    toolName: 'office__send_mail',
    toolInput: { to: 'x' },
  })
  expect(first.output).toContain('send_mail')
  expect(sentMails()).toBe(1)

  const ways = await program(
    client,
    spy,
    `
    const me = ${JSON.stringify(spy)}
    await tools.office.read_file({ path: 'x' })
    const said = { itself: await ${SEND} }
    const exported = await tools.agents.wasm_agent_export({ agentId: me })
    const copy = (await tools.agents.wasm_agent_import({ bundle: exported })).agent.id
    said.copy = ${sendBy('copy')}
    const child = (await tools.agents.wasm_agent_create({ model: 'script:none', tools: ['office/*'] })).agent.id
    said.child = ${sendBy('child')}
    const fork = (await tools.agents.wasm_agent_fork({ agentId: me })).agents[0].id
    said.fork = ${sendBy('fork')}
    said.sibling = ${sendBy(JSON.stringify(sibling))}
    await tools.agents.wasm_agent_prompt({ agentId: ${JSON.stringify(prompted)}, input: 'PRIVATE', waitMs: 0 }).catch(() => {})
    await tools.agents.wasm_agent_stop({ agentId: ${JSON.stringify(written)}, reason: 'PRIVATE' })
    await tools.agents.wasm_gallery_add_custom({ template: { id: 'mine', name: 'Mine', instructions: 'PRIVATE' } })
    return said`,
  )
  expect(Object.keys(ways)).toEqual(['itself', 'copy', 'child', 'fork', 'sibling'])
  for (const text of Object.values(ways)) expect(text).toMatch(DENIED)

  // Others of the owner that were clean read what it left behind.
  expect(
    await program(client, reader, `await tools.agents.wasm_gallery_export({}); return ${SEND}`),
  ).toMatch(DENIED)
  expect(
    await program(client, listing, `await tools.agents.wasm_agent_list({}); return ${SEND}`),
  ).toMatch(DENIED)
  const seen = labelsOf()
  for (const id of [spy, sibling, prompted, reader, listing, written])
    expect(seen.get(id)).toEqual(['private'])
  expect(sentMails()).toBe(1)
})

test('H2: a client is told labels with what it reads, and brings its own along', LONG, async () => {
  const clean = await PlainClient.open(gate, '')
  const model = 'script:none'
  const made = await clean.value('agents__wasm_agent_create', { model, tools: ['office/*'] })
  const agentId = made.agent.id
  const mail = { agentId, toolName: 'office__send_mail', toolInput: { to: 'x' } }
  expect((await clean.value('agents__wasm_agent_tool', mail)).success).toBe(true)
  await clean.call('office__read_file', { path: 'x' })
  expect((await clean.value('agents__wasm_agent_tool', mail)).output).toMatch(DENIED)
  const reading = await PlainClient.open(gate, '')
  const send = async () => (await reading.call('office__send_mail', { to: 'x' })).text
  expect(await send()).not.toMatch(DENIED)
  await reading.call('agents__wasm_agent_todos', { agentId })
  expect(await send()).toMatch(DENIED)
})

test(
  'H2: what a family has seen is known after a restart, however long it rested',
  LONG,
  async () => {
    const before = labelsOf()
    await (gate as RunningGate).kill()
    gate = await serveGate({ servers, policy: POLICY, folder: gate.folder })
    expect(labelsOf()).toEqual(before)
  },
)

test(
  'M4: from inside nobody raises a limit, resets a count or takes more tools',
  LONG,
  async () => {
    const client = await PlainClient.open(gate, 'agents')
    const { agent } = await client.value('wasm_agent_create', {
      model: 'script:none',
      tools: ['agents/*', 'office/write_note'],
      limits: { maxTurns: 10, maxToolCalls: 200 },
    })
    const result = await program(
      client,
      agent.id,
      `
    const me = { agentId: ${JSON.stringify(agent.id)} }
    const told = (call) => call.then((value) => 'done ' + JSON.stringify(value), String)
    const exported = await tools.agents.wasm_agent_export(me)
    const child = (await tools.agents.wasm_agent_create({ model: 'script:none', maxTurns: 1000 })).agent.id
    await tools.agents.wasm_agent_stop({ agentId: child })
    return [
      await told(tools.agents.wasm_agent_resume({ ...me, limits: { maxTurns: 1000 } })),
      await told(tools.agents.wasm_agent_resume({ ...me, limits: { maxToolCalls: null } })),
      await told(tools.agents.wasm_agent_resume({ agentId: child })),
      await told(tools.agents.wasm_agent_create({ model: 'script:none', tools: ['office/send_mail'] })),
      await told(tools.agents.wasm_agent_import({ bundle: exported, tools: ['office/send_mail'] })),
      await told(tools.agents.wasm_agent_resume({ ...me, limits: { noProgress: null } })),
      await told(tools.agents.wasm_agent_resume({ ...me, limits: { contextTokens: 1e9 } })),
    ]`,
    )
    expect(result[0]).toMatch(/`maxTurns` of its family is 10, 1000 was asked for/)
    expect(result[1]).toMatch(/`maxToolCalls` of its family is 200/)
    expect(result[2]).toMatch(/only its owner resumes it/)
    expect(result[3]).toMatch(/TOOL_UNKNOWN|gives no tool/)
    expect(result[4]).toMatch(/TOOL_UNKNOWN|gives no tool/)
    expect(result[5]).toMatch(/`noProgress` of its family is 3/)
    expect(result[6]).toMatch(/`contextTokens` of its family is 120000/)
  },
)

test('F11: what a tool says before its answer labels the family of the agent', LONG, async () => {
  // Callers of the other tests have seen private data, and bring it along.
  const own = await serveGate({ servers, policy: POLICY })
  const client = await PlainClient.open(own, 'agents')
  const agent = await create(client, 'agents/*', 'office/*')
  expect(await program(client, agent, `return ${SEND}`)).toBe('sent')
  // The answer to the second call comes after what the first one says, and the first has none yet. The program ends when
  // the first has ended, too.
  const result = await program(
    client,
    agent,
    `
    void tools.office.get_slow({ ms: 5000, aloud: true }).catch(() => {})
    await tools.office.write_note({ text: 'x' })
    return ${SEND}`,
  )
  expect(result).toMatch(DENIED)
  const child = `(await tools.agents.wasm_agent_create({ model: 'script:none', tools: ['office/*'] })).agent.id`
  expect(await program(client, agent, `return ${sendBy(child)}`)).toMatch(DENIED)
})

function labelsOf(): Map<string, string[]> {
  const database = new DatabaseSync(join(gate.data, 'agents.db'), { readOnly: true })
  const rows = database
    .prepare('SELECT id, labels FROM agents a JOIN families f ON f.family = a.family')
    .all()
  database.close()
  return new Map(rows.map(({ id, labels }) => [String(id), JSON.parse(String(labels))]))
}
