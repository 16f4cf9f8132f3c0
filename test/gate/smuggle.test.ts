// Requests that two readers of HTTP would take for two different things, by the byte: a denied call
// hidden where one of them might look. The servers write down every byte they get: nothing of it
// arrives, neither as a call nor at all, and the gate lives.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpFixture, serveHttp } from '../servers/http.ts'
import { serveGate } from '../support/own-gate.ts'
import { bytesTo, PlainClient } from '../support/plain-client.ts'
import { sendRaw } from '../support/raw-http.ts'
import { endGates, fixture, type ServingGate } from '../support/start-gate.ts'

const POLICY = `
version: 1
default: allow
tools: { office/delete_all: deny, desk/env: deny }
`
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
/** In every call that must not arrive. */
const MARK = 'smuggled'
const CHUNKED = 'transfer-encoding: chunked'
const SERVERS = ['desk', 'office'] as const

let gate: ServingGate
let server: HttpFixture
const sessions = new Map<string, PlainClient>()

beforeAll(async () => {
  server = await serveHttp()
  const servers = { desk: { url: server.url }, office: fixture('office', './office.log') }
  gate = await serveGate({ servers, policy: POLICY })
  for (const name of SERVERS) sessions.set(name, await PlainClient.open(gate, name))
})
afterAll(async () => {
  await endGates()
  await server.close()
})

const chunk = (body: string): string => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`
const length = (body: string): string => `content-length: ${Buffer.byteLength(body)}`

/** The lines of a request's head, without its framing. */
function head(name: string, ...more: string[]): string[] {
  const session = sessions.get(name)?.session
  return [
    `POST /mcp/${name} HTTP/1.1`,
    `host: ${new URL(gate.url).host}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    `mcp-session-id: ${session}`,
    ...more,
  ]
}

const join = (lines: string[], body: string, end = '\r\n'): string => [...lines, '', body].join(end)

function callOf(tool: string, mark: string): string {
  const params = { name: tool, arguments: { mark } }
  return JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params })
}

/** A call that the policy denies. */
const denied = (name: string): string => callOf(name === 'desk' ? 'env' : 'delete_all', MARK)

/** It as a whole request, the last of its connection. */
const hidden = (name: string, call = denied(name)): string =>
  join(head(name, 'connection: close', length(call)), call)

type Forms = Record<string, (name: string) => string>

