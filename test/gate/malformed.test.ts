// JSON that readers disagree about, as the arguments of an allowed call, over the wire: what is no
// JSON, or what two readers would read as two values, is refused and nothing of it arrives; what is
// JSON arrives as it was written. To a server over stdio and to one over HTTP.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpFixture, serveHttp } from '../servers/http.ts'
import { serveGate } from '../support/own-gate.ts'
import { bytesTo, PlainClient } from '../support/plain-client.ts'
import { endGates, fixture, type ServingGate, until } from '../support/start-gate.ts'

const bytes = (...codes: number[]): Buffer => Buffer.from(codes)

/** Refused wherever a value may stand. */
const REFUSED: (string | Buffer)[] = [
  // Punctuation.
  '',
  ',',
  ':',
  '[',
  ']',
  '{',
  '}',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[1 2]',
  '[1',
  '{"a":1,}',
  '{,}',
  '{"a"}',
  '{"a":}',
  '{:1}',
  '{a:1}',
  "{'a':1}",
  '{"a" 1}',
  '{"a":1 "b":2}',
  '{"a":1',
  '{1:1}',

  '{"a":1;"b":2}',
  '[1}',
  '{"a":1]',
  '{"a":1}}',
  '[1]]',
  '1 2',
  '{} {}',
  '[][]',
  '(1)',
  '<null>',
  // Words.
  'nul',
  'nulll',
  'Null',
  'NULL',
  'True',
  'TRUE',
  'tru',
  'fals',
  'undefined',
  'NaN',
  'nan',
  'Infinity',
  '-Infinity',
  '+Infinity',
  'inf',
  'None',
  'yes',
  'new Date()',
  '/a/',
  '`a`',
  // Numbers.

  '01',
  '-01',
  '00',
  '1.',
  '.1',
  '-.1',
  '-',
  '+1',
  '--1',
  '1e',
  '1e+',
  '1e1.0',
  '1.e1',
  '1E',
  '0x1',
  '0b1',
  '0o7',
  '1_000',
  '1,5',
  '1f',
  '1n',
  '1e400',
  '-1e400',
  '1e99999',
  '١',
  '１',
  '1 000',
  // Strings.

  '"',
  '"a',
  "'a'",
  '"\\"',
  '"\\x41"',
  '"\\u"',
  '"\\u00"',
  '"\\u00g0"',
  '"\\U0041"',
  '"\\a"',
  '"\\0"',

  '"\\\'"',
  '"\n"',
  '"\t"',
  '"\r"',
  '"\u0000"',
  '"\u001f"',
  '"\\ud800"',
  '"\\udc00"',
  '"\\ud800\\ud800"',
  '"\\ud800a"',
  '"\\udc00\\ud800"',
  '"a""b"',
  '"a"b',
  '“a”',
  // Comments and other languages.
  '/**/1',
  '1//a',
  '1#a',
  '//\n1',
  '{"a":1/*b*/}',
  '<!--1-->',
  '1;',
  '=1',
  '$1',
  '{{}}',
  // White space that is none.

  '\u00a01',
  '\u20281',
  '\u20291',
  '\u00851',
  '\u200b1',
  '\f1',
  '\v1',
  '\ufeff1',
  '1\0',
  '\u30001',
  // Doubled keys, near and far, however written.
  '{"a":1,"a":2}',
  '{"a":1,"\\u0061":2}',
  '{"a":{"b":1,"b":1}}',
  '[{"":1,"":2}]',
  // Depth.
  '['.repeat(2_000),
  '['.repeat(2_000) + ']'.repeat(2_000),
  '{"a":'.repeat(2_000),
  // Bytes that are no UTF-8.
  bytes(0x22, 0xff, 0x22),
  bytes(0x22, 0xc3, 0x22),
  bytes(0x22, 0xc0, 0xaf, 0x22),
  bytes(0x22, 0xe0, 0x80, 0xaf, 0x22),
  bytes(0x22, 0xed, 0xa0, 0x80, 0x22),
  bytes(0x22, 0xf4, 0x90, 0x80, 0x80, 0x22),
  bytes(0x22, 0xf8, 0x88, 0x80, 0x80, 0x80, 0x22),
  bytes(0x80),
  Buffer.from('1', 'utf16le'),
]

