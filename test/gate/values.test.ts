// Rules over what the session has read, from outside: a refund no larger than its order, a mail only to its
// customer, a price for each call, the same call again and again, and how much was read.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { throughGate } from '../support/real-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, startGate } from '../support/start-gate.ts'

vi.setConfig({ testTimeout: 60_000 })

const ORDER = 'last("shop/get_order", "order_id", args.order)'
const POLICY = `version: 1
default: deny
tools:
  shop/get_order: allow
  shop/create_refund:
    action: allow
    when: ${ORDER}.id == args.order
    spend_limit: { amount: args.amount, max: '${ORDER}.total', window: 366d, per: args.order }
  shop/send_mail:
    action: allow
    when: args.to == ${ORDER}.customer.email
    reason: mails go to the customer of the order
`
const FIRST =
  'this session has not called `shop/get_order` with order_id `args.order` and nothing else: call it first'
const AGAIN =
  'of the last answer of `shop/get_order` with order_id `args.order` and nothing else is not known: call it again'

let file: string
beforeEach(() => {
  file = join(scratchDirectory(), 'orders.json')
  answers(toResult({ id: 'A-1', total: 50, customer: { email: 'ann@example.com' } }))
})
afterEach(endGates)

/** What `get_order` answers for A-1 from now on. */
function answers(result: string): void {
  writeFileSync(file, JSON.stringify({ 'A-1': result }))
}

function toResult(order: object): string {
  return JSON.stringify({ content: [{ type: 'text', text: 'an order' }], structuredContent: order })
}

function spec(policy = POLICY, folder?: string) {
  const servers = { shop: { ...fixture('orders', file), share: 'all' as const } }
  return { servers, policy, ...(folder === undefined ? {} : { folder }) }
}

async function says(client: PlainClient, name: string, args: object): Promise<string> {
  return (await client.call(name, args)).answer.result.content[0]?.text ?? ''
}

const refund = (client: PlainClient, amount: number, order = 'A-1') =>
  says(client, 'create_refund', { order, amount })
const read = (client: PlainClient, more: object = {}) =>
  says(client, 'get_order', { order_id: 'A-1', ...more })

test('refunds of an order are no larger than it, together and over a kill', async () => {
  const gate = await startGate(spec())
  const token = (await sluice(['sessions', 'token', '--data', gate.data])).stdout.trim()
  const { client, close } = await throughGate(gate, 'shop', token)
  const real = async (name: string, args: Record<string, unknown>) =>
    (
      (await client.callTool({ name, arguments: args })) as unknown as {
        content: [{ text: string }]
      }
    ).content[0].text
  expect(await real('create_refund', { order: 'A-1', amount: 20 })).toBe(
    `denied by policy: ${FIRST}`,
  )
  await real('get_order', { order_id: 'A-1' })
  expect(await real('create_refund', { order: 'A-1', amount: 20 })).toBe('done')
  expect(await real('create_refund', { order: 'A-1', amount: 40 })).toContain('30 left')
  await close()
  // The answer is stored before it is sent: nothing waits for a later write.
  await gate.kill()
  const again = await serveGate(spec(POLICY, gate.folder))
  const after = await PlainClient.open(again, `shop?sluice_session=${token}`)
  expect(await refund(after, 30)).toBe('done')
  expect(await refund(after, 0.01)).toContain('0 left')
  const other = await PlainClient.open(again, 'shop')
  await read(other)
  expect(await refund(other, 1)).toContain('0 left')
})

test('a mail goes only to the customer of the order, and the reason of the rule stands beside what to do', async () => {
  const client = await PlainClient.open(await serveGate(spec()), 'shop')
  const mail = (to: string) => says(client, 'send_mail', { order: 'A-1', to })
  expect(await mail('ann@example.com')).toBe(
    `denied by policy: mails go to the customer of the order; ${FIRST}`,
  )
  await read(client)
  expect(await mail('ann@example.com')).toBe('done')
  expect(await mail('eve@example.com')).toBe(
    'denied by policy: mails go to the customer of the order',
  )
})

const order = '{"id":"A-1","total":50}'
const block = (text: string) => JSON.stringify({ type: 'text', text })

