// Ways around the gate, over the wire: every known form of a denied call and generated relatives, as
// HTTP bodies, to a server over stdio that writes down every byte it gets and to one over HTTP. No
// encoding of the denied call arrives, and the gate lives.

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  allCases,
  DENIED,
  DENIED_CALL,
  forms,
} from '../../packages/protocol/src/bypass-forms.test-support.ts'
import { type HttpFixture, serveHttp } from '../servers/http.ts'
import { serveGate } from '../support/own-gate.ts'
import { bytesTo, PlainClient } from '../support/plain-client.ts'
import { IS_FULL } from '../support/runs.ts'
import { endGates, fixture, type ServingGate } from '../support/start-gate.ts'

const POLICY = `
version: 1
default: allow
tools: { "*/delete_all": { action: deny, reason: no }, "*/env": deny }
`
const CALL =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{}}}'

let gate: ServingGate
let server: HttpFixture

beforeAll(async () => {
  server = await serveHttp()
  const servers = { office: fixture('office', './office.log'), desk: { url: server.url } }
  gate = await serveGate({ servers, policy: POLICY })
})
afterAll(async () => {
  await endGates()
  await server.close()
})

/** Lines as every kind of reader would split them; what each holds as a call. */
function deniedIn(bytes: string): string[] {
  return bytes.split(/[\n\r\u2028\u2029\u0085]/).filter((line) => {
    try {
      const message = JSON.parse(line)
      const all = Array.isArray(message) ? message : [message]
      return all.some(({ method, params }) => method === 'tools/call' && isDenied(params?.name))
    } catch {
      return /"(name|n\\u0061me)"\s*:\s*"delete_all"/i.test(line) && /^\s*[[{]/.test(line)
    }
  })
}

function isDenied(name: unknown): boolean {
  return name === 'delete_all' || name === 'env'
}

const put = (beside: string | RegExp, member: string): string =>
  CALL.replace(beside, (found) => `${found},${member}`)

describe('the known forms, and others by name', () => {
  test.each([
    ['plain', DENIED_CALL],
    ['a batch', `[${DENIED_CALL}]`],
    ['a batch with an allowed call', `[${CALL},${DENIED_CALL}]`],
    ['a batch in a batch', `[[${DENIED_CALL}]]`],
    ['"Name" beside "name"', put('"name":"read_file"', '"Name":"delete_all"')],
    ['a doubled key', put('"name":"read_file"', '"name":"delete_all"')],
    ['a doubled key, escaped', put('"name":"read_file"', '"n\\u0061me":"delete_all"')],
    ['a doubled "params"', put(/"params":.*(?=})/, `"params":${DENIED}`)],
    ['"METHOD" beside "method"', `{"METHOD":"tools/call","params":${DENIED},${CALL.slice(1)}`],
    ['arguments as an array', DENIED_CALL.replace('{"all":true}', '[true]')],
    ['"jsonrpc": 2.0', DENIED_CALL.replace('"2.0"', '2.0')],
    ['without an id', DENIED_CALL.replace('"id":9,', '')],
    ['with null for an id', DENIED_CALL.replace('9', 'null')],
    ['arguments that are a call on their own line', CALL.replace('{}', `\n${DENIED_CALL}\n`)],
    ['the same by a carriage return', CALL.replace('{}', `\r${DENIED_CALL}\r`)],
    ['deeper in the arguments', CALL.replace('{}', `{"a":\n${DENIED_CALL}\n}`)],
    ['in _meta, on its own line', put('"arguments":{}', `"_meta":\n${DENIED_CALL}\n`)],
    ['in an unknown member', put('"arguments":{}', `"x":\r\n${DENIED_CALL}\r\n`)],
    ['a name with an escape', DENIED_CALL.replace('delete_all', 'delete\\u005fall')],
    ['two messages', `${CALL}\n${DENIED_CALL}`],
    ['as a notification', DENIED_CALL.replace('tools/call', 'notifications/message')],
    [
      'in a string, behind a line separator',
      CALL.replace('{}', `{"a":"\u2028${DENIED_CALL.replaceAll('"', '\\"')}\u2028"}`),
    ],
  ])('%s', async (_, text) => {
    for (const revision of ['2025-11-25', '2025-03-26']) {
      const client = await PlainClient.open(gate, 'desk', revision)
      await client.post(text)
      await client.end()
    }
    const client = await PlainClient.open(gate, 'office')
    await client.post(text)
    await client.end()
    expectNothing()
  })

  test('the names that nearly are', async () => {
    const client = await PlainClient.open(gate, 'office')
    for (const name of ['DELETE_ALL', 'delete_all ', 'delete_all\u0000', 'office/delete_all'])
      expect((await client.call(name)).answer.error.message).toBe(`Unknown tool: ${name}`)
    for (const key of allCases('name')) {
      const text = CALL.replace('"name"', `${JSON.stringify(key)}:"delete_all","name"`)
      expect((await client.post(text)).status).toBe(400)
    }
    expectNothing()
  })
})

/** Each goes to two servers; packages/protocol/src/bypass.test.ts reads thousands. */
const FORMS = IS_FULL ? 1_500 : 150

test('generated forms', async () => {
  const office = await PlainClient.open(gate, 'office', '2025-03-26')
  const desk = await PlainClient.open(gate, 'desk', '2025-03-26')
  let taken = 0
  for (const text of fc.sample(forms(), { numRuns: FORMS, seed: 7 })) {
    const replies = await Promise.all([office.post(text), desk.post(text)])
    if (replies.some(({ status }) => status === 200)) taken++
    expect(replies.every(({ status }) => [200, 202, 400].includes(status))).toBe(true)
  }
  expect(taken).toBeGreaterThan(FORMS / 30)
  expectNothing()
  expect((await office.call('read_file', { path: 'x' })).answer.result).toBeDefined()
})

function expectNothing(): void {
  expect(deniedIn(bytesTo(gate.folder))).toEqual([])
  expect(server.seen.flatMap(({ body }) => deniedIn(body))).toEqual([])
}
