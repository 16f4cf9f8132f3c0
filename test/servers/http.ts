// An MCP server over Streamable HTTP for tests, started inside the test. Every oddity is asked for by
// the test, in `behaviour`; everything it got is kept in `seen`.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Call, callTool, note, resultOf } from './speak.ts'

type Incoming = { id?: number | string; method?: string; params?: Record<string, unknown> }

export type Seen = {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

export interface Behaviour {
  /** JSON or a stream of events, for answers to requests. */
  answers: 'json' | 'events'
  session: string | undefined
  getStream: boolean
  /** Takes an exchange into its own hands; true if it did. */
  instead?: (request: IncomingMessage, response: ServerResponse, body: string) => boolean
}

export interface HttpFixture {
  readonly url: string
  readonly origin: string
  readonly behaviour: Behaviour
  readonly seen: Seen[]
  /** Every byte that came, over all connections. */
  bytes(): string
  /** The open GET streams. */
  readonly streams: Set<ServerResponse>
  close(): Promise<void>
}

export async function serveHttp(behaviour: Partial<Behaviour> = {}): Promise<HttpFixture> {
  const how: Behaviour = { answers: 'json', session: 's-1', getStream: true, ...behaviour }
  const seen: Seen[] = []
  const streams = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const { method = '', url: path = '', headers } = request
      seen.push({ method, path, headers, body })
      if (how.instead?.(request, response, body)) return
      answer(how, streams, request, response, body)
    })
  })
  const came: Buffer[] = []
  server.on('connection', (socket) => socket.on('data', (chunk: Buffer) => came.push(chunk)))
  const bytes = (): string => Buffer.concat(came).toString('latin1')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = (): Promise<void> => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  return { url: `${origin}/mcp`, origin, behaviour: how, seen, bytes, streams, close }
}

export function writeEvent(response: ServerResponse, message: object, id?: string): boolean {
  const data = JSON.stringify({ jsonrpc: '2.0', ...message })
  return response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`)
}

function answer(
  how: Behaviour,
  streams: Set<ServerResponse>,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): void {
  if (request.method === 'DELETE') return void response.writeHead(204).end()
  if (request.method === 'GET') {
    if (!how.getStream) return void response.writeHead(405).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    streams.add(response)
    response.on('close', () => streams.delete(response))
    return
  }
  const message = JSON.parse(body) as Incoming
  const isFirst = message.method === 'initialize'
  if (!isFirst && how.session !== undefined && request.headers['mcp-session-id'] !== how.session)
    return void response.writeHead(404).end('no such session')
  if (message.id === undefined || message.method === undefined)
    return void response.writeHead(202).end()
  const head = isFirst && how.session !== undefined ? { 'mcp-session-id': how.session } : {}
  const messages: object[] = []
  const call = (each: Call): object =>
    callTool(each, (n) => messages.push({ method: 'notifications/message', params: note(n) }))
  const result = resultOf(message, call)
  messages.push({ id: message.id, result })
  if (how.answers === 'json') {
    response.writeHead(200, { 'content-type': 'application/json', ...head })
    return void response.end(JSON.stringify({ jsonrpc: '2.0', ...messages.at(-1) }))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...head })
  for (const each of messages) writeEvent(response, each)
  response.end()
}
