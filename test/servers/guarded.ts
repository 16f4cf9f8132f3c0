// An MCP server (the SDK's) over HTTP that wants an access token for itself, signed by an authorisation
// server of the test. It keeps the tokens it was shown, and can be told to refuse one.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createRemoteJWKSet, jwtVerify } from 'jose'

export interface GuardedServer {
  readonly url: string
  /** The Authorization headers that came, in order. */
  readonly shown: (string | undefined)[]
  readonly refused: Set<string>
  close(): Promise<void>
}

/** `guards`: every request, or calls alone, so that a session begins without a token. */
export async function serveGuarded(
  issuer: string,
  guards: 'all' | 'calls' = 'all',
): Promise<GuardedServer> {
  const shown: (string | undefined)[] = []
  const refused = new Set<string>()
  let url = ''
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`))
  const isLetIn = async ({ headers: { authorization = '' } }: IncomingMessage) => {
    if (refused.has(authorization)) return false
    const token = authorization.replace(/^Bearer /, '')
    const options = { issuer, audience: url, algorithms: ['RS256'] }
    return jwtVerify(token, keys, options).then(
      () => true,
      () => false,
    )
  }
  const server = createServer(async (request, response) => {
    const { origin } = new URL(url)
    if (request.url === '/.well-known/oauth-protected-resource/mcp') {
      const metadata = { resource: url, authorization_servers: [issuer], scopes_supported: ['mcp'] }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata))
      return
    }
    shown.push(request.headers.authorization)
    const body = request.method === 'POST' ? await json(request) : undefined
    const isGuarded = guards === 'all' || isCall(body)
    if (isGuarded && !(await isLetIn(request))) {
      const where = `${origin}/.well-known/oauth-protected-resource/mcp`
      const challenge = `Bearer error="invalid_token", resource_metadata="${where}"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
      return
    }
    const transport = new StreamableHTTPServerTransport({})
    await newServer().connect(transport as Parameters<McpServer['connect']>[0])
    await transport.handleRequest(request, response, body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const close = (): Promise<void> => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  return { url, shown, refused, close }
}

function isCall(body: unknown): boolean {
  return (body as { method?: string } | undefined)?.method === 'tools/call'
}

function newServer(): McpServer {
  const server = new McpServer({ name: 'guarded', version: '1' })
  server.registerTool('get_note', { description: 'reads a note' }, () => ({
    content: [{ type: 'text', text: 'a note' }],
  }))
  return server
}
