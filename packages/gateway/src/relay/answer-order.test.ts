// An answer is inspected before it is told, which may take turns of the event loop: what its server says
// next neither overtakes it nor escapes its labels, and nothing is sent twice or for a call that ended.

import { afterEach, describe, expect, test } from 'vitest'
import { settled } from '../upstream/scripted-link.test-support.ts'
import { type Play, playing } from './relay.test-support.ts'

const { play, endPlays } = playing()
afterEach(endPlays)

const CALL = { name: 'ask', arguments: {} }
const LABELS = 'default: allow\nlabels: { s/ask: [private] }'

async function call(options: Parameters<typeof play>[0] = {}, params: object = CALL) {
  const made = play({ generation: 'session', ...options })
  const id = await made.ask('tools/call', { ...params }, { meta: { progressToken: 'p' } })
  return { made, id, ours: made.server.last('tools/call').id }
}

function kinds(made: Play): (string | undefined)[] {
  return made.received.map(({ id, method }) => method ?? `answer to ${id}`)
}

describe('in one read of its server', () => {
  test('the news of a task follows the answer that made the task', async () => {
    const { made, id, ours } = await call({}, { ...CALL, task: {} })
    const task = { taskId: 'raw', status: 'working' }
    made.server.say({ id: ours, result: { task } })
    made.server.say({ method: 'notifications/tasks/status', params: task })
    await settled()
    expect(kinds(made)).toEqual([`answer to ${id}`, 'notifications/tasks/status'])
  })

  test('messages keep their order, whatever is between them', async () => {
    const { made, id, ours } = await call()
    const second = await made.ask('tools/call', CALL, { meta: { progressToken: 'q' } })
    const other = made.server.last('tools/call').id
    const progress = { progressToken: 'q', progress: 1 }
    made.server.say({ id: ours, result: { content: [] } })
    made.server.say({ method: 'notifications/progress', params: progress })
    made.server.say({ id: other, result: { content: [] } })
    await settled()
    const expected = [`answer to ${id}`, 'notifications/progress', `answer to ${second}`]
    expect(kinds(made)).toEqual(expected)
  })

  test('what follows an answer has its labels', async () => {
    const { made, ours } = await call({ rules: LABELS })
    const seen: string[][] = []
    made.received.push = (...messages) => {
      seen.push([...made.saw])
      return Array.prototype.push.apply(made.received, messages)
    }
    made.server.say({ id: ours, result: { content: [] } })
    made.server.say({ method: 'notifications/message', params: { level: 'info', data: 'mail' } })
    await settled()
    expect(seen).toEqual([['private'], ['private']])
  })

  test('a request of the server under the id of an open call is another request', async () => {
    const { made, id, ours } = await call()
    made.server.say({ id: ours, method: 'ping' })
    await settled()
    const [asked] = made.received
    expect(asked).toMatchObject({ method: 'ping' })
    expect([id, ours]).not.toContain(asked?.id)
    made.tell({ id: asked?.id, result: {} })
    await settled()
    expect(made.server.sent.at(-1)).toEqual({ jsonrpc: '2.0', id: ours, result: {} })
    made.server.say({ id: ours, result: { content: [] } })
    await settled()
    expect(made.to(id).result).toEqual({ content: [] })
  })

  test('a second answer, or a failure after one, is told to nobody', async () => {
    const { made, id, ours } = await call()
    made.server.say({ id: ours, result: { content: [] } })
    made.server.say({ id: ours, result: { content: [], twice: true } })
    made.server.fail(ours)
    await settled()
    expect(kinds(made)).toEqual([`answer to ${id}`])
    expect(made.outcomes).toMatchObject([{ status: 'answered' }])
    expect(made.log.join()).toContain('to no open request')
  })

  test('an answer that is being inspected is not told after a cancellation or a freeze', async () => {
    const cancelled = await call()
    cancelled.made.server.say({ id: cancelled.ours, result: { content: [] } })
    const params = { requestId: cancelled.id }
    cancelled.made.tell({ method: 'notifications/cancelled', params })
    await settled()
    expect(cancelled.made.received).toEqual([])
    // Its server has answered, and need not be told.
    expect(cancelled.made.server.all('notifications/cancelled')).toEqual([])
    const frozen = await call()
    frozen.made.server.say({ id: frozen.ours, result: { content: [] } })
    frozen.made.relay.interrupt({ scope: 'all', id: '', atMs: 0, why: '' })
    await settled()
    expect(frozen.made.received).toHaveLength(1)
    expect(frozen.made.to(frozen.id).error?.message).toContain('frozen')
  })
})

test('a cancelled call does not go on under the id of a later one', async () => {
  const made = play({ generation: 'session', isSlow: true })
  const ask = (name: string) =>
    made.tell({ id: 'same', method: 'tools/call', params: { name, arguments: {} } })
  ask('ask')
  made.tell({ method: 'notifications/cancelled', params: { requestId: 'same' } })
  ask('other')
  for (let times = 0; times < 4; times++) await settled()
  expect(made.server.all('tools/call').map(({ params }) => params.name)).toEqual(['other'])
  await made.answer('tools/call', { content: [] })
  expect(kinds(made)).toEqual(['answer to same'])
})
