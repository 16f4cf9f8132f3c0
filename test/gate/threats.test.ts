// Every path that `sluice threats` calls open is sent to a real gate, call by call, with the text of the stranger in the
// answer of the first: all calls pass. With the change that it proposes in force, no path of that harm does.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { suggestKnownPolicy } from '../../packages/cli/src/packs/known-fields.ts'
import { readText } from '../../packages/cli/src/terminal/read-input.ts'
import type { HarmResult, ThreatPath } from '../../packages/cli/src/threats/threat.ts'
import { findBubblewrap, nameBubblewrapSuite } from '../support/bubblewrap.ts'
import { ROOT } from '../support/modules.ts'
import { endOwnGates, ownGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { forms } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { fixture, installed } from '../support/start-gate.ts'
import { type ListedTool, type Machine, playAll, startTrial } from '../support/threat-trial.ts'

const scratch = fileScratchDirectory()
const TEXT = { type: 'string' }
const NUMBER = { type: 'number' }

function tool(name: string, properties: Record<string, object>, description: string): ListedTool {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) }
  return { name, description, inputSchema }
}

const FILES = [
  tool('read_file', { path: TEXT }, 'Read the contents of a file.'),
  tool('write_file', { path: TEXT, content: TEXT }, 'Write a file.'),
]
const FETCH = [tool('fetch', { url: TEXT }, 'Fetch a web page and return its text.')]
const SHOP = [
  tool('create_refund', { order: TEXT, amount: NUMBER }, 'Refund a payment to a customer.'),
  tool('delete_customer', { id: TEXT }, 'Delete a customer and all data permanently.'),
]
const MEMORY = [
  tool('read_graph', {}, 'Read the entire knowledge graph.'),
  tool('create_entities', { entities: { type: 'array', items: TEXT } }, 'Create new entities.'),
  tool('delete_entities', { entityNames: { type: 'array', items: TEXT } }, 'Delete entities.'),
]

/** Servers of a laptop. */
const LAPTOP: Machine['servers'] = {
  filesystem: FILES,
  fetch: FETCH,
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
  shop: SHOP,
}
const READ_AND_WRITE = `version: 1
default: require_approval
categories: { Read: allow, Write: allow }
labels: { github/get_issue: [untrusted] }
`

interface SetUp extends Machine {
  readonly policy: string
  /** The harms that a stranger's text can lead to, with certain facts alone. */
  readonly open: readonly string[]
}

const SET_UPS: Readonly<Record<string, SetUp>> = {
  'a shop with a bound': {
    servers: { shop: SHOP, fetch: FETCH },
    policy: `version: 1
default: deny
tools:
  fetch/fetch: allow
  shop/create_refund: { action: allow, when: args.amount <= 50, otherwise: require_approval }
`,
    open: ['money'],
  },
  'the policy of the page on hooks': {
    servers: {},
    client: 'claude-code',
    policy: readText(join(ROOT, 'scripts/eval/threats/policies/hooks-page.yaml')),
    open: ['code', 'gate'],
  },
  'the pack for coding agents': {
    servers: {},
    client: 'coding-agent',
    policy: readText(join(ROOT, 'packages/cli/packs/coding-agent/policy.yaml')),
    open: ['secret', 'code', 'gate'],
  },
  'a laptop that reads and writes': {
    servers: LAPTOP,
    policy: READ_AND_WRITE,
    open: ['secret', 'code', 'gate', 'message'],
  },
  'a laptop that may do anything, balanced': {
    servers: LAPTOP,
    policy: `version: 1
default: allow
protect: balanced
labels: { github/get_issue: [untrusted] }
`,
    open: ['money', 'code', 'gate'],
  },
  'the same, strict': {
    servers: LAPTOP,
    policy: `version: 1
default: allow
protect: strict
labels: { github/get_issue: [untrusted] }
`,
    open: ['money', 'code', 'gate'],
  },
  'a laptop under the policy that `scan` suggests': {
    servers: LAPTOP,
    policy: suggest(LAPTOP),
    open: ['code', 'gate'],
  },
  'the demo': {
    servers: { filesystem: FILES, memory: MEMORY },
    // All paths are played in one minute.
    policy: readText(join(ROOT, 'examples/demo/policy.yaml')).replace('max: 3,', 'max: 3000,'),
    open: [],
  },
  'the shop of the README': {
    servers: { shop: [tool('list_orders', {}, 'List orders.'), ...SHOP] },
    policy: `version: 1
default: deny
categories: { Read: allow, Destructive: require_approval }
tools:
  shop/create_refund:
    action: allow
    when: args.amount <= 5000
    otherwise: require_approval
    spend_limit: { amount: args.amount, max: 20000, window: 1d, per: principal }
`,
    open: [],
  },
}

function suggest(servers: Machine['servers']): string {
  const definitions = Object.entries(servers).flatMap(([server, tools]) =>
    tools.map((one) => ({ ...one, server })),
  )
  return suggestKnownPolicy(definitions as never).yaml
}

/** The project that all paths are in, wherever the tests are: a folder for temporary files has rules of its own. */
const PROJECT = '/srv/shop'