/** Taken, and sent on as written. */
const TAKEN: string[] = [
  '{}',
  '[]',
  '""',
  '0',
  '-0',
  '0.0',
  '1e5',
  '1E+5',
  '1e-5',
  '-1.5e-10',
  '123456789012345678901234',
  '1.000000000000000000001',
  '9007199254740993',
  '0.1e1',
  '1e-400',
  'null',
  'true',
  'false',

  '"\\u0041\\u0000"',
  '"\\/\\b\\f\\n\\r\\t\\"\\\\"',
  '"\\ud83d\\ude00"',
  '"\u{1f600}"',
  '"\u007f"',

  '"é"',
  '"e\u0301"',
  '"\ufeff"',
  '"\uffff"',
  '"\u{10ffff}"',
  '[[[[[[1]]]]]]',
  '{"":0}',
  '{"a":{"a":1}}',
  '{"constructor":1}',
  '[1,"a",null,true,{}]',
  '"<script>"',
]

let gate: ServingGate
let server: HttpFixture
let office: PlainClient
let desk: PlainClient

beforeAll(async () => {
  server = await serveHttp()
  const servers = { desk: { url: server.url }, office: fixture('office', './office.log') }
  gate = await serveGate({ servers })
  ;[office, desk] = await Promise.all([
    PlainClient.open(gate, 'office'),
    PlainClient.open(gate, 'desk'),
  ])
  // Both servers have listed, and what belongs to the beginning of a session has come.
  await Promise.all([office.ask('tools/list'), desk.ask('tools/list')])
  await until(() => server.seen.some(({ method }) => method === 'GET'))
  await until(() => bytesTo(gate.folder).includes('notifications/initialized'))
})
afterAll(async () => {
  await endGates()
  await server.close()
})

/** A call whose arguments hold `value` between two marks. */
function call(tool: string, value: string | Buffer): Uint8Array<ArrayBuffer> {
  const before = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":{"mark":1,"v":`
  const middle = typeof value === 'string' ? Buffer.from(value) : value
  return new Uint8Array(Buffer.concat([Buffer.from(before), middle, Buffer.from(',"end":1}}}')]))
}

function nameOf(value: string | Buffer): string {
  const text = typeof value === 'string' ? value : value.toString('latin1')
  return JSON.stringify(text).slice(0, 60)
}

const came = (): number => bytesTo(gate.folder).length + server.bytes().length

test.each(['{"__proto__":1}', '{"constructor":{"prototype":1}}'])(
  'refused as a call, since it sets a prototype: %s',
  async (value) => {
    const before = came()
    const replies = await Promise.all([
      office.post(call('read_file', value)),
      desk.post(call('echo', value)),
    ])
    for (const { text } of replies) expect(text).toContain('sets a prototype and is not sent')
    expect(came()).toBe(before)
  },
)

describe('refused', () => {
  const named = REFUSED.map((value) => [nameOf(value), value] as const)

  test.each(named)('%s', async (_, value) => {
    const before = came()
    const replies = await Promise.all([
      office.post(call('read_file', value)),
      desk.post(call('echo', value)),
      // As the whole body as well.
      desk.post(typeof value === 'string' ? value : new Uint8Array(value)),
    ])
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 400])
    expect(replies.every(({ answer }) => answer.error.code < 0)).toBe(true)
    expect(came()).toBe(before)
  })
})

describe('taken, and sent as written', () => {
  test.each(TAKEN)('%s', async (value) => {
    const replies = await Promise.all([
      office.post(call('read_file', value)),
      desk.post(call('echo', value)),
    ])
    expect(replies.map(({ status, answer }) => [status, answer.result !== undefined])).toEqual([
      [200, true],
      [200, true],
    ])
    const sent = `"mark":1,"v":${value},"end":1`
    expect(bytesTo(gate.folder)).toContain(sent)
    expect(Buffer.from(server.bytes(), 'latin1').toString('utf8')).toContain(sent)
  })
})
