// The gate's own reader of requests beside `node:http`, which reads strictly: whatever the one takes
// the other takes too, as the same request with the same body, and stops at the same byte. From valid
// requests, broken in every way that requests are smuggled.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import {
  PLAIN_HEAD_BYTES_MAX,
  PLAIN_HEADERS_MAX,
  PLAIN_REQUEST_BYTES_MAX,
} from '../../shared/limits.ts'
import { checkHead, targetOf } from '../http/refused-head.ts'
import { readByNode } from './node-request.test-support.ts'
import { FastPathReader, type FastPathRequest } from './request-reader.ts'

const BODY = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const HEAD = [
  'POST /mcp/notes HTTP/1.1',
  'Host: 127.0.0.1:7433',
  'content-type: application/json',
  'Accept: application/json, text/event-stream',
  'authorization:Bearer sluice_55',
  'mcp-session-id: 8b3c',
  'Connection: keep-alive',
]

function bytesOf(lines: readonly string[], body = BODY, length: string | number = body.length) {
  return Buffer.from([...lines, `content-length: ${length}`, '', body].join('\r\n'), 'latin1')
}

const VALID = bytesOf(HEAD)
const read = (bytes: Buffer, reader = new FastPathReader()) => reader.read(bytes)

async function expectSame(bytes: Buffer, plain: FastPathRequest): Promise<void> {
  // No byte more, and node:http has it whole: both end it at the same place.
  const { request, body } = (await readByNode(bytes.subarray(0, plain.end))) ?? {}
  const { path, headers } = plain.head
  const length = String(plain.end - plain.bodyAt)
  if (request === undefined) throw new Error('node:http takes no such request')
  // F7: what node:http takes too loosely is refused after it, and never read here.
  expect(checkHead(request)).toBeUndefined()
  expect(targetOf(request, 'http')).toEqual({ target: path })
  expect(request.method).toBe('POST')
  expect(request.httpVersion).toBe('1.1')
  expect(request.url).toBe(path)
  expect({ ...request.headers }).toEqual({ ...headers, 'content-length': length })
  expect(body).toBe(bytes.toString('latin1', plain.bodyAt, plain.end))
}

/** What makes two readers disagree. */
const FRAGMENTS = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  '\0',
  '\x0b',
  '\x7f',
  '\x80',
  ':',
  ',',
  ';',
  '0',
  '-',

  'content-length: 4\r\n',
  'Content-Length: 0\r\n',
  'transfer-encoding: chunked\r\n',
  'te: trailers\r\n',

  'expect: 100-continue\r\n',
  'connection: close\r\n',
  'upgrade: h2c\r\n',
  'host: b\r\n',
  'x: \r\n',

  'x-a: b\r\n c\r\n',
  '__proto__: a\r\n',
  'constructor: a\r\n',
  'set-cookie: a\r\n',
  'cookie: a\r\n',

  'HTTP/1.0',
  'GET',
  'POST ',
  '/mcp',
  '?session=1',
  '#',
  '%2e',
  'http://a/',
  'proxy-connection: close\r\n',

  'HTTP/2.0',
  'HTTP/0.9',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Content-Type: text/plain\r\n',
  'Mcp-Session-Id: b\r\n',
  'Mcp-Param-A: b\r\n',
  'Authorization: Bearer b\r\n',
  'Last-Event-ID: b\r\n',
  'Origin: http://b\r\n',
  'content-length: 040\r\n',
  'POST //mcp',
]

const mutation = fc.record({
  at: fc.nat(VALID.length),
  taken: fc.nat(6),
  put: fc.oneof(
    fc.constantFrom(...FRAGMENTS, ''),
    fc.string({ unit: 'binary-ascii', maxLength: 3 }),
  ),
})

function mutated(
  bytes: Buffer,
  steps: readonly { at: number; taken: number; put: string }[],
): Buffer {
  let text = bytes.toString('latin1')
  for (const { at, taken, put } of steps) text = text.slice(0, at) + put + text.slice(at + taken)
  return Buffer.from(text, 'latin1')
}

