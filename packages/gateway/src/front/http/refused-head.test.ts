// F7: forms of a head that `node:http` takes and that another reader would take for something else.

import { createServer, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { checkHead, targetOf } from './refused-head.ts'

const HOST = 'host: 127.0.0.1:7433'
const head = (line: string, ...headers: string[]): string =>
  [line, ...headers, 'content-length: 0', '', ''].join('\r\n')

/** As `node:http` reads it; undefined where it refuses by itself. */
function read(text: string): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    const server = createServer(resolve).on('clientError', () => resolve(undefined))
    const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    server.emit('connection', connection)
    connection.push(text)
  })
}

/** The status it is refused with, or the target. */
async function look(text: string, scheme: 'http' | 'https' = 'http'): Promise<number | string> {
  const request = await read(text)
  if (request === undefined) return 400
  const found = checkHead(request) ?? targetOf(request, scheme)
  return 'status' in found ? found.status : found.target
}

describe('F7: a head that two readers would read differently is refused', () => {
  const POST = 'POST /mcp/a HTTP/1.1'
  const twice = (name: string, one: string, two: string) =>
    head(
      POST,
      ...(name === 'Host' ? [] : [HOST]),
      `${name}: ${one}`,
      `${name.toLowerCase()}: ${two}`,
    )
  test.each([
    [400, twice('Host', '127.0.0.1:7433', 'evil.example')],
    [400, twice('Content-Type', 'application/json', 'text/plain')],
    [400, twice('Content-Encoding', 'identity', 'gzip')],
    [400, twice('Authorization', 'Bearer a', 'Bearer b')],
    [400, twice('Origin', 'http://127.0.0.1:7433', 'http://evil.example')],
    [400, twice('Mcp-Session-Id', 'a', 'b')],
    [400, twice('Mcp-Protocol-Version', '2025-11-25', '2026-07-28')],
    [400, twice('Mcp-Method', 'tools/list', 'tools/call')],
    [400, twice('Mcp-Name', 'a', 'b')],
    [400, twice('Mcp-Param-Path', 'a', 'b')],
    [400, twice('Last-Event-ID', 'g1', 'g2')],
    [400, twice('Sec-Fetch-Site', 'none', 'cross-site')],
    [400, twice('Transfer-Encoding', 'gzip', 'chunked').replace('content-length: 0\r\n', '')],
    [400, head(POST, HOST, 'content-length: 0')],
    [400, head(POST, HOST).replace('length: 0', 'length: 00')],
    [400, head(POST, HOST).replace('length: 0', 'length: +0')],
    [501, `${POST}\r\n${HOST}\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    [501, `${POST}\r\n${HOST}\r\ntransfer-encoding: identity, chunked\r\n\r\n0\r\n\r\n`],
    [400, `${POST}\r\n${HOST}\r\ntransfer-encoding: chunked\r\n\r\n`.replace('1.1', '1.0')],
    [505, head('POST /mcp/a HTTP/2.0', HOST)],
    [505, head('POST /mcp/a HTTP/0.9', HOST)],
    [400, head('POST /mcp/a#b HTTP/1.1', HOST)],
    [400, head('GET /mcp/../api/people HTTP/1.1', HOST)],
    [400, head('GET /mcp/%2E./api/people HTTP/1.1', HOST)],
    [400, head('GET /api/people/.?a HTTP/1.1', HOST)],
    [400, head('GET /mcp\\..\\api HTTP/1.1', HOST)],
    [400, head('GET http://127.0.0.1:7433/mcp/../api HTTP/1.1', HOST)],
    [404, head('POST //mcp/a HTTP/1.1', HOST)],
    [404, head('POST http://127.0.0.1:7433//mcp/a HTTP/1.1', HOST)],
    [400, head('POST http://evil.example/mcp/a HTTP/1.1', HOST)],
    [400, head('POST http://a@127.0.0.1:7433/mcp/a HTTP/1.1', HOST)],
    [400, head('POST https://127.0.0.1:7433/mcp/a HTTP/1.1', HOST)],
  ])('%i %j', async (status, text) => {
    expect(await look(text)).toBe(status)
  })

  test.each([
    ['/mcp/a', head(POST, HOST)],
    ['/mcp/a', head(POST, HOST, 'accept: a', 'accept: b', 'x-a: 1', 'x-a: 2')],
    ['/mcp/a', `${POST}\r\n${HOST}\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`],
    ['/mcp/a', head('POST /mcp/a HTTP/1.0', HOST)],
    ['/mcp/a?b=//c', head('POST http://127.0.0.1:7433/mcp/a?b=//c HTTP/1.1', HOST)],
    ['/a/...?b=/../c', head('GET /a/...?b=/../c HTTP/1.1', HOST)],
    ['/a/.b/c..', head('GET /a/.b/c.. HTTP/1.1', HOST)],
    ['/', head('GET HTTP://127.0.0.1:7433 HTTP/1.1', HOST)],
  ])('taken as %s: %j', async (target, text) => {
    expect(await look(text)).toBe(target)
  })
})
