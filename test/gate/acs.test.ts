// Agents that ask by the Agent Control Standard, with the client of the examples and a real gate: what is allowed,
// denied and held, also over a restart; replays, and requests that are wrong in other ways.

import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AcsClient } from '../../examples/support/acs-client.ts'
import type { JsonObject } from '../../packages/policy/src/values/json.ts'
import {
  ACS_KEY,
  type AcsSent,
  listBadAcsRequests,
  ORDER,
  sendAcs,
  writeAcsRequest,
} from '../support/acs-request.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { recordsOf } from '../support/plain-client.ts'
import { ALLOW_ALL } from '../support/start-gate.ts'

const KEY = ACS_KEY
const POLICY = `
version: 1
default: deny
tools:
  shop/get_order: allow
  shop/get_mail: allow
  shop/delete_all: { action: deny, reason: nobody deletes all }
  shop/refund: { action: require_approval, reason: refunds need a person, approval: { wait: 1s, timeout: 1h, edit_args: true } }
  shop/remember: allow
  shop/retrieve: allow
labels: { "shop/retrieve": [web] }
guardrails:
  - { name: nothing stored after the web, match: { tools: ["shop/remember"] }, when: session.saw.web, action: deny }
answers:
  "shop/get_mail": { redact: [email] }
`
const SPEC = {
  servers: { shop: { builtin: 'acs' as const } },
  policy: POLICY,
  config: {
    grants: { shop: { acs: 'shop', hmac_key: KEY, policy: 'policy', prompt: true } },
    // Calls without a result are open when a gate ends.
    stop_within: '1s',
  },
}
let gate: OwnGate

beforeAll(async () => {
  gate = await ownGate(SPEC)
}, 60_000)
afterAll(() => endOwnGates())

async function open(url = gate.url, session?: string): Promise<AcsClient> {
  const client = new AcsClient({
    url: `${url}/acs`,
    agent: 'shop',
    key: KEY,
    ...(session === undefined ? {} : { session }),
  })
  await client.start()
  return client
}

let calls = 0
const call = (tool: string, args = {}) => ({ id: `call_${++calls}`, tool, args })
/** What the ledger says of each step. */
const eventsOf = (of: OwnGate) =>
  recordsOf(of).flatMap((record) =>
    record.kind === 'event' && record.name === 'acs' ? [record.detail as JsonObject] : [],
  )

describe('steps of an agent', () => {
  test('an allowed call passes, and its end and its chain are recorded', async () => {
    const client = await open()
    const verdict = await client.ask(call('get_order', { order: 7 }))
    expect(verdict).toMatchObject({ is: 'allowed', args: { order: 7 } })
    const step = verdict.is === 'allowed' ? verdict.step : ''
    expect(await client.result(step, 'get_order', { status: 'sent' })).toEqual({ status: 'sent' })
    await expect
      .poll(() => JSON.stringify(recordsOf(gate)))
      .toMatch(/"name":"get_order".*"status":"answered"/s)
    const chain = eventsOf(gate)
    expect(chain.map(({ method }) => method)).toEqual([
      'steps/sessionStart',
      'steps/toolCallRequest',
      'steps/toolCallResult',
    ])
    expect(chain.map(({ previous }) => previous)).toEqual([null, chain[0]?.entry, chain[1]?.entry])
  })

  test('a denied one does not, with the reason of the rule', async () => {
    const client = await open()
    const verdict = await client.ask(call('delete_all'))
    expect(verdict).toMatchObject({
      is: 'denied',
      reason: expect.stringContaining('nobody deletes'),
    })
  })

  test('an answer is redacted; labels of what was retrieved count', async () => {
    const client = await open()
    const asked = await client.ask(call('get_mail'))
    const step = asked.is === 'allowed' ? asked.step : ''
    expect(await client.result(step, 'get_mail', 'from ann@example.com')).not.toContain('ann@')
    const post = (method: string, payload: object) =>
      send(method, payload, { session: client.session })
    expect(await post('steps/memoryStore', { note: 'x' })).toMatchObject({ decision: 'allow' })
    const retrieved = await post('steps/knowledgeRetrieval', { query: 'q', results: ['page'] })
    expect(retrieved).toMatchObject({ decision: 'allow' })
    expect(await post('steps/memoryStore', { note: 'y' })).toMatchObject({
      decision: 'deny',
      reasoning: expect.stringContaining('a guardrail of the policy'),
    })
  })

  test('held, the gate restarted, approved, made once', async () => {
    const first = await ownGate(SPEC)
    const client = await open(first.url)
    const refund = call('refund', { amount: 40 })
    const held = await client.ask(refund)
    expect(held).toMatchObject({ is: 'waiting', reason: expect.stringContaining('need a person') })
    const approval = held.is === 'waiting' ? (held.approval ?? '') : ''
    await first.stop()
    const second = await ownGate({ ...SPEC, folder: first.folder })
    const again = await open(second.url, client.session)
    expect(await again.ask(refund)).toMatchObject({ is: 'waiting', approval })
    await second.approvals.decide(approval, { verdict: 'approve' }, ADA, 'terminal')
    const passed = await again.ask(refund)
    expect(passed).toMatchObject({ is: 'allowed', args: { amount: 40 } })
    const step = passed.is === 'allowed' ? passed.step : ''
    expect(await again.result(step, 'refund', 'done')).toBe('done')
    // The approval was for one call.
    const other = await again.ask({ ...refund, id: 'call_other' })
    expect(other.is).not.toBe('allowed')
  }, 60_000)

  test('an approver changes the arguments: the call is made with those', async () => {
    const client = await open()
    const refund = call('refund', { amount: 90, order: 7 })
    const held = await client.ask(refund)
    const approval = held.is === 'waiting' ? (held.approval ?? '') : ''
    const edit = { verdict: 'approve', args: '{"amount":9,"order":7}' } as const
    await gate.approvals.decide(approval, edit, ADA, 'console')
    expect(await client.ask(refund)).toMatchObject({
      is: 'allowed',
      args: { amount: 9, order: 7 },
    })
  })

  test('an id passes once until its result has come, however often it is asked for', async () => {
    const client = await open()
    const order = call('get_order', { order: 3 })
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => client.ask(order)))
    const verdicts = [first, ...others, await client.ask(order)]
    expect(verdicts.filter((each) => each?.is === 'allowed')).toHaveLength(1)
    expect(verdicts.filter((each) => each?.is === 'denied')).toMatchObject(
      Array.from({ length: 3 }, () => ({ reason: expect.stringContaining('was used') })),
    )
    expect(await client.ask({ ...order, id: 'call_again' })).toMatchObject({ is: 'allowed' })
  })

  test('the same id with other arguments is another call', async () => {
    const client = await open()
    const order = call('get_order', { order: 1 })
    expect(await client.ask(order)).toMatchObject({ is: 'allowed' })
    expect(await client.ask({ ...order, args: { order: 2 } })).toMatchObject({
      is: 'denied',
      reason: expect.stringContaining('was used for another call'),
    })
  })
})

