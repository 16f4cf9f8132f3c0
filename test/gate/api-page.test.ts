// The commands of docs/reference/api.md that ask for a decision, run as they are printed: only the address and the
// token are those of a gate on loopback.

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { People } from '../../packages/access/src/identity/people/people.ts'
import { ROOT } from '../support/modules.ts'
import { PlainClient } from '../support/plain-client.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, type RunningGate, startGate } from '../support/start-gate.ts'

const PAGE = readFileSync(join(ROOT, 'docs/reference/api.md'), 'utf8')
/** Each command, with the line of its answer. */
const EXAMPLES = [
  ...PAGE.matchAll(/^(curl [^`]*?(\/api\/(?:decide|access\/v1\/evaluation)))\n(\{.*\})$/gm),
].map(([, command = '', path = '', answer = '']) => ({ path, command, answer: JSON.parse(answer) }))

const folder = fileScratchDirectory()
let gate: RunningGate
let token: string | null = null

beforeAll(async () => {
  const tools = join(folder, 'tools.json')
  writeFileSync(tools, JSON.stringify([{ name: 'create_refund', inputSchema: { type: 'object' } }]))
  const grant = makeToken()
  const hash = `sha256:${hashGrantToken(grant)?.toString('hex')}`
  // A process of its own: a gate takes nothing from processes that it started.
  gate = await startGate({
    servers: { stripe: fixture('shifty', tools) },
    policy: 'version: 1\ndefault: deny\ntools: { stripe/create_refund: require_approval }\n',
    config: { grants: { ann: { hash, policy: 'policy' } } },
  })
  const people = People.open(gate.data)
  const system = { name: 'ci', kind: 'system', roles: ['approver'], groups: [], owns: [] } as const
  token = (await people.add(system, { token: true }, Date.now())).token
  people.close()
  const client = await PlainClient.open(gate, 'stripe', '2025-11-25', grant)
  await client.ask('tools/list')
}, 60_000)
afterAll(async () => {
  await endGates()
})

test('the page has both examples', () => {
  expect(EXAMPLES).toHaveLength(2)
})

test.each(EXAMPLES)('the example of $path', async ({ command, answer }) => {
  const here = command.replace('https://gate.example.com', gate.url)
  const child = spawn('sh', ['-c', `${here} -s`], { env: { ...process.env, TOKEN: token ?? '' } })
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += String(chunk)))
  await new Promise((resolve) => child.once('close', resolve))
  // The reason is shortened on the page.
  const shorten = (text: string) => JSON.parse(text.replace(/"reason":"[^"]*"/, '"reason":"…"'))
  expect(shorten(printed)).toMatchObject(answer)
})
