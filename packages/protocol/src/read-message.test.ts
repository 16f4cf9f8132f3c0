// Messages through the reader: what is accepted, with the texts that are kept, what is refused,
// with which code and id, and agreement with values written by JSON.stringify.

import { ExactNumber } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import { ERRORS, type WireErrorCode } from './json/errors.ts'
import { BATCH_MESSAGES_MAX, ID_LENGTH_MAX, METHOD_LENGTH_MAX } from './json/limits.ts'
import type { JsonRpcMessage } from './message.ts'
import { readMessages } from './read-message.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}'

describe('accepted', () => {
  test('a call, with the exact text of each member of its params', () => {
    const source = `{ "jsonrpc": "2.0", "params": {"_meta":{ "progressToken":1.0 }, "b": [1,\n2],
      "name":"\\u0078", "arguments": {"n": 9007199254740993, "d":1.50} , "a":null}, "id":"7",
      "method":"tools\\/call" }`
    const message = one(`\n${source}\t `)
    if (message.kind !== 'request') throw new Error('not a request')
    expect(message).toMatchObject({ id: '7', method: 'tools/call', source })
    expect(message.params?.value).toStrictEqual({
      _meta: { progressToken: 1 },
      b: [1, 2],
      name: 'x',
      arguments: { n: new ExactNumber('9007199254740993'), d: 1.5 },
      a: null,
    })
    expect([...(message.params?.text ?? [])]).toEqual([
      ['_meta', '{ "progressToken":1.0 }'],
      ['b', '[1,\n2]'],
      ['name', '"\\u0078"'],
      ['arguments', '{"n": 9007199254740993, "d":1.50}'],
      ['a', 'null'],
    ])
  })

  test.each<[string, Partial<JsonRpcMessage>]>([
    ['{"jsonrpc":"2.0","id":0,"method":"ping"}', { kind: 'request', id: 0, params: undefined }],
    ['{"jsonrpc":"2.0","id":-0,"method":"ping"}', { kind: 'request', id: 0 }],
    ['{"jsonrpc":"2.0","id":"","method":"ping"}', { kind: 'request', id: '' }],
    ['{"jsonrpc":"2.0","id":1.0,"method":"ping"}', { kind: 'request', id: 1 }],
    ['{"jsonrpc":"2.0","id":-9007199254740991,"method":"a"}', { id: -9007199254740991 }],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', { kind: 'notification' }],
    ['{"jsonrpc":"2.0","id":1,"result":{"a": 1.50}}', { kind: 'answer', result: '{"a": 1.50}' }],
    ['{"result" : null ,"jsonrpc":"2.0","id":"a"}', { id: 'a', result: 'null', error: undefined }],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[1e-400],"more":1}}',
      { result: undefined, error: { code: -1, message: 'm', data: [new ExactNumber('1e-400')] } },
    ],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}', { kind: 'answer', id: null }],
    ['{"jsonrpc":"2.0","error":{"code":1,"message":"","data":null}}', { id: null }],
  ])('%s', (text, expected) => {
    expect(one(text)).toMatchObject(expected)
  })

  test('a member called __proto__ is a member', () => {
    const message = one('{"jsonrpc":"2.0","id":1,"method":"a","params":{"__proto__":{"name":1}}}')
    const params = message.kind === 'request' ? message.params : undefined
    expect(params?.text.get('__proto__')).toBe('{"name":1}')
    expect(Object.getPrototypeOf(params?.value)).toBe(Object.prototype)
  })

  test('a batch, each message separately', () => {
    const reading = readMessages(` [ ${CALL} , {"jsonrpc":"2.0","id":2,"method":"ping"}]`, {
      batches: true,
    })
    expect(reading).toMatchObject({ ok: true, batch: true })
    const messages = reading.ok ? reading.messages : []
    expect(messages.map(({ source }) => source)).toEqual([
      CALL,
      '{"jsonrpc":"2.0","id":2,"method":"ping"}',
    ])
    expect(readMessages(CALL, { batches: true })).toMatchObject({ ok: true, batch: false })
  })

  test('whatever JSON.stringify writes, with members that parse to their values', () => {
    const params = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 })
    const id = fc.oneof(fc.maxSafeInteger(), fc.string({ maxLength: 20 }))
    fc.assert(
      fc.property(id, fc.string({ maxLength: 20 }), params, (anId, method, members) => {
        const text = JSON.stringify({ jsonrpc: '2.0', id: anId, method, params: members })
        const reading = readMessages(text, { batches: false })
        if (!reading.ok) return expect(['WIRE_CASE_TWIN', 'WIRE_PARAMS']).toContain(reading.code)
        const [message] = reading.messages
        if (message?.kind !== 'request') throw new Error('not a request')
        const { text: texts } = message.params!
        const parsed = [...texts].map(([key, part]) => [key, JSON.parse(part)])
        expect(Object.fromEntries(parsed)).toEqual(JSON.parse(text).params)
        expect([message.id, message.method]).toEqual([anId, method])
      }),
      runs(2_000),
    )
  })
})

