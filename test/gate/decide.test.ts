// What would be decided on a call that is not made: the operation `decide`, and AuthZEN's form of it. Each is
// compared with the call as a client makes it, and counts nothing.

import { writeFileSync } from 'node:fs'
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
import { fileScratchDirectory } from '../support/scratch.ts'
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

const folder = fileScratchDirectory()
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

/** A request as enforcement points send it. */
const authzen = (name: string, id: string, args: object = {}, subject = 'local') => ({
  subject: { type: 'user', id: subject },
  action: { name },
  resource: { type: 'tool', id },
  context: { arguments: args },
})
const ask = (path: string, body: unknown) => page.ask('POST', `/api/access/v1/${path}`, body)

test('AuthZEN: what the gate does not know is not permitted, and no error', async () => {
  for (const [request, why] of [
    [authzen('tools/call', 'shop/echo', { n: 1 }, 'nobody'), '`nobody` may not call'],
    [authzen('tools/call', 'nope/echo'), 'no server is called `nope`'],
    [authzen('tools/call', 'shop'), '`shop` is not `<server>/<name>`'],
    [{ ...authzen('tools/call', 'shop/echo'), context: { arguments: [1] } }, 'the call: '],
  ] as const) {
    const { status, body } = await ask('evaluation', request)
    expect([status, body.decision, body.context.code]).toEqual([200, false, 'UNKNOWN'])
    expect(body.context.reason).toContain(why)
  }
  const { status, body } = await ask('evaluation', authzen('can_fly', 'shop/echo'))
  expect([status, body.decision]).toEqual([200, false])
})

// The forms of the Todo scenario of the interoperability tests of AuthZEN: members of their own beside `id`,
// actions and resources that this gate has never heard of.
const RICK = { type: 'user', id: 'rick@the-citadel.com', identity: 'CiRmZDA2MTRkMy1jMzlh' }
const INTEROP: readonly object[] = [
  {
    subject: RICK,
    action: { name: 'can_read_user' },
    resource: { type: 'user', id: 'beth@the-smiths.com', userID: 'beth@the-smiths.com' },
  },
  { subject: RICK, action: { name: 'can_read_todos' }, resource: { type: 'todo', id: 'todo-1' } },
  {
    subject: { type: 'user', id: 'morty@the-citadel.com' },
    action: { name: 'can_update_todo', properties: {} },
    resource: { type: 'todo', id: '7240d0db-8ff0', properties: { ownerID: RICK.id } },
    context: { time: '1985-10-26T01:22-07:00' },
  },
]
test('AuthZEN: payloads of the interoperability tests are answered', async () => {
  for (const request of INTEROP) {
    const { status, body } = await ask('evaluation', request)
    expect([status, body.decision]).toEqual([200, false])
  }
  const [{ subject }, ...rest] = INTEROP as [{ subject: object }, ...object[]]
  const { body } = await ask('evaluations', { subject, evaluations: [...rest, ...rest] })
  expect(body.evaluations.map((one: { decision: boolean }) => one.decision)).toEqual([
    false,
    false,
    false,
    false,
  ])
})

test('AuthZEN: several evaluations at once', async () => {
  const { evaluations: _, ...common } = { evaluations: [], ...authzen('resources/read', '') }
  const of = (id: string, also: object = {}) => ({ resource: { type: 'resource', id }, ...also })
  const [yes, no] = [of('shop/mem://a'), of('shop/file:///etc')]
  const decisions = async (evaluations: unknown, semantic?: string) => {
    const options = semantic === undefined ? {} : { options: { evaluations_semantic: semantic } }
    const { body } = await ask('evaluations', { ...common, evaluations, ...options })
    return body.evaluations.map((one: { decision: boolean }) => one.decision)
  }
  expect(await decisions([yes, no, yes])).toEqual([true, false, true])
  expect(await decisions([yes, no, yes], 'execute_all')).toEqual([true, false, true])
  expect(await decisions([yes, no, yes], 'deny_on_first_deny')).toEqual([true, false])
  expect(await decisions([no, yes, no], 'permit_on_first_permit')).toEqual([false, true])
  // An own subject and action take the place of the common ones.
  const other = of('shop/big', { action: { name: 'tools/call' } })
  expect(await decisions([yes, other, { ...yes, subject: { type: 'user', id: 'x' } }])).toEqual([
    true,
    false,
    false,
  ])
  const { body } = await ask('evaluations', { ...common, evaluations: [{ resource: {} }, 7, yes] })
  expect(body.evaluations[0].context.error).toMatchObject({ status: 400 })
  expect(body.evaluations[0].context.error.message).toContain('`resource.type` is not a text')
  expect(body.evaluations[1]).toMatchObject({ decision: false })
  expect(body.evaluations[2]).toMatchObject({ decision: true })
  // Without a list it is a request for one decision.
  const single = await ask('evaluations', { ...common, ...yes })
  expect(single.body).toMatchObject({ decision: true, context: {} })
})

test('AuthZEN: what lacks a member of the standard is refused', async () => {
  const { subject, action, resource } = authzen('tools/call', 'shop/echo')
  for (const [path, body, why] of [
    ['evaluation', { action, resource }, '`subject.type` is not a text'],
    ['evaluation', { subject: { id: 'local' }, action, resource }, '`subject.type`'],
    ['evaluation', { subject, resource }, '`action.name` is not a text'],
    ['evaluation', { subject, action, resource: { type: 'tool', id: 7 } }, '`resource.id`'],
    ['evaluation', '{"subject":', 'the body is not JSON'],
    ['evaluations', { evaluations: {} }, '`evaluations` is not a list'],
    ['evaluations', { evaluations: new Array(101).fill({}) }, 'at most 100'],
    [
      'evaluations',
      { evaluations: [{}], options: { evaluations_semantic: 'all' } },
      '`options.evaluations_semantic` is `all`',
    ],
  ] as const) {
    const reply = await ask(path, body)
    expect(reply.status).toBe(400)
    expect(reply.body.error.message).toContain(why)
  }
})

test('AuthZEN: discovery, and the id of the request', async () => {
  const found = await fetch(`${page.origin}/.well-known/authzen-configuration`)
  expect(await found.json()).toEqual({
    policy_decision_point: page.origin,
    access_evaluation_endpoint: `${page.origin}/api/access/v1/evaluation`,
    access_evaluations_endpoint: `${page.origin}/api/access/v1/evaluations`,
  })
  for (const token of [page.token, 'wrong']) {
    const response = await fetch(`${page.origin}/api/access/v1/evaluation`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'x-request-id': 'bfe9eb29-ab87',
      },
      body: JSON.stringify(INTEROP[0]),
    })
    expect(response.status).toBe(token === 'wrong' ? 401 : 200)
    expect(response.headers.get('x-request-id')).toBe('bfe9eb29-ab87')
  }
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
})
