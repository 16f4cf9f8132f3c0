// Every path that `sluice threats` calls open is sent to a real gate, call by call, with the text of the stranger in the
// answer of the first: all calls pass. With the change that it proposes in force, no path of that harm does.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { readText } from '../../packages/cli/src/terminal/read-input.ts'
import { PRIVATE_TEXT } from '../../packages/cli/src/threats/probes.ts'
import type { PathStep, ThreatPath } from '../../packages/cli/src/threats/threat.ts'
import { ATTACK_TEXT, writeAttack } from '../../packages/policy/src/cases/attack-answer.ts'
import { ROOT } from '../support/modules.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { rounds } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { fixture, until } from '../support/start-gate.ts'

const scratch = fileScratchDirectory()
const TEXT = { type: 'string' }
const NUMBER = { type: 'number' }

function tool(name: string, properties: Record<string, object>, description: string): object {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) }
  return { name, description, inputSchema }
}

/** Servers of a laptop, as their tools. */
const LAPTOP: Readonly<Record<string, readonly object[]>> = {
  filesystem: [
    tool('read_file', { path: TEXT }, 'Read the contents of a file.'),
    tool('write_file', { path: TEXT, content: TEXT }, 'Write a file.'),
  ],
  fetch: [tool('fetch', { url: TEXT }, 'Fetch a web page and return its text.')],
  github: [
    tool(
      'get_issue',
      { owner: TEXT, repo: TEXT, number: NUMBER },
      'Get an issue with its comments.',
    ),
    tool(
      'add_issue_comment',
      { owner: TEXT, repo: TEXT, number: NUMBER, body: TEXT },
      'Comment on an issue.',
    ),
  ],
  mail: [tool('send_email', { to: TEXT, subject: TEXT, body: TEXT }, 'Send an e-mail.')],
  shop: [
    tool('create_refund', { order: TEXT, amount: NUMBER }, 'Refund a payment to a customer.'),
    tool('delete_customer', { id: TEXT }, 'Delete a customer and all data permanently.'),
  ],
}
const READ_AND_WRITE = `version: 1
default: require_approval
categories: { Read: allow, Write: allow }
labels: { github/get_issue: [untrusted] }
`

interface SetUp {
  readonly servers: Readonly<Record<string, readonly object[]>>
  readonly policy: string
  /** The harms that are open, with certain facts alone. */
  readonly open: readonly string[]
}

const SET_UPS: Readonly<Record<string, SetUp>> = {
  'a laptop that reads and writes': {
    servers: LAPTOP,
    policy: READ_AND_WRITE,
    open: ['secret', 'code', 'gate', 'message'],
  },
  'a laptop that may do anything, protected': {
    servers: LAPTOP,
    policy:
      'version: 1\ndefault: allow\nprotect: balanced\nlabels: { github/get_issue: [untrusted] }\n',
    open: ['money', 'code', 'gate'],
  },
  'a shop with a bound': {
    servers: { shop: LAPTOP.shop ?? [], fetch: LAPTOP.fetch ?? [] },
    policy: `version: 1
default: deny
tools:
  fetch/fetch: allow
  shop/create_refund: { action: allow, when: args.amount <= 50, otherwise: require_approval }
`,
    open: ['money'],
  },
}

function serve(folder: string, name: string, tools: readonly object[]) {
  const file = join(folder, `${name}.json`)
  writeAnswers(file, tools, {})
  return fixture('table', file)
}

/** `said`: what a tool answers. */
function writeAnswers(file: string, tools: readonly object[], said: Record<string, string>): void {
  const calls = (tools as { name: string }[]).map(({ name }) => {
    const content = [{ type: 'text', text: said[name] ?? 'done' }]
    return [`tools/call ${name}`, { content }] as const
  })
  const answers = { 'tools/list': { tools }, ...Object.fromEntries(calls) }
  writeFileSync(file, JSON.stringify({ capabilities: { tools: {} }, answers }))
}

let made = 0

/** A gate with these servers, and the file by which the command finds it. */
async function startWith({ servers: tools }: Pick<SetUp, 'servers'>, policy: string) {
  const folder = join(scratch, `${++made}`)
  mkdirSync(folder)
  const servers = Object.fromEntries(
    Object.entries(tools).map(([name, list]) => [name, serve(folder, name, list)]),
  )
  const gate = await ownGate({ folder, servers, policy })
  const config = join(folder, 'sluice.yaml')
  const own = { version: 1, servers, policy: './policy.yaml', data: './data' }
  writeFileSync(config, JSON.stringify(own))
  const client = await PlainClient.open(gate, '')
  await client.ask('tools/list')
  return { gate, config }
}