const P = '"jsonrpc":"2.0"'
const REFUSED: [WireErrorCode, string][] = [
  ...table('WIRE_SYNTAX', ['', '{', `{${P},}`, `${CALL}${CALL}`, `\ufeff${CALL}`, 'x', '\u0085']),
  ...table('WIRE_ENVELOPE', ['1', '"a"', 'null', 'true']),
  ...table('WIRE_VERSION', ['{}', '{"id":1,"method":"ping"}', '{"jsonrpc":2.0,"id":1}']),
  ...table('WIRE_VERSION', ['{"jsonrpc":"2"}', '{"jsonrpc":"2.00"}', '{"jsonrpc":["2.0"]}']),
  ...table('WIRE_VERSION', ['{"jsonrpc":null}', '{"jsonrpc":"1.0"}', '{"jsonrpc":{}}']),
  ...['null', '1.5', '9007199254740992', '9007199254740993', '1e-400', 'true', '[1]', '{}'].flatMap(
    (id) => table('WIRE_ID', [`{${P},"id":${id},"method":"ping"}`]),
  ),
  ...table('WIRE_ID', [`{${P},"id":"${'i'.repeat(ID_LENGTH_MAX + 1)}","method":"ping"}`]),
  ...table('WIRE_ID', [`{${P},"result":{}}`, `{${P},"id":null,"result":{}}`]),
  ...['1', 'null', '["ping"]', '{}', `"${'m'.repeat(METHOD_LENGTH_MAX + 1)}"`].flatMap((method) =>
    table('WIRE_METHOD', [`{${P},"id":1,"method":${method}}`]),
  ),
  ...table('WIRE_METHOD', [`{${P},"method":"ping"}`, CALL.replace('"id":1,', '')]),
  ...['[]', 'null', '"a"', '1', '[{"name":"x"}]'].flatMap((params) =>
    table('WIRE_PARAMS', [
      `{${P},"id":1,"method":"tools/call","params":${params}}`,
      `{${P},"id":1,"method":"ping","params":${params}}`,
    ]),
  ),
  ...['{}', '{"name":1}', '{"name":null}', '{"name":["x"]}', '{"arguments":{}}'].flatMap((params) =>
    ['tools/call', 'prompts/get'].flatMap((method) =>
      table('WIRE_PARAMS', [`{${P},"id":1,"method":"${method}","params":${params}}`]),
    ),
  ),
  ...['[]', '"{}"', 'null', '1', '[{}]'].flatMap((args) =>
    table('WIRE_PARAMS', [CALL.replace('"arguments":{}', `"arguments":${args}`)]),
  ),
  ...table('WIRE_PARAMS', [`{${P},"id":1,"method":"tools/call"}`]),
  ...table('WIRE_PARAMS', [`{${P},"id":1,"method":"resources/read","params":{"uri":["a"]}}`]),
  ...table('WIRE_PARAMS', [`{${P},"id":1,"method":"completion/complete","params":{"ref":[]}}`]),
  ...table('WIRE_PARAMS', [`{${P},"id":1,"method":"ping","params":{"_meta":[]}}`]),
  ...table('WIRE_ENVELOPE', [`{${P},"id":1}`, `{${P}}`, `{${P},"id":1,"result":1,"extra":1}`]),
  ...table('WIRE_ENVELOPE', [`{${P},"id":1,"method":"ping","result":{}}`]),
  ...table('WIRE_ENVELOPE', [`{${P},"id":1,"method":"a","error":{"code":1,"message":""}}`]),
  ...table('WIRE_ENVELOPE', [`{${P},"id":1,"result":{},"error":{"code":1,"message":""}}`]),
  ...table('WIRE_ENVELOPE', [`{${P},"id":1,"result":{},"error":null}`]),
  ...table('WIRE_ENVELOPE', [`{${P},"id":1,"result":{},"params":{}}`, `{${P},"__proto__":{}}`]),
  ...['null', '{}', '[]', '"a"', '{"code":1}', '{"code":"1","message":""}'].flatMap((error) =>
    table('WIRE_ENVELOPE', [`{${P},"id":1,"error":${error}}`]),
  ),
  ...table('WIRE_ENVELOPE', [`{${P},"id":1,"error":{"code":1.5,"message":""}}`]),
  ...table('WIRE_CASE_TWIN', [`{${P},"id":1,"error":{"code":1,"message":"","Message":""}}`]),
  ...table('WIRE_DOUBLED_KEY', [`{${P},"id":1,"result":{"a":{"b":1,"b":2}}}`]),
  ...table('WIRE_BATCH', ['[]', '[[]]', `[${CALL}]`, ` [${CALL}]`]),
]