describe('no form of an answer moves the value', () => {
  test.each<[string, string, string]>([
    [
      'another member in a text',
      `{"content":[${block(`{"id":"A-1","note":"\\"}, \\"total\\": 99999"}`)}]}`,
      AGAIN,
    ],
    ['prose', `{"content":[${block('id: A-1, total: 99999')}]}`, AGAIN],
    ['JSON in prose', `{"content":[${block(`the order is\n{"id":"A-1","total":99999}`)}]}`, AGAIN],
    [
      'a second block',
      `{"content":[${block(order)},${block('{"id":"A-1","total":99999}')}]}`,
      AGAIN,
    ],
    [
      'a doubled key',
      `{"content":[],"structuredContent":{"id":"A-1","total":50,"total":99999}}`,
      AGAIN,
    ],
    [
      'a doubled key in a text',
      `{"content":[${block('{"id":"A-1","total":50,"total":99999}')}]}`,
      AGAIN,
    ],
    [
      'an error',
      `{"content":[],"isError":true,"structuredContent":{"id":"A-1","total":99999}}`,
      AGAIN,
    ],
    ['a list', `{"content":[],"structuredContent":[{"id":"A-1","total":99999}]}`, AGAIN],
    ['a text of one document', `{"content":[${block(order)}]}`, '30 left'],
  ])('%s', async (_, result, expected) => {
    const client = await PlainClient.open(await serveGate(spec()), 'shop')
    await read(client)
    expect(await refund(client, 20)).toBe('done')
    answers(result)
    await client.call('get_order', { order_id: 'A-1' })
    expect(await refund(client, 99)).toContain(expected)
  })

  test('a further argument, another spelling, another server, another session', async () => {
    const shop = { ...fixture('orders', file), share: 'all' as const }
    const gate = await serveGate({
      ...spec(`${POLICY}  other/get_order: allow\n`),
      servers: { shop, other: shop },
    })
    const client = await PlainClient.open(gate, 'shop')
    await read(client, { currency: 'JPY' })
    await says(await PlainClient.open(gate, 'other'), 'get_order', { order_id: 'A-1' })
    await read(await PlainClient.open(gate, 'shop'))
    expect(await refund(client, 1)).toContain(FIRST)
    await client.call('get_order', { order_id: 'a-1' })
    expect(await refund(client, 1, 'a-1')).toContain('does not hold')
  })
})

test('under a policy that reads other fields a session begins with what it reads then', async () => {
  const gate = await serveGate(spec())
  const token = (await sluice(['sessions', 'token', '--data', gate.data])).stdout.trim()
  const name = `shop?sluice_session=${token}`
  await read(await PlainClient.open(gate, name))
  await gate.stop()
  const stricter = `${POLICY}guardrails:
  - { name: paid, match: { tools: [shop/create_refund] }, when: "${ORDER.replaceAll('"', '\\"')}.open", action: deny }
`
  const client = await PlainClient.open(await serveGate(spec(stricter, gate.folder)), name)
  expect(await refund(client, 30)).toContain(AGAIN)
  answers(toResult({ id: 'A-1', total: 50, open: false }))
  await read(client)
  expect(await refund(client, 30)).toBe('done')
})

test('the ledger has what the decision read, and replay decides with it', async () => {
  const gate = await serveGate(spec())
  const client = await PlainClient.open(gate, 'shop')
  await refund(client, 20)
  await read(client)
  await refund(client, 20)
  await refund(client, 90)
  const judged = recordsOf(gate).flatMap((one) =>
    'judged' in one && one.name === 'create_refund' ? [one.judged[`${ORDER}.total`]] : [],
  )
  expect(judged).toEqual([{ is: 'missing' }, 50, 50])
  await gate.stop()
  writeFileSync(
    join(gate.folder, 'looser.yaml'),
    POLICY.replace(
      `when: ${ORDER}.id == args.order`,
      `when: args.amount <= ${ORDER}.total * 2`,
    ).replace(/ {4}spend_limit.*\n/, ''),
  )
  const replayed = await sluiceJson([
    'policy',
    'replay',
    '--policy',
    join(gate.folder, 'looser.yaml'),
    '--data',
    gate.data,
  ])
  expect(replayed).toMatchObject({ calls: 4, same: 3, unknown: 0 })
})

test('a price: what a session has cost, and how much it has read, over a kill', async () => {
  const policy = `version: 1
default: deny
tools:
  shop/get_order: { action: allow, spend_limit: { amount: 0.04, max: 0.1, window: 1d, per: principal } }
`
  const gate = await startGate(spec(policy))
  const client = await PlainClient.open(gate, 'shop')
  expect(await read(client)).toBe('an order')
  expect(await read(client)).toBe('an order')
  expect(await read(client)).toContain(
    'the limit of 0.1 of 0.04 in 1d per principal is reached, 0.02 left',
  )
  const listed = (await sluice(['sessions', 'list', '--data', gate.data])).stdout
  expect(listed).toMatch(/2 calls, \d+ tokens, cost 0\.08/)
  await gate.kill()
  const again = await serveGate(spec(policy, gate.folder))
  expect((await sluice(['sessions', 'list', '--data', again.data])).stdout).toBe(
    listed.replace('1 connection', '0 connections'),
  )
})

test('rules stop a loop, and a session that has read enough', async () => {
  const policy = `version: 1
default: allow
guardrails:
  - { name: loop, when: session.repeats >= 2, action: deny, reason: the same call again }
  - { name: enough, when: session.tokens > 150, action: deny, reason: enough was read }
`
  const client = await PlainClient.open(await serveGate(spec(policy)), 'shop')
  expect(await read(client)).toBe('an order')
  expect(await read(client, { currency: 'EUR' })).toBe('an order')
  expect(await says(client, 'get_order', { currency: 'EUR', order_id: 'A-1' })).toBe('an order')
  expect(await read(client, { currency: 'EUR' })).toContain('the same call again')
  expect(await read(client)).toBe('an order')
  expect(await read(client)).toContain('enough was read')
})