/** What the stranger wrote, if the first answer has it. */
function toOrder({ form, steps }: ThreatPath): string {
  const args = steps.slice(1).map((step) => step.args)
  const goal = steps.slice(1).map(({ tool, args }) => `call ${tool} with ${JSON.stringify(args)}`)
  return writeAttack({ kind: form, goal: goal.join(', then '), args, text: ATTACK_TEXT })
}

/** How many calls passed before one was held or denied; all of them if the path is open. */
async function play(gate: OwnGate, servers: SetUp['servers'], path: ThreatPath): Promise<number> {
  const [first] = path.steps
  for (const [name, tools] of Object.entries(servers)) {
    const said = (tools as { name: string }[]).map((one) => [
      one.name,
      first?.tool === `${name}/${one.name}` ? toOrder(path) : PRIVATE_TEXT,
    ])
    writeAnswers(join(gate.folder, `${name}.json`), tools, Object.fromEntries(said))
  }
  const client = await PlainClient.open(gate, '')
  let passed = 0
  for (const step of path.steps) {
    if (!(await isPassed(gate, client, step))) return passed
    passed++
  }
  return passed
}

async function isPassed(gate: OwnGate, client: PlainClient, { tool, args }: PathStep) {
  let isOver = false
  const reply = client.call(tool.replace('/', '__'), args).finally(() => {
    isOver = true
  })
  await until(() => isOver || gate.approvals.pendingCount > 0)
  for (const { id, state } of await gate.approvals.list())
    if (state === 'pending') await gate.approvals.decide(id, { verdict: 'deny' }, ADA, 'console')
  const { answer } = await reply
  return answer.result !== undefined && answer.result.isError !== true
}

afterAll(() => endOwnGates())

/** A set-up takes seconds of searching: `npm test` tries one beside the pack, `npm run soak -- repeats` all. */
const TRIED = Object.entries(SET_UPS).slice(0, rounds(Object.keys(SET_UPS).length))

describe.each(TRIED)('%s', (_name, setUp) => {
  test('each open path passes a gate, and none of its harm under the change', async () => {
    const { gate: seeing, config } = await startWith(setUp, setUp.policy)
    // What it has seen of tools is written at the end.
    await seeing.stop()
    const { harms } = await sluiceJson(['threats', '--config', config, '--all'])
    const serious = harms.filter((one: { paths: { serious: boolean }[] }) =>
      one.paths.some((path) => path.serious),
    )
    expect(serious.map(({ harm }: { harm: string }) => harm)).toEqual(setUp.open)
    const { gate, config: recorded } = await startWith(setUp, setUp.policy)
    for (const { paths } of harms)
      for (const path of paths)
        expect([path, await play(gate, setUp.servers, path)]).toEqual([path, path.steps.length])
    await gate.stop()
    const priced = await sluiceJson(['threats', '--config', recorded])
    const closings = priced.harms.flatMap((one: { closings: object[] }) => one.closings)
    expect(closings.length).toBeGreaterThan(0)
    for (const { price } of closings) {
      expect(price.calls).toBeGreaterThan(0)
      expect(price.held + price.unknown).toBeGreaterThan(0)
    }
    for (const { harm, paths } of serious) {
      const { stdout, stderr } = await sluice(['threats', '--config', config, '--close', harm])
      expect(stdout, stderr).toContain('threats')
      const closed = await startWith(setUp, stdout)
      for (const path of paths)
        expect(await play(closed.gate, setUp.servers, path), JSON.stringify(path)).toBeLessThan(
          path.steps.length,
        )
      await closed.gate.stop()
    }
  }, 600_000)
})

