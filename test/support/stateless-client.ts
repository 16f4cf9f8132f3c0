// A real client of the stateless generation (SDK v2, pinned to 2026-07-28) through the gate, that
// supports everything a server may request of it; and a hand-written one, for what no real one
// would send.

import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Reply, replyOf } from './plain-client.ts'
import { mcpUrl, type ServingGate } from './start-gate.ts'

export const VERSION = '2026-07-28'

export async function statelessClient(gate: ServingGate, server: string): Promise<Client> {
  const client = new Client(
    { name: 'stateless', version: '1' },
    {
      capabilities: { sampling: {}, elicitation: {}, roots: {} },
      versionNegotiation: { mode: { pin: VERSION } },
    },
  )
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { username: 'ada', email: 'ada@example.com', name: 'ada' },
  }))
  client.setRequestHandler('sampling/createMessage', () => ({
    model: 'a-model',
    role: 'assistant',
    content: { type: 'text', text: 'sampled' },
  }))
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///a-root' }] }))
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl(gate, server))))
  return client
}

/** A subscription, and what has arrived on it so far. */
export async function listenStateless(
  gate: ServingGate,
  server: string,
  notifications: object,
): Promise<{ received: Reply['messages']; close: () => void }> {
  const aborter = new AbortController()
  const { body } = await send(
    gate,
    server,
    'subscriptions/listen',
    { notifications },
    {
      signal: aborter.signal,
    },
  )
  const received: Reply['messages'] = []
  const lines = createInterface({ input: Readable.fromWeb(body as WebStream) })
  lines.on('line', (line) => {
    if (line.startsWith('data: ')) received.push(JSON.parse(line.slice('data: '.length)))
  })
  lines.on('error', () => {})
  return { received, close: () => aborter.abort() }
}

/** One request, with headers that repeat the body by default. */
export async function postStateless(
  gate: ServingGate,
  server: string,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string | undefined> = {},
): Promise<Reply> {
  return replyOf(await send(gate, server, method, params, { headers }))
}

function send(
  gate: ServingGate,
  server: string,
  method: string,
  params: Record<string, unknown>,
  { headers = {}, signal }: { headers?: Record<string, string | undefined>; signal?: AbortSignal },
): Promise<Response> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {} },
  }
  const name = params.name ?? params.uri ?? params.taskId
  const all: Record<string, string | undefined> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    ...headers,
  }
  const present = Object.entries(all).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { _meta: meta, ...params } })
  return fetch(mcpUrl(gate, server), {
    method: 'POST',
    headers: present,
    body,
    signal: signal ?? null,
  })
}
