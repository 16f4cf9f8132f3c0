// Which protocol generation a request belongs to, and what it lacks for that.

import { describe, expect, test } from 'vitest'
import type { JsonRpcRequest } from './message.ts'
import {
  belongsTo,
  checkStatelessMeta,
  getMeta,
  getVersion,
  META,
  STATELESS_REVISION,
} from './protocol-generation.ts'
import { readMessages } from './read-message.ts'
import { negotiateRevision, SESSION_REVISIONS } from './revisions.ts'

function request(meta: unknown, method = 'tools/list'): JsonRpcRequest {
  const message = { jsonrpc: '2.0', id: 1, method, params: { _meta: meta } }
  const read = readMessages(JSON.stringify(message), { batches: false })
  if (!read.ok) throw new Error(read.message)
  return read.messages[0] as JsonRpcRequest
}

describe('a request', () => {
  test("of the stateless generation states its version and the client's capabilities", () => {
    const whole = { [META.version]: STATELESS_REVISION, [META.capabilities]: {} }
    expect(checkStatelessMeta(request(whole))).toBeUndefined()
    expect(checkStatelessMeta(request({ ...whole, [META.version]: '2027-01-01' }))).toBe(
      'unsupported',
    )
    expect(checkStatelessMeta(request({ ...whole, [META.version]: '2025-11-25' }))).toBe(
      'unsupported',
    )
    expect(checkStatelessMeta(request({ ...whole, [META.version]: 7 }))).toBe('version')
    expect(checkStatelessMeta(request({ [META.version]: STATELESS_REVISION }))).toBe('capabilities')
    expect(checkStatelessMeta(request({ ...whole, [META.capabilities]: [] }))).toBe('capabilities')
    expect(getVersion(request({}))).toBeUndefined()
  })

  test.each(['protocolversion', 'ProtocolVersion', 'clientcapabilities'])(
    'whose mark is spelt in another case is refused by the reader: %s',
    (name) => {
      expect(() => request({ [`io.modelcontextprotocol/${name}`]: STATELESS_REVISION })).toThrow()
    },
  )

  test.each([null, 'x', [], 7])('has `_meta` that is an object: %j', (meta) => {
    expect(() => request(meta)).toThrow()
    expect(getMeta(undefined)).toEqual({})
  })
})

test('each generation has its own methods', () => {
  for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe'])
    expect([belongsTo('session', method), belongsTo('stateless', method)]).toEqual([true, false])
  for (const method of ['server/discover', 'subscriptions/listen', 'tasks/update'])
    expect([belongsTo('session', method), belongsTo('stateless', method)]).toEqual([false, true])
  expect([belongsTo('session', 'tools/call'), belongsTo('stateless', 'tools/call')]).toEqual([
    true,
    true,
  ])
})

test('a known revision is used, for any other the newest', () => {
  for (const revision of SESSION_REVISIONS) expect(negotiateRevision(revision)).toBe(revision)
  for (const other of [undefined, 7, STATELESS_REVISION, 'x'])
    expect(negotiateRevision(other)).toBe('2025-11-25')
})
