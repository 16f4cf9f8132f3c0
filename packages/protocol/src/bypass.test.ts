// Ways to bypass a gate: the seven known forms by name, variants by generation. For any text that
// the reader accepts, no peer, however lenient, sees a different call in it, nor in what is
// forwarded.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rounds, runs } from '../../../test/support/runs.ts'
import { allCases, DENIED, DENIED_CALL, forms } from './bypass-forms.test-support.ts'
import { canonical, LINE_PEERS, PEERS, type Seen } from './lenient-peers.test-support.ts'
import type { JsonRpcMessage } from './message.ts'
import { readMessages } from './read-message.ts'
import { oneLine, writeNotification, writeRequest } from './write-message.ts'

const CALL =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}'
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

describe('the known forms', () => {
  test.each([
    ['first form: a JSON-RPC batch', 'WIRE_BATCH', `[${DENIED_CALL}]`],
    ['first form: a batch inside a batch', 'WIRE_BATCH', `[[${DENIED_CALL}]]`],
    [
      'second form: "Name" beside "name"',
      'WIRE_CASE_TWIN',
      put('"name":"read"', '"Name":"delete_all"'),
    ],
    [
      'second form: "ARGUMENTS"',
      'WIRE_CASE_TWIN',
      put('"arguments":{}', '"ARGUMENTS":{"all":true}'),
    ],
    [
      'second form: the long s',
      'WIRE_CASE_TWIN',
      put('"arguments":{}', '"argumentſ":{"all":true}'),
    ],
    ['third form: a doubled key', 'WIRE_DOUBLED_KEY', put('"name":"read"', '"name":"delete_all"')],
    [
      'third form: doubled by an escape',
      'WIRE_DOUBLED_KEY',
      put('"name":"read"', '"n\\u0061me":"delete_all"'),
    ],
    [
      'third form: doubled params',
      'WIRE_DOUBLED_KEY',
      put(/"params":.*(?=})/, `"params":${DENIED}`),
    ],
    [
      'third form: doubled deep in arguments',
      'WIRE_DOUBLED_KEY',
      CALL.replace('{}', '{"a":[{"b":1,"b":2}]}'),
    ],
    [
      'fourth form: "METHOD" beside "method"',
      'WIRE_CASE_TWIN',
      `{"METHOD":"tools/call","params":${DENIED},${PING.slice(1)}`,
    ],
    ['fourth form: "Params" alone', 'WIRE_CASE_TWIN', DENIED_CALL.replace('"params"', '"Params"')],
    ['fourth form: "Method" alone', 'WIRE_CASE_TWIN', DENIED_CALL.replace('"method"', '"Method"')],
    [
      'fourth form: "paramſ" beside "params"',
      'WIRE_CASE_TWIN',
      put(/"params":.*(?=})/, `"paramſ":${DENIED}`),
    ],
    [
      'fifth form: arguments as an array',
      'WIRE_PARAMS',
      DENIED_CALL.replace('{"all":true}', '["all",true]'),
    ],
    ['fifth form: params as an array', 'WIRE_PARAMS', DENIED_CALL.replace(DENIED, `[${DENIED}]`)],
    [
      'fifth form: arguments as a string',
      'WIRE_PARAMS',
      DENIED_CALL.replace('{"all":true}', '"{\\"all\\":true}"'),
    ],
    [
      'fifth form: name as an array',
      'WIRE_PARAMS',
      DENIED_CALL.replace('"delete_all"', '["delete_all"]'),
    ],
    ['sixth form: "jsonrpc": 2.0', 'WIRE_VERSION', DENIED_CALL.replace('"2.0"', '2.0')],
    ['sixth form: "jsonrpc": 2', 'WIRE_VERSION', DENIED_CALL.replace('"2.0"', '2')],
    ['sixth form: no jsonrpc', 'WIRE_VERSION', DENIED_CALL.replace('"jsonrpc":"2.0",', '')],
    ['a call without an id', 'WIRE_METHOD', DENIED_CALL.replace('"id":9,', '')],
    ['a call with null for an id', 'WIRE_ID', DENIED_CALL.replace('"id":9', '"id":null')],
    [
      'a call that looks like an answer',
      'WIRE_ENVELOPE',
      DENIED_CALL.replace('"id":9', '"id":9,"result":{}'),
    ],
    ['two calls in one text', 'WIRE_SYNTAX', `${CALL}\n${DENIED_CALL}`],
    ['two calls with a separator', 'WIRE_SYNTAX', `${CALL}\u2028${DENIED_CALL}`],
    ['a byte order mark', 'WIRE_SYNTAX', `\ufeff${DENIED_CALL}`],
    ['a NUL behind the message', 'WIRE_SYNTAX', `${CALL}\0${DENIED_CALL}`],
    ['a comment', 'WIRE_SYNTAX', `${CALL}//\n${DENIED_CALL}`],
  ])('%s', (_, code, text) => {
    expect(readMessages(text, { batches: false })).toMatchObject({ ok: false, code })
  })

  test.each(['\n', '\r', '\r\n', '\n\n \t'])(
    'seventh form: arguments that are a call on a line of their own, by %j',
    (lineBreak) => {
      const text = CALL.replace('{}', `${lineBreak}${DENIED_CALL}${lineBreak}`)
      expectSame(text)
      expect([...LINE_PEERS.values()][0]?.(text)).toEqual([
        seen('tools/call', 'delete_all', '{"all":true}'),
      ])
    },
  )

  test.each(['\u2028', '\u2029', '\u0085'])('seventh form: in a string, by %j', (separator) => {
    const inner = DENIED_CALL.replaceAll('"', '\\"')
    expectSame(CALL.replace('{}', `{"a":"${separator}${inner}${separator}"}`))
    // In a key, in a member unknown to the gate, and in an id.
    expectSame(CALL.replace('{}', `{"${separator}":1}`))
    expectSame(CALL.replace('"name"', `"x":["${separator}"],"${separator}y":1,"name"`))
    expectSame(CALL.replace('"id":1', `"id":"${separator}"`))
  })

  test('a batch is each of its calls, if the revision has batches', () => {
    const reading = readMessages(`[${CALL},${DENIED_CALL}]`, { batches: true })
    expect(reading.ok && reading.messages.map(seenBy)).toEqual([
      seen('tools/call', 'read', '{}'),
      seen('tools/call', 'delete_all', '{"all":true}'),
    ])
    expect(readMessages(`[${CALL},[${DENIED_CALL}]]`, { batches: true })).toMatchObject({
      ok: false,
    })
  })
})

