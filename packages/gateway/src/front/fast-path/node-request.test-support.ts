// How `node:http` reads bytes, for comparing the gate's own reader of requests with it. Used by its
// property test and by its fuzz target.

import { createServer, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'

interface NodeRequest {
  readonly request: IncomingMessage
  readonly body: string
}

/** The first request of a connection, or undefined if it is refused or incomplete. */
export function readByNode(bytes: Buffer): Promise<NodeRequest | undefined> {
  return new Promise((resolve) => {
    const server = createServer((request) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => resolve({ request, body: Buffer.concat(chunks).toString('latin1') }))
    })
    const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    server.on('clientError', () => resolve(undefined))
    server.emit('connection', connection)
    connection.push(bytes)
    setImmediate(() => setImmediate(() => resolve(undefined)))
  })
}
