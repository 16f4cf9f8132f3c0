// A real client of the stateless era (SDK v2, pinned to 2026-07-28) through the gate, that can do
// everything a server may ask of it; and one by hand, for what no real one would send.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Reply } from './plain-client.ts'
import type { RunningGate } from './start-gate.ts'

export const VERSION = '2026-07-28'

export async function statelessClient(gate: RunningGate, server: string): Promise<Client> {
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
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gate.url}/mcp/${server}`)))
  return client
}

/** One request, with headers that repeat the body unless said otherwise. */
export async function postStateless(
  gate: RunningGate,
  server: string,
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string | undefined> = {},
): Promise<Reply> {
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
  const given = Object.entries(all).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { _meta: meta, ...params } })
  const response = await fetch(`${gate.url}/mcp/${server}`, {
    method: 'POST',
    headers: given,
    body,
  })
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const messages = isStream
    ? text
        .split('\n')
        .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
    : text === ''
      ? []
      : [JSON.parse(text)]
  return {
    status: response.status,
    text,
    messages,
    answer: messages.at(-1),
    headers: response.headers,
  }
}