describe('variants', () => {
  const envelopeKeys = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']
  const paramsKeys = ['name', 'arguments', '_meta', 'task', 'uri', 'cursor', 'requestState']

  test.each([...envelopeKeys, ...paramsKeys])('every case of %s next to it or alone', (key) => {
    const variants = allCases(key)
    expect(variants.size).toBeGreaterThanOrEqual(3)
    for (const variant of variants) {
      const member = `${JSON.stringify(variant)}:${DENIED}`
      const isEnvelope = envelopeKeys.includes(key)
      const text = isEnvelope
        ? `{${member},${CALL.slice(1)}`
        : CALL.replace('"params":{', `"params":{${member},`)
      const alone = CALL.replace(`"${key}"`, JSON.stringify(variant))
      for (const form of alone === CALL ? [text] : [text, alone])
        expect(readMessages(form, { batches: true })).toMatchObject({ code: 'WIRE_CASE_TWIN' })
    }
  })

  test('no peer sees a different call in what is accepted', () => {
    let taken = 0
    let refused = 0
    fc.assert(
      fc.property(forms(), (text) => {
        if (expectSame(text)) taken++
        else refused++
      }),
      runs(10_000),
    )
    const tenth = rounds(1_000)
    expect(taken).toBeGreaterThan(tenth)
    expect(refused).toBeGreaterThan(tenth)
  })
})

/** False if the reader refuses. */
function expectSame(text: string): boolean {
  const reading = readMessages(text, { batches: true })
  if (!reading.ok) return false
  const expected = reading.messages.filter((message) => message.kind !== 'answer').map(seenBy)
  for (const [name, peer] of PEERS) expect([name, peer(text)]).toEqual([name, expected])
  const sent = reading.messages.map(sentOn)
  for (const [name, peer] of [...PEERS, ...LINE_PEERS]) {
    expect([name, sent.flatMap(peer)]).toEqual([name, expected])
    // Joined by line breaks, as a stream would be.
    if (LINE_PEERS.has(name)) expect([name, peer(sent.join('\n'))]).toEqual([name, expected])
  }
  for (const message of reading.messages)
    for (const [name, peer] of LINE_PEERS)
      expect([name, peer(oneLine(message.source))]).toEqual([
        name,
        message.kind === 'answer' ? [] : [seenBy(message)],
      ])
  return true
}

function sentOn(message: JsonRpcMessage): string {
  if (message.kind === 'answer') return oneLine(message.source)
  const { method, params } = message
  return oneLine(
    message.kind === 'request'
      ? writeRequest(message.id, method, params?.text)
      : writeNotification(method, params?.text),
  )
}

/** What the reader returns: the method and the name by value, arguments by text. */
function seenBy(message: JsonRpcMessage): Seen {
  if (message.kind === 'answer') throw new Error('no call')
  const { value, text } = message.params ?? { value: {}, text: new Map<string, string>() }
  return {
    method: JSON.stringify(message.method),
    name: typeof value.name === 'string' ? JSON.stringify(value.name) : canonical(text.get('name')),
    args: canonical(text.get('arguments')),
  }
}

function seen(method: string, name: string, args: string): Seen {
  return { method: JSON.stringify(method), name: JSON.stringify(name), args }
}

/** The call with one more member next to the named one. */
function put(beside: string | RegExp, member: string): string {
  return CALL.replace(beside, (found) => `${found},${member}`)
}