/** What two readers could frame in two ways; each makes the bytes of one connection. */
const AMBIGUOUS: Forms = {
  'length before chunks': (name) =>
    join(head(name, 'content-length: 4', CHUNKED), `0\r\n\r\n${hidden(name)}`),
  'chunks before length': (name) =>
    join(head(name, CHUNKED, 'content-length: 4'), `0\r\n\r\n${hidden(name)}`),
  'length that covers the hidden one, and chunks': (name) => {
    const body = `0\r\n\r\n${hidden(name)}`
    return join(head(name, length(body), CHUNKED), body)
  },
  'two lengths': (name) =>
    join(head(name, length(PING), `content-length: 999`), PING + hidden(name)),
  'two equal lengths': (name) => join(head(name, length(PING), length(PING)), PING + hidden(name)),
  'a list of lengths': (name) =>
    join(head(name, `${length(PING)}, ${PING.length}`), PING + hidden(name)),
  'a length with a sign': (name) => join(head(name, 'content-length: +4'), PING + hidden(name)),
  'a negative length': (name) => join(head(name, 'content-length: -1'), hidden(name)),
  'a length in hexadecimal': (name) => join(head(name, 'content-length: 0x4'), hidden(name)),
  'a length with a space before the colon': (name) =>
    join(head(name, `content-length : ${PING.length}`), PING + hidden(name)),
  'a length beyond every number': (name) =>
    join(head(name, 'content-length: 99999999999999999999999'), hidden(name)),
  'chunked twice': (name) => join(head(name, CHUNKED, CHUNKED), `0\r\n\r\n${hidden(name)}`),
  'chunked and identity': (name) =>
    join(head(name, `${CHUNKED}, identity`), `0\r\n\r\n${hidden(name)}`),
  'nearly chunked': (name) =>
    join(head(name, 'transfer-encoding: xchunked', length(PING)), PING + hidden(name)),
  'chunked behind a control character': (name) =>
    join(head(name, 'transfer-encoding: \x0bchunked', length(PING)), PING + hidden(name)),
  'chunked, folded': (name) =>
    join(head(name, 'transfer-encoding:\r\n chunked', length(PING)), PING + hidden(name)),
  'a folded header': (name) =>
    join(head(name, 'x-a: b\r\n content-length: 0', length(denied(name))), denied(name)),
  'a header name with a space': (name) =>
    join(head(name, 'transfer-encoding chunked: chunked', length(PING)), PING + hidden(name)),
  'a header in a header by a line feed': (name) =>
    join(head(name, `x-a: b\n${CHUNKED}`, length(PING)), `0\r\n\r\n${hidden(name)}`),
  'a header in a header by a carriage return': (name) =>
    join(head(name, `x-a: b\r${CHUNKED}`, length(PING)), `0\r\n\r\n${hidden(name)}`),
  'a NUL in a header': (name) => join(head(name, 'x-a: \0', length(PING)), PING + hidden(name)),
  'bare line feeds': (name) => join(head(name, length(denied(name))), denied(name), '\n'),
  'bare carriage returns': (name) => join(head(name, length(denied(name))), denied(name), '\r'),
  'a chunk size with a prefix': (name) => join(head(name, CHUNKED), `0x0\r\n\r\n${hidden(name)}`),
  'a chunk size that overflows': (name) =>
    join(head(name, CHUNKED), `ffffffffffffffff1\r\n${hidden(name)}`),
  'a negative chunk size': (name) => join(head(name, CHUNKED), `-1\r\n${hidden(name)}`),
  'a chunk ended by a line feed': (name) =>
    join(head(name, CHUNKED), `${PING.length.toString(16)}\n${PING}\n0\n\n${hidden(name)}`),
  'a chunk extension that hides a line feed': (name) =>
    join(head(name, CHUNKED), `0;a\nb\r\n\r\n${hidden(name)}`),
  'a chunk that is longer than its size': (name) =>
    join(head(name, CHUNKED), `1\r\n${PING}\r\n0\r\n\r\n${hidden(name)}`),
  'trailers that are headers': (name) =>
    join(head(name, CHUNKED), `${chunk(PING)}0\r\ncontent-length: 9\r\n\r\n${hidden(name)}`),
  'HTTP/1.0 with chunks': (name) =>
    join(head(name, CHUNKED), `0\r\n\r\n${hidden(name)}`).replace('HTTP/1.1', 'HTTP/1.0'),
  'the preface of HTTP/2': (name) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden(name)}`,
  'a tab in the request line': (name) => hidden(name).replace('POST /', 'POST\t/'),
}

/** An allowed call behind it: nobody judges what is no request. */
const after = (name: string): string =>
  hidden(name, callOf(name === 'desk' ? 'echo' : 'read_file', MARK))
const swap = (name: string, from: string, to: string): string =>
  join(head(name, length(PING)), PING).replace(from, to) + after(name)

/** F7: what `node:http` alone would take; the connection ends with it, and what follows is no request. */
const LOOSE: Record<string, readonly [status: number, (name: string) => string]> = {
  'two hosts, the good one first': [
    400,
    (name) => join(head(name, 'host: evil.example', length(PING)), PING + after(name)),
  ],
  'two content types': [
    400,
    (name) => join(head(name, 'content-type: text/plain', length(PING)), PING + after(name)),
  ],
  'two sessions': [
    400,
    (name) => join(head(name, 'mcp-session-id: other', length(PING)), PING + after(name)),
  ],
  'identity and chunked': [
    501,
    (name) => join(head(name, 'transfer-encoding: identity, chunked'), `0\r\n\r\n${after(name)}`),
  ],
  'gzip and chunked': [
    501,
    (name) => join(head(name, 'transfer-encoding: gzip, chunked'), `0\r\n\r\n${after(name)}`),
  ],
  'a length with a zero before it': [
    400,
    (name) => join(head(name, `content-length: 0${PING.length}`), PING + after(name)),
  ],
  'HTTP/2.0': [505, (name) => swap(name, 'HTTP/1.1', 'HTTP/2.0')],
  'two slashes': [404, (name) => swap(name, ' /mcp', ' //mcp')],
  'a whole address of another host': [
    400,
    (name) => swap(name, ' /mcp', ' http://evil.example/mcp'),
  ],
}

/** What is framed in one way only, and judged. */
const JUDGED: Forms = {
  'a length that is too short': (name) =>
    join(head(name, `content-length: ${PING.length - 1}`), PING + hidden(name)),
  'a length of nothing': (name) => join(head(name, 'content-length: 0'), denied(name)),
  'no length': (name) => join(head(name), denied(name)),
  'the denied call in two chunks': (name) => {
    const [one, two] = [denied(name).slice(0, 50), denied(name).slice(50)]
    return join(head(name, CHUNKED), `${chunk(one)}${chunk(two)}0\r\n\r\n`)
  },
  'two on one connection': (name) => join(head(name, length(PING)), PING + hidden(name)),
  'ten on one connection': (name) =>
    join(head(name, length(PING)), PING).repeat(5) + hidden(name).repeat(5),
  'trailing bytes': (name) => join(head(name, length(PING)), PING + denied(name)),
  'HTTP/1.0': (name) => hidden(name).replace('HTTP/1.1', 'HTTP/1.0'),
  'HTTP/0.9': (name) => hidden(name).replace(' HTTP/1.1', ''),
  'an upgrade': (name) =>
    join(head(name, 'connection: upgrade', 'upgrade: h2c', length(PING)), PING + hidden(name)),
  'a tunnel': (name) => `CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: a\r\n\r\n${hidden(name)}`,
  'a whole address': (name) =>
    hidden(name).replace(`POST /mcp/${name}`, `POST ${server.origin}/mcp`),
  'a body that is promised': (name) =>
    join(head(name, 'expect: 100-continue', length(denied(name))), denied(name)),
  'another method by a header': (name) =>
    join(head(name, 'x-http-method-override: GET', length(denied(name))), denied(name)),
  'another path by a header': (name) =>
    join(head(name, 'x-original-url: /mcp/x', length(denied(name))), denied(name)),
  'a header that names another tool': (name) =>
    join(
      head(name, 'mcp-method: tools/list', 'mcp-name: read_file', length(denied(name))),
      denied(name),
    ),
  'a header that names the denied tool': (name) =>
    join(head(name, 'mcp-method: tools/call', `mcp-name: ${MARK}`, length(PING)), PING),
}

describe.each(SERVERS)('to %s', (name) => {
  test.each(Object.keys(AMBIGUOUS))('%s', async (form) => {
    const answer = await sendRaw(gate.url, AMBIGUOUS[form]?.(name) ?? '', 2_000)
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400'])
    expectNothing()
  })

  test.each(Object.keys(LOOSE))('F7: %s', async (form) => {
    const [status, bytes] = LOOSE[form] as (typeof LOOSE)[string]
    const answer = await sendRaw(gate.url, bytes(name), 2_000)
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`])
    expectNothing()
  })

  test.each(Object.keys(JUDGED))('%s', async (form) => {
    const answer = await sendRaw(gate.url, JUDGED[form]?.(name) ?? '', 250)
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /)
    expectNothing()
  })

  test('and an allowed call arrives, of the same bytes: the gate lives, the session too', async () => {
    const tool = name === 'desk' ? 'echo' : 'read_file'
    const answer = await sendRaw(gate.url, hidden(name, callOf(tool, 'allowed')), 5_000)
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"result"/)
    const bytes = name === 'desk' ? server.bytes() : bytesTo(gate.folder)
    expect(bytes).toContain('{"mark":"allowed"}')
    // F7: and by a whole address, which a server must take.
    const whole = hidden(name, PING).replace(' /mcp', ` ${gate.url}/mcp`)
    expect(await sendRaw(gate.url, whole, 5_000)).toMatch(/^HTTP\/1\.1 200 [\s\S]*"result"/)
  })
})

function expectNothing(): void {
  expect(bytesTo(gate.folder)).not.toContain(MARK)
  expect(server.bytes()).not.toContain(MARK)
}