const NAMES = [
  'x-a',
  'X-Trace',
  'user-agent',
  'accept-language',
  'mcp-param-path',
  'cookie',
  '!#$%',
]
const valid = fc
  .record({
    path: fc.constantFrom('/mcp', '/mcp/a', '/mcp/notes-2', `/mcp/${'z'.repeat(24)}`),
    more: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 5 }),
    value: fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/),
    body: fc.string({ unit: 'binary-ascii', maxLength: 60 }),
    where: fc.nat(6),
  })
  .map(({ path, more, value, body, where }) => {
    const lines = [...HEAD.slice(1), ...more.map((name) => `${name}: ${value}`)]
    lines.splice(where, 0, `Content-Length: ${body.length}`)
    return Buffer.from([`POST ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'), 'latin1')
  })

describe('beside node:http', () => {
  test('takes every plain request, as node:http does', async () => {
    await fc.assert(
      fc.asyncProperty(valid, async (bytes) => {
        const plain = read(bytes)
        if (typeof plain === 'string') throw new Error(plain)
        expect(plain.end).toBe(bytes.length)
        await expectSame(bytes, plain)
      }),
      runs(150),
    )
  })

  test('what is broken is read as node:http reads it, or not at all', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (steps) => {
        const bytes = mutated(VALID, steps)
        const plain = read(bytes)
        if (typeof plain === 'string') return
        taken += 1
        await expectSame(bytes, plain)
      }),
      runs(3_000),
    )
    // Or it would say nothing.
    expect(taken).toBeGreaterThan(100)
  })

  test('a head that is like the last but for its length reads as if it were the first', () => {
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 2 }), (steps) => {
        const reader = new FastPathReader()
        read(VALID, reader)
        const bytes = mutated(VALID, steps)
        expect(read(bytes, reader)).toEqual(read(bytes))
        expect(read(VALID, reader)).toEqual(read(VALID))
      }),
      runs(3_000),
    )
  })

  test('every beginning of a request waits for the rest', () => {
    for (let end = 1; end < VALID.length; end++)
      expect(read(VALID.subarray(0, end)), String(end)).toBe('more')
  })
})

describe('is not plain', () => {
  test.each([
    ['another method', 'GET /mcp HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['another path', VALID.toString('latin1').replace('/mcp/notes', '/mcp/Notes')],
    ['a query', VALID.toString('latin1').replace('/mcp/notes', '/mcp/notes?session=1')],
    ['a whole address', VALID.toString('latin1').replace('/mcp', 'http://127.0.0.1/mcp')],
    ['HTTP/1.0', VALID.toString('latin1').replace('HTTP/1.1', 'HTTP/1.0')],
    ['no length', VALID.toString('latin1').replace(/content-length.*\r\n/, '')],
    ['no host', VALID.toString('latin1').replace(/Host.*\r\n/, '')],
    ['two hosts', bytesOf([...HEAD, 'host: b']).toString('latin1')],
    ['two lengths', bytesOf([...HEAD, `content-length: ${BODY.length}`]).toString('latin1')],
    ['a length with a zero before it', bytesOf(HEAD, BODY, `0${BODY.length}`).toString('latin1')],
    ['a length with a sign', bytesOf(HEAD, BODY, `+${BODY.length}`).toString('latin1')],
    ['chunks', bytesOf([...HEAD, 'transfer-encoding: chunked']).toString('latin1')],
    ['a connection that is to close', VALID.toString('latin1').replace('keep-alive', 'close')],
    ['a promise', bytesOf([...HEAD, 'expect: 100-continue']).toString('latin1')],
    ['an empty header', bytesOf([...HEAD, 'x-a: ']).toString('latin1')],
    ['white space behind a value', bytesOf([...HEAD, 'x-a: b ']).toString('latin1')],
    ['a folded line', bytesOf([...HEAD, 'x-a: b\r\n c']).toString('latin1')],
    ['bare line feeds', VALID.toString('latin1').replaceAll('\r\n', '\n')],
    ['a byte beyond ASCII', bytesOf([...HEAD, 'x-a: \xe9']).toString('latin1')],
    ['an empty line before it', `\r\n${VALID.toString('latin1')}`],
  ])('%s', (_what, text) => {
    expect(read(Buffer.from(text, 'latin1'))).toBe('not plain')
  })

  test('what passes a bound', () => {
    const headers = Array.from({ length: PLAIN_HEADERS_MAX }, (_, index) => `x-${index}: a`)
    expect(read(bytesOf([...HEAD.slice(0, 2), ...headers]))).toBe('not plain')
    expect(read(bytesOf([...HEAD, `x-a: ${'a'.repeat(PLAIN_HEAD_BYTES_MAX)}`]))).toBe('not plain')
    const endless = Buffer.from(`${HEAD[0]}\r\nx-a: ${'a'.repeat(PLAIN_HEAD_BYTES_MAX)}`)
    expect(read(endless)).toBe('not plain')
    // By its length alone: it is refused before it is sent.
    expect(read(bytesOf(HEAD, '', PLAIN_REQUEST_BYTES_MAX))).toBe('not plain')
  })
})
