// A real MCP client (the SDK's), through the gate or directly to a server over stdio, that supports
// everything a server may request of it. Notifications of the server are kept.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { mcpUrl, type ServingGate } from './start-gate.ts'

export interface RealClient {
  client: Client
  notifications: { method: string; params?: unknown }[]
  close(): Promise<void>
}

const CAPABILITIES = { sampling: {}, elicitation: {}, roots: { listChanged: true } }

export async function throughGate(
  gate: ServingGate,
  server: string,
  sessionToken?: string,
): Promise<RealClient> {
  const url = new URL(mcpUrl(gate, server))
  if (sessionToken !== undefined) url.searchParams.set('sluice_session', sessionToken)
  const transport = new StreamableHTTPClientTransport(url)
  const made = makeClient()
  await made.client.connect(transport as Parameters<Client['connect']>[0])
  const close = async (): Promise<void> => {
    await transport.terminateSession()
    await made.client.close()
  }
  return { ...made, close }
}

/** Over HTTP+SSE, the transport of 2024-11-05. */
export async function overSse(gate: ServingGate, server: string): Promise<RealClient> {
  const transport = new SSEClientTransport(new URL(mcpUrl(gate, server)))
  const made = makeClient()
  await made.client.connect(transport)
  return { ...made, close: () => made.client.close() }
}

export async function straight(command: string[]): Promise<RealClient> {
  const [program = '', ...args] = command
  const transport = new StdioClientTransport({ command: program, args, stderr: 'ignore' })
  const made = makeClient()
  await made.client.connect(transport)
  return { ...made, close: () => made.client.close() }
}

function makeClient(): Omit<RealClient, 'close'> {
  const client = new Client({ name: 'real', version: '1' }, { capabilities: CAPABILITIES })
  const notifications: RealClient['notifications'] = []
  client.fallbackNotificationHandler = async (notification) => void notifications.push(notification)
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    model: 'a-model',
    role: 'assistant',
    content: { type: 'text', text: `sampled for ${params.maxTokens}` },
  }))
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { name: 'A Name', check: true },
  }))
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: 'file:///a-root', name: 'a root' }],
  }))
  return { client, notifications }
}
