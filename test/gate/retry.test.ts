// When the gate sends a request a second time: only where the first cannot have had an effect. A
// server that has forgotten the session gets a new one and the call once; what may have arrived is
// never sent again, and the caller is told that nobody knows.

import { createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type HttpFixture, serveHttp } from '../servers/http.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { endGates, type ServingGate } from '../support/start-gate.ts'

const TIMEOUT_MS = 180_000
let server: HttpFixture
let gate: ServingGate

beforeAll(async () => {
  server = await serveHttp()
  gate = await serveGate({ servers: { desk: { url: server.url } } })
}, TIMEOUT_MS)
afterAll(async () => {
  await endGates()
  await server.close()
})
afterEach(() => {
  delete server.behaviour.instead
})

const arrivals = (text: string) => server.seen.filter(({ body }) => body.includes(text))

test(
  'a forgotten session is begun anew, and the calls that met it arrive once each',
  async () => {
    const client = await PlainClient.open(gate, 'desk')
    await client.call('echo', { text: 'before' })
    server.behaviour.session = 's-2'
    server.behaviour.instead = (request, response) => {
      const isOld = request.headers['mcp-session-id'] === 's-1'
      if (isOld) response.writeHead(404).end()
      return isOld
    }
    const texts = ['one', 'two', 'three']
    const replies = await Promise.all(texts.map((text) => client.call('echo', { text })))
    expect(replies.map(({ answer }) => answer.result.isError)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    for (const text of texts) {
      const sessions = arrivals(`"${text}"`).map(({ headers }) => headers['mcp-session-id'])
      expect(sessions.filter((session) => session === 's-2')).toHaveLength(1)
    }
    const intents = recordsOf(gate).filter(({ kind }) => kind === 'intent')
    expect(intents).toHaveLength(4)
  },
  TIMEOUT_MS,
)

test(
  'a server that forgets every session is told of, not asked for ever',
  async () => {
    const client = await PlainClient.open(gate, 'desk')
    server.behaviour.instead = (request, response, body) => {
      if (body.includes('"initialize"')) return false
      if (request.method === 'POST') response.writeHead(404).end()
      return request.method === 'POST'
    }
    const { answer } = await client.call('echo', { text: 'lost' })
    expect(answer.error.message).toMatch(/session/)
    expect(arrivals('"lost"').length).toBeLessThanOrEqual(2)
  },
  TIMEOUT_MS,
)

test(
  'what may have arrived is not sent again',
  async () => {
    const client = await PlainClient.open(gate, 'desk')
    server.behaviour.instead = (_request, response, body) => {
      if (!body.includes('"perhaps"')) return false
      response.socket?.destroy()
      return true
    }
    const { answer } = await client.call('echo', { text: 'perhaps' })
    expect(answer.error.message).toMatch(/unknown/)
    expect(arrivals('"perhaps"')).toHaveLength(1)
  },
  TIMEOUT_MS,
)

test(
  'where nobody listens, it is tried once more and then said',
  async () => {
    const port = await new Promise<number>((resolve) => {
      const taken = createServer().listen(0, '127.0.0.1', () => {
        const { port } = taken.address() as { port: number }
        taken.close(() => resolve(port))
      })
    })
    const other = await serveGate({ servers: { gone: { url: `http://127.0.0.1:${port}/mcp` } } })
    const reply = await new PlainClient(other, 'gone').initialize()
    expect(reply.text).toMatch(/cannot be reached/)
    expect(other.log).toMatch(/sent once more/)
  },
  TIMEOUT_MS,
)
