// What a client of the stateless generation hears of a server, through a relay: what it asked for, of its own
// call or subscription, and nothing that is another's.

import { META } from '@sluice/protocol/protocol-generation'
import { afterEach, describe, expect, test } from 'vitest'
import { LISTEN_RESOURCES_MAX } from '../shared/limits.ts'
import { settled } from '../upstream/scripted-link.test-support.ts'
import { type Play, playing } from './relay.test-support.ts'

const { play, endPlays } = playing()
afterEach(endPlays)

describe('a subscription', () => {
  const rules = 'default: allow\nresources: { "s/file:///secret*": deny }'
  const listen = (made: Play, notifications: object) =>
    made.ask('subscriptions/listen', { notifications })

  test('is only to what may be read, and to kinds the gate knows', async () => {
    const made = play({ rules })
    await listen(made, {
      toolsListChanged: true,
      taskIds: ['of another'],
      ResourceSubscriptions: ['file:///secret'],
      resourceSubscriptions: ['file:///secret', 'file:///plain', 7],
    })
    expect(made.server.last('subscriptions/listen').params.notifications).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['file:///plain'],
    })
  })

  test.each([
    ['a text', 'file:///secret'],
    ['an object', { 0: 'file:///secret' }],
    ['too many', Array.from({ length: LISTEN_RESOURCES_MAX + 1 }, (_, at) => `file:///${at}`)],
  ])('with a filter that is not a list does not pass: %s', async (_, uris) => {
    const made = play({ rules })
    const id = await listen(made, { resourceSubscriptions: uris })
    expect(made.to(id).error?.code).toBe(-32602)
    expect(made.server.all('subscriptions/listen')).toEqual([])
  })

  test('hears what it asked for, under its own id, and nothing else', async () => {
    const made = play()
    const one = await listen(made, { toolsListChanged: true })
    const first = made.server.last('subscriptions/listen').id
    const two = await listen(made, { promptsListChanged: true })
    const second = made.server.last('subscriptions/listen').id
    const _meta = (id: unknown) => ({ [META.subscription]: id })
    for (const id of [first, second]) {
      made.server.say({ method: 'notifications/tools/list_changed', params: { _meta: _meta(id) } })
      made.server.say({ method: 'notifications/message', params: { level: 'info', data: 'x' } })
      const uri = { uri: 'file:///a', _meta: _meta(id) }
      made.server.say({ method: 'notifications/resources/updated', params: uri })
      made.server.say({ method: 'notifications/progress', params: { progressToken: id } })
    }
    await settled()
    expect(made.received).toMatchObject([
      { method: 'notifications/tools/list_changed', params: { _meta: _meta(one) } },
    ])
    made.relay.tellListsChanged()
    expect(made.received).toHaveLength(1)
    made.client.revision = '2026-07-28'
    made.relay.tellListsChanged()
    expect(made.received.slice(1).map(({ method, on }) => [method, on?.request])).toEqual([
      ['notifications/tools/list_changed', one],
      ['notifications/prompts/list_changed', two],
    ])
  })

  test('that the server ends is over for the client, and no other request is', async () => {
    const made = play()
    const id = await listen(made, { toolsListChanged: true })
    const call = await made.ask('tools/call', { name: 'ask', arguments: {} })
    for (const method of ['subscriptions/listen', 'tools/call'])
      made.server.say({
        method: 'notifications/cancelled',
        params: { requestId: made.server.last(method).id },
      })
    await settled()
    expect(made.to(id).result).toEqual({ resultType: 'complete' })
    expect(() => made.to(call)).toThrow()
  })

  test('keeps nobody waiting when the gate stops', async () => {
    const made = play()
    await listen(made, { toolsListChanged: true })
    expect(made.relay.openRequests).toBe(0)
    await made.ask('tools/call', { name: 'ask', arguments: {} })
    expect(made.relay.openRequests).toBe(1)
  })
})

describe('what is said on the way of a call', () => {
  test('reaches the one who asked: progress by token, logs by wish', async () => {
    const made = play()
    const call = (meta: object) => made.ask('tools/call', { name: 'ask', arguments: {} }, { meta })
    const [one, two] = [
      await call({ progressToken: 'same' }),
      await call({ progressToken: 'same' }),
    ]
    const plain = await call({})
    const logs = await call({ [META.logLevel]: 'info' })
    const ids = made.server.all('tools/call').map(({ id }) => id)
    for (const progressToken of [ids[1], ids[0], ids[2], 'same', null])
      made.server.say({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    for (const id of ids)
      made.server.say(
        { method: 'notifications/message', params: { level: 'info', data: id } },
        { request: id ?? 0 },
      )
    await settled()
    expect(
      made.received.map(({ method, params, on }) => [method, params.data, on?.request]),
    ).toEqual([
      ['notifications/progress', undefined, two],
      ['notifications/progress', undefined, one],
      ['notifications/message', ids[3], logs],
    ])
    expect(made.received.every(({ params }) => params.progressToken !== null)).toBe(true)
    expect(plain).toBeDefined()
  })
})
