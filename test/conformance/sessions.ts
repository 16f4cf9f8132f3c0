// The session generation over HTTP: a server and a transport of its own for every session, with streams that
// can be taken up again after they broke.

import { randomUUID } from 'node:crypto'
import {
  type EventStore,
  type JSONRPCMessage,
  type McpServer,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server'

const RETRY_MS = 50

export class SessionGeneration {
  readonly #make: () => McpServer
  readonly #sessions = new Map<string, Transport>()

  constructor(make: () => McpServer) {
    this.#make = make
  }

  async handle(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return (await this.#open()).handleRequest(request)
    const transport = this.#sessions.get(id)
    return (
      transport?.handleRequest(request) ?? Response.json({ error: 'no session' }, { status: 404 })
    )
  }

  async #open(): Promise<Transport> {
    const transport: Transport = new Transport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
      onsessionclosed: (id) => void this.#sessions.delete(id),
      eventStore: new KeptInMemory(),
      retryInterval: RETRY_MS,
    })
    await this.#make().connect(transport)
    return transport
  }
}

class KeptInMemory implements EventStore {
  readonly #events: { stream: string; message: JSONRPCMessage }[] = []

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    return String(this.#events.push({ stream, message }))
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events[Number(id) - 1]?.stream
  }

  async replayEventsAfter(
    last: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events[Number(last) - 1]?.stream ?? ''
    for (const [at, event] of this.#events.entries())
      if (at >= Number(last) && event.stream === stream) await send(String(at + 1), event.message)
    return stream
  }
}
