// A hand-written MCP client over HTTP, for what a real one would never send, and for the exact text
// of a response.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLedgerReadOnly, recordsFrom } from '../../packages/ledger/src/chain/read.ts'
import type { LedgerRecord } from '../../packages/ledger/src/records/record.ts'
import { mcpUrl, type ServingGate } from './start-gate.ts'

export interface Reply {
  status: number
  text: string
  /** Every message of the response, the response itself last. */
  // biome-ignore lint/suspicious/noExplicitAny: what a server said, taken apart by the test
  messages: any[]
  // biome-ignore lint/suspicious/noExplicitAny: the same
  answer: any
  headers: Headers
}

export class PlainClient {
  readonly url: string
  session: string | undefined
  /** Sent with every request. */
  token: string | undefined
  #lastId = 0

  constructor(gate: Pick<ServingGate, 'url'>, server: string) {
    this.url = mcpUrl(gate, server)
  }

  static async open(
    gate: Pick<ServingGate, 'url'>,
    server: string,
    revision = '2025-11-25',
    token?: string,
  ) {
    const client = new PlainClient(gate, server)
    client.token = token
    const reply = await client.initialize(revision)
    if (reply.status !== 200 || reply.answer.error) throw new Error(reply.text)
    return client
  }

  async initialize(revision = '2025-11-25'): Promise<Reply> {
    const clientInfo = { name: 'plain', version: '1' }
    const params = { protocolVersion: revision, capabilities: {}, clientInfo }
    const reply = await this.ask('initialize', params)
    this.session = reply.headers.get('mcp-session-id') ?? undefined
    if (reply.status === 200) await this.tell('notifications/initialized')
    return reply
  }

  ask(method: string, params: object = {}, signal?: AbortSignal): Promise<Reply> {
    const id = ++this.#lastId
    return this.post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), {}, signal)
  }

  call(name: string, args: object = {}, signal?: AbortSignal): Promise<Reply> {
    return this.ask('tools/call', { name, arguments: args }, signal)
  }

  /** What a tool answered, as a value. */
  // biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
  async value(name: string, args: object = {}): Promise<any> {
    const { result } = (await this.call(name, args)).answer
    return result.structuredContent ?? JSON.parse(result.content[0].text)
  }

  tell(method: string, params: object = {}): Promise<Reply> {
    return this.post(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  /** A header that is undefined is left out. */
  async post(
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string | undefined> = {},
    signal?: AbortSignal,
  ): Promise<Reply> {
    const all = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': this.session,
      authorization: this.token && `Bearer ${this.token}`,
      ...headers,
    }
    const present = Object.entries(all).filter((pair): pair is [string, string] => !!pair[1])
    const response = await fetch(this.url, {
      method: 'POST',
      headers: present,
      body,
      signal: signal ?? null,
    })
    return replyOf(response)
  }

  async end(): Promise<void> {
    const headers = { 'mcp-session-id': this.session ?? '' }
    await fetch(this.url, { method: 'DELETE', headers })
  }
}

/** The whole response, parsed. */
export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text()
  const { status, headers } = response
  const messages = parseMessages(text, headers.get('content-type') ?? '')
  return { status, text, messages, answer: messages.at(-1), headers }
}

function parseMessages(text: string, type: string): unknown[] {
  if (type.startsWith('application/json')) return [JSON.parse(text)]
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
}

/** The records of the ledger, while the gate runs or after. */
export function recordsOf(gate: { data: string }): LedgerRecord[] {
  const database = openLedgerReadOnly(gate.data)
  try {
    return [...recordsFrom(database)]
  } finally {
    database.close()
  }
}

/** Every message that the office server received, from its log. */
// biome-ignore lint/suspicious/noExplicitAny: whatever came
export function sentTo(folder: string): any[] {
  return bytesTo(folder)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

export function bytesTo(folder: string): string {
  try {
    return readFileSync(join(folder, 'office.log'), 'utf8')
  } catch {
    return ''
  }
}

/** Fetches every page of a server's tools: the gate has seen them all then. */
export async function listAll(client: PlainClient): Promise<void> {
  let cursor: string | undefined
  do {
    const { answer } = await client.ask('tools/list', cursor === undefined ? {} : { cursor })
    cursor = answer.result.nextCursor
  } while (cursor !== undefined)
}