beforeEach(() => {
  vi.spyOn(process, 'cwd').mockReturnValue(PROJECT)
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(() => endOwnGates())

/** A set-up takes seconds of searching: `npm test` tries servers and a client, `npm run soak -- repeats` all. */
const TRIED = forms(Object.entries(SET_UPS), 2)

interface FoundHarm extends Omit<HarmResult, 'paths'> {
  readonly paths: readonly (ThreatPath & { readonly serious: boolean })[]
  readonly closings: readonly { readonly price: { calls: number; held: number; unknown: number } }[]
}

describe.each(TRIED)('%s', (_name, setUp) => {
  test('each open path passes a gate, and none of its harm under the change', async () => {
    const { policy } = setUp
    const { gate, config } = await startTrial(scratch, setUp, policy)
    // What it has seen of tools is written at the end.
    await gate.stop()
    const threats = ['threats', '--config', config]
    const found: { readonly harms: readonly FoundHarm[] } = await sluiceJson([...threats, '--all'])
    const open = found.harms.filter(({ result }) => result === 'open')
    const serious = open.filter(({ paths }) => paths.some((path) => path.serious))
    expect(serious.map(({ harm }) => harm)).toEqual(setUp.open)
    for (const { harm, paths } of open) {
      const passed = await playAll(scratch, { machine: setUp, policy }, paths)
      expect([harm, passed]).toEqual([harm, paths.map(({ steps }) => steps.length)])
      const { stdout, stderr } = await sluice([...threats, '--close', harm])
      expect(stdout, stderr).toContain('threats: ')
      const closed = await playAll(scratch, { machine: setUp, policy: stdout }, paths)
      for (const [index, path] of paths.entries())
        expect(closed[index], JSON.stringify(path)).toBeLessThan(path.steps.length)
    }
  }, 600_000)
})

test('a change has its price in recorded calls', async () => {
  const { servers, policy } = SET_UPS['a laptop that reads and writes'] as SetUp
  const { gate, config } = await startTrial(scratch, { servers }, policy)
  const client = await PlainClient.open(gate, '')
  await client.call('github__get_issue', { owner: 'us', repo: 'shop', number: 1 })
  await client.call('mail__send_email', { to: 'ann@shop.example', subject: 'x', body: 'y' })
  await gate.stop()
  const { harms }: { harms: readonly FoundHarm[] } = await sluiceJson([
    'threats',
    '--config',
    config,
  ])
  const closings = harms.flatMap((one) => one.closings)
  expect(closings.length).toBeGreaterThan(0)
  for (const { price } of closings) expect(price.calls).toBe(2)
  expect(closings.some(({ price }) => price.held + price.unknown > 0)).toBe(true)
}, 60_000)

test('the hosts of recorded calls are offered as a list under egress', async () => {
  const folder = join(scratch, 'hosts')
  mkdirSync(folder)
  const file = join(folder, 'fetch.json')
  const answers = { 'tools/list': { tools: FETCH }, 'tools/call fetch': { content: [] } }
  writeFileSync(file, JSON.stringify({ capabilities: { tools: {} }, answers }))
  const servers = { fetch: fixture('table', file) }
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

const BWRAP = findBubblewrap()

describe.runIf(BWRAP !== undefined)(nameBubblewrapSuite('a shell that is locked', BWRAP), () => {
  /** What the search says of a shell under a policy that allows it, and whether its line is carried out. */
  async function tryShell(name: string, sandbox?: object) {
    const folder = join(scratch, name)
    const home = join(folder, 'home')
    const settings = join(home, '.claude', 'settings.json')
    mkdirSync(join(home, '.claude'), { recursive: true })
    mkdirSync(join(folder, 'project'))
    writeFileSync(settings, 'mine')
    const shell = installed('mcp-server-commands/build/index.js')
    const servers = { shell: { ...shell, ...(sandbox && { sandbox }) } }
    const policy = 'version: 1\ndefault: allow\n'
    const gate = await ownGate({ folder, servers, policy })
    const config = join(folder, 'sluice.yaml')
    const own = { version: 1, servers, policy: './policy.yaml', data: './data' }
    writeFileSync(config, JSON.stringify(own))
    const client = await PlainClient.open(gate, 'shell')
    await client.ask('tools/list')
    await client.call('run_command', { command: `echo {} > ${settings}` })
    await gate.stop()
    vi.stubEnv('HOME', home)
    const { harms }: { harms: readonly FoundHarm[] } = await sluiceJson([
      'threats',
      '--config',
      config,
    ])
    vi.unstubAllEnvs()
    const open = harms.filter(({ result }) => result === 'open').map(({ harm }) => harm)
    const bounded = harms.reduce((sum, { boundedCount }) => sum + boundedCount, 0)
    return { open, isBounded: bounded > 0, isWritten: readText(settings) !== 'mine' }
  }

  test('what the lock refuses is no end, and is not carried out', async () => {
    const harms = ['secret', 'code', 'gate', 'data', 'message']
    expect(await tryShell('floor')).toEqual({ open: harms, isBounded: false, isWritten: true })
    const locked = await tryShell('locked', { write: ['project'] })
    expect(locked).toEqual({ open: ['data'], isBounded: true, isWritten: false })
  }, 120_000)
})