describe('refused', () => {
  test.each(REFUSED)('%s: %s', (code, text) => {
    const reading = readMessages(text, { batches: false })
    expect(reading).toMatchObject({ ok: false, code })
    if (reading.ok) return
    expect(ERRORS).toHaveProperty(reading.code)
    expect(reading.offset).toBeLessThanOrEqual(text.length)
    expect(reading.message).toMatch(/^[a-z`][^\p{Cc}]*[^.]$/u)
  })

  test.each<[WireErrorCode, string]>([
    ['WIRE_BATCH', '[]'],
    ['WIRE_BATCH', ' [ ] '],
    ['WIRE_BATCH', `[[${CALL}]]`],
    ['WIRE_BATCH', `[${CALL},[]]`],
    ['WIRE_ENVELOPE', `[${CALL},1]`],
    ['WIRE_VERSION', `[${CALL},{}]`],
    ['WIRE_SYNTAX', `[${CALL},]`],
    ['WIRE_SYNTAX', `[${CALL}`],
    ['WIRE_DOUBLED_KEY', `[${CALL},{"a":1,"a":1}]`.replace('"a":1,"a"', '"id":1,"id"')],
    ['WIRE_BATCH', `[${Array(BATCH_MESSAGES_MAX + 1).fill(CALL)}]`],
  ])('%s where batches are taken: %.80s', (code, text) => {
    expect(readMessages(text, { batches: true })).toMatchObject({ ok: false, code, id: null })
  })

  test('a batch at its bound is accepted', () => {
    const text = `[${Array(BATCH_MESSAGES_MAX).fill(CALL)}]`
    expect(readMessages(text, { batches: true }).ok).toBe(true)
  })

  test.each([
    [`{${P},"id":7,"method":"ping","extra":1}`, 7],
    [`{"extra":1,${P},"id":"x","method":"ping"}`, 'x'],
    [`{"result":{"a":1,"a":2},${P},"id":7}`, 7],
    [`{${P},"method":"ping","params":[],"id":7}`, 7],
    [`{${P},"id":7.5,"method":"ping"}`, null],
    [`{${P},"id":{},"method":"ping"}`, null],
    [`{${P},"method":"ping","id":7`, null],
    [`{${P},"method":"ping","__proto__":{"id":7}}`, null],
    ['{"method":"ping"}', null],
    ['[{"id":7}]', null],
  ])('%s: the id to answer is %j', (text, id) => {
    expect(readMessages(text, { batches: false })).toMatchObject({ ok: false, id })
  })

  test.each([
    [`{${P},"id":1,"Method":"ping"}`, '`Method` equals `method` but for case', 24],
    [`{${P},"extra":1}`, 'no member `extra`', 17],
    [`{${P}, "id" : 1.5}`, '`id` must be', 25],
    [CALL.replace('"x"', '1'), '`params.name` of `tools/call` must be a string', 55],
  ])('%s says where', (text, words, offset) => {
    const reading = readMessages(text, { batches: false })
    expect(reading).toMatchObject({ ok: false, offset })
    expect(reading.ok || reading.message).toContain(words)
  })

  test('limits hold, and a text that is too long still reports its id', () => {
    const reading = readMessages(CALL, { batches: false, limits: { lengthMax: 20 } })
    expect(reading).toMatchObject({ ok: false, code: 'WIRE_SIZE', id: 1 })
    const deep = CALL.replace('{}}', `{"a":${'['.repeat(70)}${']'.repeat(70)}}}`)
    expect(readMessages(deep, { batches: false })).toMatchObject({ code: 'WIRE_DEPTH', id: 1 })
  })
})

function table(code: WireErrorCode, texts: string[]): [WireErrorCode, string][] {
  return texts.map((text) => [code, text])
}

function one(text: string): JsonRpcMessage {
  const reading = readMessages(text, { batches: false })
  if (!reading.ok) throw new Error(`${reading.code} at ${reading.offset}: ${reading.message}`)
  return reading.messages[0]!
}
