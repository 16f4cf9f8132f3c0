// `sluice threats` on files: what it prints, its exit code, and its errors.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { DOCUMENT_LENGTH_MAX } from '../../packages/policy/src/document/limits.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { fileScratchDirectory } from '../support/scratch.ts'

const folder = fileScratchDirectory()
const file = (name: string) => join(folder, name)
const TEXT = { type: 'string' }
const TOOLS = [
  ['web/fetch', 'Fetch a web page.', { url: TEXT }],
  ['files/read_file', 'Read a file.', { path: TEXT }],
  ['files/write_file', 'Write a file.', { path: TEXT, content: TEXT }],
  ['mail/send_email', 'Send an e-mail.', { to: TEXT, subject: TEXT, body: TEXT }],
] as const
const POLICY = `# ours
version: 1
default: deny
categories: { Read: allow, Write: allow } # all of it
`

function writeTools(name: string, tools: readonly (readonly [string, string, object])[]): string {
  const list = tools.map(([id, description, properties]) => {
    const [server, tool] = id.split('/')
    const inputSchema = { type: 'object', properties, required: Object.keys(properties) }
    return { server, name: tool, description, inputSchema }
  })
  writeFileSync(file(name), JSON.stringify(list))
  return file(name)
}

function run(policy: string, ...options: string[]) {
  writeFileSync(file('policy.yaml'), policy)
  return sluice(['threats', '--policy', file('policy.yaml'), ...options])
}

let tools = ''
beforeAll(() => {
  tools = writeTools('tools.json', TOOLS)
})

test('shows the calls, the rule of each, and what closes it', async () => {
  const { code, stdout } = await run(POLICY, '--tools', tools)
  expect(code).toBe(0)
  expect(stdout).toContain(
    'message sent     2 calls, nobody is asked; an address of their choice. Begins with a text of: anybody',
  )
  expect(stdout).toMatch(/1 {2}web\/fetch .*\n.*allowed by Read \(.*policy\.yaml:4\)/)
  expect(stdout).toContain('close it')
  expect(stdout).toContain('price: no record')
  expect(stdout).toContain('money moves      closed, no tool could')
  // Nobody has said that the server of the files runs on this machine.
  expect(stdout).toContain('code runs        perhaps:')
})

test('--fail-on fails for what is certain, and not for what is perhaps', async () => {
  expect((await run(POLICY, '--tools', tools, '--fail-on', 'message')).code).toBe(1)
  expect((await run(POLICY, '--tools', tools, '--fail-on', 'code,gate,money')).code).toBe(0)
})

test('--close prints the whole document with its comments, which closes the harm', async () => {
  const { code, stdout, stderr } = await run(POLICY, '--tools', tools, '--close', 'message')
  expect([code, stdout.startsWith(POLICY.trimEnd())]).toEqual([0, true])
  expect(stderr).toContain('note: ')
  expect((await run(stdout, '--tools', tools, '--fail-on', 'message')).code).toBe(0)
})

test('--json has every path and every change', async () => {
  writeFileSync(file('policy.yaml'), POLICY)
  const found = await sluiceJson(['threats', '--policy', file('policy.yaml'), '--tools', tools])
  const message = found.harms.find(({ harm }: { harm: string }) => harm === 'message')
  expect(message.paths[0]).toMatchObject({ writer: 'anybody', serious: true, guesses: [] })
  expect(message.closings[0]).toMatchObject({ price: null })
  expect([found.enforced, found.stopped]).toEqual([true, false])
})

test('a document that only observes is judged as if it held, and that is said first', async () => {
  const { stdout } = await run(`${POLICY}mode: shadow\n`, '--tools', tools)
  expect(stdout.startsWith('nothing is enforced: all of it is open.')).toBe(true)
  expect(stdout).toContain('message sent     2 calls')
})

test('more than a tenth of the tools without a certain class fails a build', async () => {
  const odd = writeTools('odd.json', [...TOOLS, ['odd/frobnicate', '', {}]])
  const asks = 'version: 1\ndefault: deny\n'
  const { code, stdout } = await run(asks, '--tools', odd, '--fail-on', 'secret')
  expect([code, stdout.includes('not judged       1 tool: ')]).toEqual([1, true])
  const said = `${asks}classify: { odd/frobnicate: Read }\n`
  expect((await run(said, '--tools', odd, '--fail-on', 'secret')).code).toBe(0)
})

test('names of a server cannot control the terminal', async () => {
  const bad = writeTools('bad.json', [
    ...TOOLS,
    ['mail/send_\u001b[2Jemail', 'Send an e-mail.', { to: TEXT, body: TEXT }],
  ])
  const { stdout } = await run(POLICY, '--tools', bad, '--all')
  expect(stdout).toContain('[2Jemail')
  expect(stdout).not.toContain('\u001b[2J')
})

test.each([
  ['no tool', [], 'no tool is known', 'start the gate once, or give --tools'],
  [
    'a harm that is none',
    ['--fail-on', 'secrets'],
    'there is no harm `secrets`',
    'did you mean `secret`?',
  ],
  [
    'nothing to close',
    ['--close', 'money'],
    '--close is `money`: it is not open',
    '`sluice threats` shows',
  ],
])('%s is an error', async (_what, options, message, help) => {
  const known = options.length === 0 ? [] : ['--tools', tools]
  const { code, stderr } = await run(POLICY, ...known, ...options)
  expect(code).toBe(2)
  expect(stderr).toContain(message)
  expect(stderr).toContain(help)
})

test('a schema that is missing, or has no end, is filled as far as it goes', async () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
  const deep = { ...node, $defs: { node }, required: ['next'] }
  const list = [
    { server: 'web', name: 'fetch', inputSchema: { type: 'object', properties: { url: TEXT } } },
    {
      server: 'mail',
      name: 'send_email',
      inputSchema: { ...deep, properties: { to: TEXT, body: TEXT, ...node.properties } },
    },
    { server: 'db', name: 'delete_all' },
  ]
  writeFileSync(file('deep.json'), JSON.stringify(list))
  const { code, stdout } = await run('version: 1\ndefault: allow\n', '--tools', file('deep.json'))
  expect([code, stdout]).toEqual([0, expect.stringContaining('2  mail/send_email ')])
  expect(stdout).toContain('data destroyed   2 calls')
})

test('a harm that no change closes is said to be so', async () => {
  const full = `${POLICY}#${'-'.repeat(DOCUMENT_LENGTH_MAX - POLICY.length - 10)}\n`
  const { stdout } = await run(full, '--tools', tools)
  expect(stdout).toContain('close it       no change of rules that was tried closes all of it')
  const { code, stderr } = await run(full, '--tools', tools, '--close', 'message')
  expect(code).toBe(2)
  expect(stderr).toContain('no change of rules closes it without a person for every call')
  const found = await sluiceJson(['threats', '--policy', file('policy.yaml'), '--tools', tools])
  const message = found.harms.find(({ harm }: { harm: string }) => harm === 'message')
  expect(message.rejected[0].why).toMatch(/^it does not compile: /)
})

test('--help has an example of each option', async () => {
  const { stdout } = await sluice(['threats', '--help'])
  for (const option of ['--all', '--close code > new.yaml', '--fail-on secret,code,gate', '--json'])
    expect(stdout).toContain(`  sluice threats ${option} `)
})

test('a policy with errors is not searched', async () => {
  const { code, stderr } = await run('version: 1\ndefault: perhaps\n', '--tools', tools)
  expect([code, stderr.includes('policy.yaml:2:')]).toEqual([2, true])
})
