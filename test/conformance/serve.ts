// `node test/conformance/serve.ts [--stdio] [--generation session|stateless]`: the conformance fixture as a
// process, both generations or only one on an HTTP endpoint of a free port (it prints `ready URL`), or on
// stdio. Host and origin are checked, as any server on this machine has to.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  InMemoryServerEventBus,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { makeServer } from './make-server.ts'
import { SessionGeneration } from './sessions.ts'
import { Tasks } from './tasks.ts'

const at = process.argv.indexOf('--generation')
const only = at < 0 ? undefined : process.argv[at + 1]

if (process.argv.includes('--stdio')) {
  const nobody = { toolsChanged: () => {}, promptsChanged: () => {} }
  const legacy = only === 'stateless' ? 'reject' : 'serve'
  serveStdio(() => makeServer({ notify: nobody }), { legacy })
} else serveHttp()

function serveHttp(): void {
  const bus = new InMemoryServerEventBus()
  const notify = {
    toolsChanged: () => bus.publish({ kind: 'tools_list_changed' }),
    promptsChanged: () => bus.publish({ kind: 'prompts_list_changed' }),
  }
  const make = (): ReturnType<typeof makeServer> => makeServer({ notify })
  const sessions = new SessionGeneration(make)
  const stateless = createMcpHandler(make, { legacy: 'reject', bus })
  const tasks = new Tasks()
  const server = createServer(async (incoming, outgoing) => {
    const request = await requestOf(incoming, outgoing)
    const refused =
      hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins())
    const generation = async (): Promise<Response> =>
      (only ?? ((await isLegacyRequest(request)) ? 'session' : 'stateless')) === 'session'
        ? sessions.handle(request)
        : ((await tasks.handle(request)) ?? stateless.fetch(request))
    await respond(refused ?? (await generation()), outgoing).catch(() => outgoing.destroy())
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    console.log(`ready http://127.0.0.1:${port}/mcp`)
  })
}

async function requestOf(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Request> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const { method = 'GET', headers } = incoming
  const body = method === 'POST' ? { body: await text(incoming) } : {}
  return new Request(new URL(incoming.url ?? '/', 'http://127.0.0.1'), {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    signal: gone.signal,
    ...body,
  })
}

async function respond(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.flushHeaders()
  if (response.body === null) return void outgoing.end()
  await pipeline(
    Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]),
    outgoing,
  )
}
