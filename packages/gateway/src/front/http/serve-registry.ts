// The read API of an MCP registry (`/v0.1/servers`), for the servers of this gate: clients that may only use listed
// servers point at it, and get addresses of the gate. Served to everybody who reaches the gate, also to pages of other
// origins, which is why the configuration has to ask for it.

import type { IncomingMessage, ServerResponse } from 'node:http'

/** Path of the API. */
const SERVERS = '/v0.1/servers'
/** The gate has one version of each server: what is configured now. */
const VERSION = '1.0.0'
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json'
const OFFICIAL = 'io.modelcontextprotocol.registry/official'
const HEADERS = {
  'content-type': 'application/json',
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type',
  'cache-control': 'no-cache',
}

export interface RegistryOptions {
  /** What names of servers begin with, as `com.example`. */
  readonly namespace: string
  /** The names of the servers, as they are configured now. */
  readonly names: () => readonly string[]
  /** Where clients reach the gate, without a path. */
  readonly url: () => string
  /** Since when the gate serves. */
  readonly startedAt: Date
}

export class RegistryFront {
  readonly #options: RegistryOptions

  constructor(options: RegistryOptions) {
    this.#options = options
  }

  static isPath(path: string): boolean {
    return path === SERVERS || path.startsWith(`${SERVERS}/`)
  }

  serve({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
    if (method === 'OPTIONS') return void response.writeHead(204, HEADERS).end()
    if (method !== 'GET' && method !== 'HEAD')
      return answer(response, 405, { error: 'this registry is read-only: use GET' })
    const { pathname, searchParams } = new URL(url, 'http://gate')
    const value = pathname === SERVERS ? this.#list(searchParams) : this.#versions(pathname)
    if (value === undefined) answer(response, 404, { error: 'Server not found' })
    else answer(response, 200, value)
  }

  #list(query: URLSearchParams): object {
    const search = query.get('search')?.toLowerCase() ?? ''
    const names = this.#options.names().filter((name) => this.#nameOf(name).includes(search))
    const isOther = ![null, 'latest', VERSION].includes(query.get('version'))
    return toPage(isOther ? [] : names.map((name) => this.#describe(name)))
  }

  /** `/NAME/versions`, `/NAME/versions/VERSION`; undefined if there is none. */
  #versions(path: string): object | undefined {
    const [named = '', word, version, ...more] = path.slice(SERVERS.length + 1).split('/')
    const name = this.#options
      .names()
      .find((one) => encodeURIComponent(this.#nameOf(one)) === named)
    if (name === undefined || word !== 'versions' || more.length > 0) return undefined
    if (version === undefined) return toPage([this.#describe(name)])
    return version === 'latest' || version === VERSION ? this.#describe(name) : undefined
  }

  #describe(name: string): object {
    const { url, startedAt } = this.#options
    const publishedAt = startedAt.toISOString()
    const remotes = [{ type: 'streamable-http', url: `${url()}/mcp/${name}` }]
    const description = `${name}, behind the gate of Sluice`
    const server = {
      $schema: SCHEMA,
      name: this.#nameOf(name),
      description,
      version: VERSION,
      remotes,
    }
    const official = { status: 'active', publishedAt, updatedAt: publishedAt, isLatest: true }
    return { server, _meta: { [OFFICIAL]: official } }
  }

  #nameOf(name: string): string {
    return `${this.#options.namespace}/${name}`
  }
}

/** A gate has at most some hundred servers: one page. */
function toPage(servers: readonly object[]): object {
  return { servers, metadata: { count: servers.length } }
}

function answer(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, HEADERS).end(JSON.stringify(value))
}
