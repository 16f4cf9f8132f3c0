// What would be decided on a call that is not made: the operation `decide`, and AuthZEN's form of it. Each is
// compared with the call as a client makes it, and counts nothing.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROLES } from '../../packages/access/src/identity/person.ts'
import { Page } from '../../packages/console/src/admin.test-support.ts'
import { startAdmin } from '../../packages/console/src/start-admin.ts'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import type { CommandRegistry } from '../../packages/gateway/src/front/socket/command-registry.ts'
import { createCommands } from '../../packages/gateway/src/operations/commands.ts'
import { runGate } from '../../packages/gateway/src/start/run-gate.ts'
import { compileDocuments, readDocuments } from '../../packages/gateway/src/state/documents.ts'
import { makePerson, PIN } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { fixture, type RunningGate } from '../support/start-gate.ts'

const POLICY = `
version: 1
default: deny
tools:
  shop/echo: { action: allow, when: args.n < 10, otherwise: deny, extra_args: allow, rate_limit: { max: 1, window: 1h, per: everyone } }
  shop/big: require_approval
  shop/*: deny
resources:
  "shop/mem://*": allow
`

const folder = mkdtempSync(join(tmpdir(), 'sluice-decide-'))
let gate: Awaited<ReturnType<typeof runGate>>
let page: Page
let client: PlainClient

beforeAll(async () => {
  writeFileSync(join(folder, 'policy.yaml'), POLICY)
  const text = JSON.stringify({
    version: 1,
    listen: '127.0.0.1:0',
    data: './data',
    policy: './policy.yaml',
    servers: { shop: fixture('echo') },
  })
  const { config } = readConfig({ file: join(folder, 'sluice.yaml'), text }, {})
  const { compiled, problems } = compileDocuments(readDocuments(config!))
  if (compiled === undefined) throw new Error(JSON.stringify(problems))
  await makePerson(join(folder, 'data'), 'ann', ROLES)
  let words: CommandRegistry | undefined
  gate = await runGate(config!, compiled, {
    piped: false,
    log: () => {},
    startAdmin: (parts) => startAdmin(parts),
    control: (parts) => {
      words = createCommands(parts)
      return words
    },
  })
  const proof = { name: 'ann', pin: PIN }
  const { url } = (await words!.run('console', { do: 'console', proof } as never)) as {
    url: string
  }
  const [base = '', code = ''] = url.split('/#code=')
  page = new Page(base)
  await page.signIn(code)
  client = await PlainClient.open(gate as unknown as RunningGate, 'shop')
  await client.ask('tools/list')
}, 60_000)
afterAll(async () => {
  await gate.stop()
  rmSync(folder, { recursive: true, force: true })
})

const decide = async (body: object) =>
  (await page.ask('POST', '/api/decide', { principal: 'local', server: 'shop', ...body })).body
const evaluate = async (name: string, args?: object, action = 'tools/call') =>
  (
    await page.ask('POST', '/api/access/v1/evaluation', {
      subject: { type: 'user', id: 'local' },
      action: { name: action },
      resource: { type: 'tool', id: name },
      ...(args === undefined ? {} : { context: { arguments: args } }),
    })
  ).body

test('the decision is that of the call, and nothing is counted', async () => {
  for (let round = 0; round < 3; round++)
    expect(await decide({ name: 'echo', args: '{"n":1}' })).toMatchObject({ action: 'allow' })
  const denied = await decide({ name: 'echo', args: '{"n":11}' })
  expect(denied).toMatchObject({ action: 'deny', code: 'DENIED', rule: '/tools/shop~1echo' })
  expect(await decide({ name: 'big' })).toMatchObject({ action: 'require_approval' })
  const read = { method: 'resources/read', name: 'mem://a' }
  expect(await decide(read)).toMatchObject({ action: 'allow' })
  expect(await decide({ ...read, name: 'file:///etc' })).toMatchObject({ action: 'deny' })
  expect((await client.call('echo', { n: 1 })).answer.result.isError).not.toBe(true)
  // The limit is used up by the call that was made.
  expect(await decide({ name: 'echo', args: '{"n":1}' })).toMatchObject({ code: 'RATE_LIMITED' })
})

test('AuthZEN: a decision, with the code and the reason', async () => {
  expect(await evaluate('shop/mem://a', undefined, 'resources/read')).toMatchObject({
    decision: true,
  })
  expect(await evaluate('shop/echo', { n: 11 })).toMatchObject({
    decision: false,
    context: { code: 'DENIED' },
  })
  const { decision, context } = await evaluate('shop/big')
  expect([decision, context.code]).toEqual([false, 'APPROVAL_REQUIRED'])
})

test('what was asked is recorded, and bad questions are refused', async () => {
  const events = recordsOf({ data: join(folder, 'data') }).filter(({ kind }) => kind === 'event')
  expect(JSON.stringify(events)).toContain('decision-asked')
  for (const [body, why] of [
    [{ principal: 'nobody', name: 'echo' }, '`nobody` may not call'],
    [{ server: 'nope', name: 'echo' }, 'no server is called `nope`'],
    [{ name: 'echo', args: '{"n":1,"n":2}' }, 'the call: '],
    [{ name: 'echo', args: '[]' }, 'the call: '],
  ] as const)
    expect((await decide(body)).error.message).toContain(why)
  expect((await evaluate('shop')).error.message).toContain('`resource.id` is `shop`')
})
