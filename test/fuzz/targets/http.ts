// The hand-written reader of ordinary POSTs beside `node:http`: what the one takes, the other takes as
// the same request with the same body, and both end it at the same byte.

import { readByNode } from '../../../packages/gateway/src/front/fast-path/node-request.test-support.ts'
import {
  FastPathReader,
  type FastPathRequest,
} from '../../../packages/gateway/src/front/fast-path/request-reader.ts'

const BODY = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const HEAD = ['POST /mcp/notes HTTP/1.1', 'Host: 127.0.0.1:7433', 'content-type: application/json']

export const seeds = [
  [...HEAD, `content-length: ${BODY.length}`, '', BODY].join('\r\n'),
  [...HEAD, 'Connection: keep-alive', 'authorization:Bearer x', 'content-length: 2', '', '{}'].join(
    '\r\n',
  ),
]

export const tokens = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  '\0',
  ':',
  'HTTP/1.0',
  'HTTP/1.1',
  'GET',
  '/mcp',
  'content-length: 4\r\n',
  'transfer-encoding: chunked\r\n',
  'host: b\r\n',
  'x: \r\n y\r\n',
  'expect: 100-continue\r\n',
  'connection: close\r\n',
  'upgrade: h2c\r\n',
  '__proto__: a\r\n',
]

export async function run(input: Buffer): Promise<void> {
  const reader = new FastPathReader()
  const plain = reader.read(input)
  if (plain === 'more' || plain === 'not plain') return
  await expectSame(input, plain)
  // The head is kept and compared as bytes: the same request must be read the same again.
  const again = reader.read(input)
  if (again === 'more' || again === 'not plain' || again.end !== plain.end)
    throw new Error('read differently the second time')
}

async function expectSame(input: Buffer, plain: FastPathRequest): Promise<void> {
  const read = await readByNode(input.subarray(0, plain.end))
  if (read === undefined) throw new Error('node:http takes no such request')
  const { request, body } = read
  const ours = { ...plain.head.headers, 'content-length': String(plain.end - plain.bodyAt) }
  if (request.url !== plain.head.path) throw new Error(`another path: ${request.url}`)
  if (JSON.stringify(sorted(request.headers)) !== JSON.stringify(sorted(ours)))
    throw new Error('other headers')
  if (body !== input.toString('latin1', plain.bodyAt, plain.end)) throw new Error('another body')
}

function sorted(headers: object): unknown {
  return Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))
}