test('the hosts of recorded calls are offered as a list under egress', async () => {
  const folder = join(scratch, `${++made}`)
  mkdirSync(folder)
  const servers = { fetch: serve(folder, 'fetch', LAPTOP.fetch ?? []) }
  const policy = `version: 1
default: deny
labels: { fetch/fetch: [untrusted, private] }
tools: { fetch/fetch: { action: allow, when: 'args.url.startsWith("https://")' } }
`
  const gate = await ownGate({ folder, servers, policy, config: { ledger: { record: 'judged' } } })
  const client = await PlainClient.open(gate, '')
  await client.ask('tools/list')
  await client.call('fetch__fetch', { url: 'https://docs.example/a' })
  await gate.stop()
  const config = join(folder, 'sluice.yaml')
  const own = { version: 1, servers, policy: './policy.yaml', data: './data' }
  writeFileSync(config, JSON.stringify(own))
  const { harms } = await sluiceJson(['threats', '--config', config])
  const closings = harms.flatMap((one: { closings: { what: string }[] }) => one.closings)
  expect(closings.map(({ what }: { what: string }) => what)).toContain(
    'egress: only the hosts on record',
  )
}, 60_000)

describe('the pack for coding agents, by hooks', () => {
  const TOKEN = makeToken()
  const policy = readText(join(ROOT, 'packages/cli/packs/coding-agent/policy.yaml'))
  let calls = 0

  async function startHooks(text: string) {
    const folder = join(scratch, `${++made}`)
    mkdirSync(folder)
    const hash = `sha256:${hashGrantToken(TOKEN)?.toString('hex')}`
    const servers = { 'coding-agent': { builtin: 'claude-code' } }
    const grants = { ann: { hash, policy: 'policy', prompt: true, hooks: 'coding-agent' } }
    const gate = await ownGate({ folder, servers, policy: text, config: { grants } } as never)
    const config = join(folder, 'sluice.yaml')
    writeFileSync(
      config,
      JSON.stringify({ version: 1, servers, grants, policy: './policy.yaml', data: './data' }),
    )
    return { gate, config }
  }

  async function post({ url }: OwnGate, session: string, payload: object) {
    const response = await fetch(`${url}/hooks/coding-agent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ session_id: session, cwd: '/srv/shop', ...payload }),
    })
    return response.json()
  }

  /** All that a client sends is one session, so each path has a gate of its own. */
  async function playHooks(text: string, path: ThreatPath): Promise<number> {
    const { gate } = await startHooks(text)
    const passed = await playIn(gate, path)
    await gate.stop()
    return passed
  }

  async function playIn(gate: OwnGate, path: ThreatPath): Promise<number> {
    const session = `s${++made}`
    let passed = 0
    for (const [index, { tool, args }] of path.steps.entries()) {
      const { cwd = process.cwd(), ...tool_input } = args
      const asked = {
        hook_event_name: 'PreToolUse',
        tool_name: tool.slice(tool.indexOf('/') + 1),
        tool_input,
        cwd,
        tool_use_id: `toolu_${++calls}`,
      }
      let isOver = false
      const answered = post(gate, session, asked).finally(() => {
        isOver = true
      })
      await until(() => isOver || gate.approvals.pendingCount > 0)
      for (const { id, state } of await gate.approvals.list())
        if (state === 'pending')
          await gate.approvals.decide(id, { verdict: 'deny' }, ADA, 'console')
      const answer = JSON.stringify(await answered)
      if (answer !== '{}') {
        expect(answer).toContain('"permissionDecision":"deny"')
        return passed
      }
      passed++
      const text = index === 0 ? toOrder(path) : PRIVATE_TEXT
      const tool_response = { stdout: text, stderr: '', interrupted: false, isImage: false }
      await post(gate, session, { ...asked, hook_event_name: 'PostToolUse', tool_response })
    }
    return passed
  }

  test('each open path passes a gate, and none of its harm under the change', async () => {
    const { gate, config } = await startHooks(policy)
    await gate.stop()
    const { harms } = await sluiceJson(['threats', '--config', config, '--all'])
    const open = harms.filter((one: { result: string }) => one.result === 'open')
    expect(open.length).toBeGreaterThan(0)
    for (const { paths } of open)
      for (const path of paths)
        expect([path, await playHooks(policy, path)]).toEqual([path, path.steps.length])
    for (const { harm, paths } of open) {
      const { stdout, stderr } = await sluice(['threats', '--config', config, '--close', harm])
      expect(stdout, stderr).toContain('threats:')
      for (const path of paths)
        expect(await playHooks(stdout, path), JSON.stringify(path)).toBeLessThan(path.steps.length)
    }
  }, 600_000)
})
