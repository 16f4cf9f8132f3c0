// A process that several sessions share (`share:`), attacked from inside: what it says for one session
// reaches no other, neither as words nor as a label.

import { LIST_CHANGES } from '@sluice/protocol/protocol-generation'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Play, playing } from '../../relay/relay.test-support.ts'
import { ScriptedLink, settled } from '../scripted-link.test-support.ts'
import { SharedServer } from './shared-server.ts'

const MAIL = 'the mail of A'
const RULES = 'default: allow\nlabels: { s/ask: [private], "s/mail:*": [private] }'
const TOOLS = ['ask', 'other'].map((name) => ({ name, inputSchema: { type: 'object' } }))

const { play, endPlays } = playing()
let inner: ScriptedLink
let a: Play
let b: Play

/** A has read mail, with a progress token and a subscription; B has a call open with the same token. */
beforeEach(async () => {
  inner = new ScriptedLink()
  inner.answers = ({ method }) => {
    if (method === 'initialize') return { protocolVersion: '2025-11-25', capabilities: {} }
    return method === 'tools/list' ? { tools: TOOLS } : undefined
  }
  const shared = new SharedServer(inner.connect, { onIdle() {}, onClose() {} })
  const session = () =>
    play({ generation: 'session', rules: RULES, link: (events) => shared.attach(events) })
  a = session()
  b = session()
  for (const each of [a, b]) {
    await each.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
    await settled()
  }
  await a.ask('resources/subscribe', { uri: 'mail:1' })
  const meta = { progressToken: 1 }
  await b.ask('tools/call', { name: 'other', arguments: {} }, { meta })
  await a.ask('tools/call', { name: 'ask', arguments: {} }, { meta })
  a.received.length = 0
  b.received.length = 0
})
afterEach(endPlays)

async function tell(method: string, params: object = {}): Promise<void> {
  inner.say({ method, params: { ...params, data: MAIL, message: MAIL, _meta: { note: MAIL } } })
  await settled()
}

function expectNothingOfA(): void {
  expect(JSON.stringify(b.received)).not.toContain(MAIL)
  expect(b.saw).toEqual([])
}

test.each([...LIST_CHANGES.keys()])(
  'S1: what goes to all sessions has no words: %s',
  async (method) => {
    await tell(method)
    for (const each of [a, b]) {
      expect(each.received.at(-1)).toMatchObject({ method })
      expect(JSON.stringify(each.received)).not.toContain(MAIL)
    }
    expectNothingOfA()
  },
)

test('S1: the change of a resource reaches its subscribers, with nothing but the URI', async () => {
  await tell('notifications/resources/updated', { uri: 'mail:1' })
  expect(a.received).toMatchObject([{ params: { uri: 'mail:1' } }])
  expect(JSON.stringify(a.received)).not.toContain(MAIL)
  expect(b.received).toEqual([])
  // The next subscriber of that URI hears of it, too, and no more than that.
  await b.ask('resources/subscribe', { uri: 'mail:1' })
  await tell('notifications/resources/updated', { uri: 'mail:1' })
  expect(b.received.at(-1)).toMatchObject({ method: 'notifications/resources/updated' })
  expect(JSON.stringify(b.received)).not.toContain(MAIL)
})

test('a subscription that the server refused is none: nobody hears, and the next one is asked for', async () => {
  const updated = async () => {
    a.received.length = 0
    await tell('notifications/resources/updated', { uri: 'mail:2' })
    return a.received.filter(({ method }) => method === 'notifications/resources/updated').length
  }
  const asked = () =>
    inner.all('resources/subscribe').filter(({ params }) => params.uri === 'mail:2')
  await a.ask('resources/subscribe', { uri: 'mail:2' })
  inner.say({ id: asked().at(-1)?.id, error: { code: -32000, message: 'no such mail' } })
  await settled()
  expect(a.received.at(-1)).toMatchObject({
    error: { message: expect.stringContaining('no such') },
  })
  expect(await updated()).toBe(0)
  // Not answered from what was refused, and not before the server has confirmed it to somebody.
  await b.ask('resources/subscribe', { uri: 'mail:2' })
  await a.ask('resources/subscribe', { uri: 'mail:2' })
  expect(asked()).toHaveLength(3)
  inner.say({ id: asked()[1]?.id, error: { code: -32000, message: 'no such mail' } })
  inner.say({ id: asked()[2]?.id, result: {} })
  await settled()
  expect(await updated()).toBe(1)
  expect(b.received.some(({ method }) => method === 'notifications/resources/updated')).toBe(false)
  await b.ask('resources/subscribe', { uri: 'mail:2' })
  expect(asked()).toHaveLength(3)
  expect(b.received.at(-1)).toMatchObject({ result: {} })
})

test('S2: progress goes to the session of its call and labels that session alone', async () => {
  const { progressToken } = inner.last('tools/call').params._meta
  await tell('notifications/progress', { progressToken, progress: 1 })
  expect(a.received).toMatchObject([{ params: { progressToken: 1, message: MAIL } }])
  expect(a.saw).toEqual(['private'])
  expectNothingOfA()
  // The token as clients gave it, and one of a call that is over.
  await tell('notifications/progress', { progressToken: 1, progress: 2 })
  await inner.say({ id: inner.last('tools/call').id, result: { content: [] } })
  await tell('notifications/progress', { progressToken, progress: 3 })
  expect(a.received.filter(({ method }) => method === 'notifications/progress')).toHaveLength(1)
  expectNothingOfA()
})

test('S2: progress of a cancelled call, or of a session that has ended, reaches nobody', async () => {
  const { progressToken } = inner.last('tools/call').params._meta
  a.tell({ method: 'notifications/cancelled', params: { requestId: 'c3' } })
  await tell('notifications/progress', { progressToken, progress: 1 })
  await inner.say({ id: inner.last('tools/call').id, result: { content: [MAIL] } })
  expect(JSON.stringify(a.received)).not.toContain(MAIL)
  await a.end()
  await tell('notifications/progress', { progressToken, progress: 2 })
  await tell('notifications/resources/updated', { uri: 'mail:1' })
  expectNothingOfA()
  expect(b.received).toEqual([])
})

test.each([
  'notifications/message',
  'notifications/cancelled',
  'notifications/tasks/status',
  'notifications/elicitation/complete',
  'notifications/subscriptions/acknowledged',
  'notifications/roots/list_changed',
])('S3: what belongs to nobody reaches nobody: %s', async (method) => {
  await tell(method, { level: 'info', taskId: 't', elicitationId: 'e', requestId: 'sluice-1' })
  for (const each of [a, b]) expect(each.received).toEqual([])
  expectNothingOfA()
})

test.each(['sampling/createMessage', 'elicitation/create', 'roots/list', 'ping'])(
  'S3: a question reaches nobody: %s',
  async (method) => {
    inner.say({ id: 'q', method, params: { message: MAIL, messages: [] } })
    await settled()
    for (const each of [a, b]) expect(each.received).toEqual([])
    expect(inner.sent.at(-1)).toMatchObject({ id: 'q' })
    expectNothingOfA()
  },
)

test('S4: an answer goes to the session that asked, and labels that session alone', async () => {
  const { id } = inner.last('tools/call')
  inner.say({ id, error: { code: -32000, message: MAIL } })
  await settled()
  expect(JSON.stringify(a.received)).toContain(MAIL)
  expect(a.saw).toEqual(['private'])
  inner.say({ id, result: { content: [{ type: 'text', text: MAIL }] } })
  await settled()
  expectNothingOfA()
})