/** The result or the error of a request that is written by hand. */
function send(
  method: string,
  payload: object,
  { url = gate.url, ...options }: AcsSent & { readonly url?: string } = {},
): Promise<JsonObject> {
  return sendAcs(url, writeAcsRequest(method, payload, options))
}

describe('bad input', () => {
  test.each(listBadAcsRequests(Date.now()))('$name', async ({ sent, code, why }) => {
    const answer = await send('steps/toolCallRequest', ORDER, sent)
    expect(answer).toMatchObject({ code, message: expect.stringContaining(why) })
  })

  test('an unknown method, an argument without a value, a result of no call', async () => {
    expect(await send('steps/fly', {})).toMatchObject({ code: -32601 })
    const bare = { tool: { name: 'get_order' }, arguments: { order: 7 } }
    expect(await send('steps/toolCallRequest', bare)).toMatchObject({
      code: -32600,
      message: expect.stringContaining('`payload.arguments.order` has no `value`'),
    })
    expect(await send('steps/toolCallResult', {})).toMatchObject({ code: -32600 })
  })

  test('a replay is refused, also after a restart', async () => {
    const first = await ownGate(SPEC)
    const again = { session: randomUUID(), requestId: randomUUID() }
    const replay = (url: string) => send('steps/toolCallRequest', ORDER, { ...again, url })
    expect(await replay(first.url)).toMatchObject({ decision: 'allow' })
    expect(await replay(first.url)).toMatchObject({ code: -32005 })
    await first.stop()
    const second = await ownGate({ ...SPEC, folder: first.folder })
    expect(await replay(second.url)).toMatchObject({ code: -32005 })
  }, 60_000)

  test('a ping needs no signature, and is in no chain', async () => {
    const before = eventsOf(gate).length
    expect(await send('system/ping', { echo: 'hi' }, { key: 'x' })).toMatchObject({
      decision: 'allow',
      payload: { status: 'ok', echo: 'hi' },
    })
    expect(eventsOf(gate)).toHaveLength(before)
  })

  test('no MCP client reaches the server of an agent; without one there is no /acs', async () => {
    const response = await fetch(`${gate.url}/mcp/shop`, { method: 'POST', body: '{}' })
    expect(response.ok).toBe(false)
    const other = await ownGate({ servers: {}, policy: ALLOW_ALL })
    expect((await fetch(`${other.url}/acs`, { method: 'POST' })).status).toBe(404)
  }, 60_000)
})

test('a key that is too short, or of a server that is none, is an error of the configuration', async () => {
  for (const [grant, why] of [
    [{ acs: 'shop', hmac_key: 'short' }, 'its `hmac_key` has 5 bytes'],
    [{ acs: 'other', hmac_key: KEY }, 'no server `other` has `builtin: acs`'],
    [{ acs: 'shop' }, 'has no `hmac_key`'],
    [{}, 'the grant has no `hash`'],
    [{ acs: 'shop', hmac_key: KEY, hooks: 'codex' }, 'opens `/acs` alone'],
  ] as const) {
    const config = { grants: { shop: { policy: 'policy', ...grant } } }
    await expect(ownGate({ ...SPEC, config })).rejects.toThrow(why)
  }
  const file = join(gate.folder, 'shop.key')
  writeFileSync(file, `${KEY}\n`)
  const config = {
    grants: { shop: { acs: 'shop', hmac_key: `\${file:${file}}`, policy: 'policy' } },
  }
  const byFile = await ownGate({ ...SPEC, config })
  expect(await (await open(byFile.url)).ask(call('get_order'))).toMatchObject({ is: 'allowed' })
  // A key that everybody knows is none. What was read is used for half a second more.
  writeFileSync(file, '\n')
  const codeWith = async (key: string) =>
    (await send('steps/toolCallRequest', ORDER, { url: byFile.url, key })).code
  await expect.poll(() => codeWith(KEY)).toBe(-32004)
  expect(await codeWith('')).toBe(-32004)
}, 60_000)
