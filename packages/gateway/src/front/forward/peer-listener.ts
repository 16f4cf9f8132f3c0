// Where the other gates of a cluster reach this one: requests of clients whose session is here, and about agents
// that run here. What a client sent was checked for host and origin by the gate that passes it on; who the client is,
// is checked here again.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { CLIENT_CONNECTIONS_MAX, CLIENT_KEEP_ALIVE_MS } from '../../shared/limits.ts'
import { PEER_CONNECT_MS } from './limits.ts'
import { type PeerKeyOf, toServerTls } from './peer-tls.ts'

/** Says that a gate passes the request on, and what only that gate can know of its client. */
export const FORWARDED_HEADER = 'sluice-forwarded'
/** Where gates ask each other about agents; no client reaches it. */
export const AGENTS_PATH = '/agents'

export interface PeerListenerOptions {
  readonly gate: string
  readonly keyOf: PeerKeyOf
  /** The interface. */
  readonly host: string
  /** The address as other gates reach it: `host`, `host:port`; the interface and a free port if undefined. */
  readonly address: string | undefined
  readonly take: (request: IncomingMessage, response: ServerResponse, isLocal: boolean) => void
}

export class PeerListener {
  readonly #server: Server
  readonly #options: PeerListenerOptions

  constructor(options: PeerListenerOptions) {
    this.#options = options
    const { gate, keyOf, take } = options
    this.#server = createServer(
      { ...toServerTls(gate, keyOf), handshakeTimeout: PEER_CONNECT_MS },
      (request, response) => {
        const header = request.headers[FORWARDED_HEADER]
        take(request, response, header === 'local')
      },
    )
    this.#server.maxConnections = CLIENT_CONNECTIONS_MAX
    this.#server.keepAliveTimeout = CLIENT_KEEP_ALIVE_MS
    // Its peer is told by the end of the connection.
    this.#server.on('tlsClientError', () => {})
  }

  /** The address for other gates. */
  async listen(): Promise<string> {
    const { address, host } = this.#options
    const [, name = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(address ?? '') ?? []
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(Number(port ?? 0), host, resolve)
    })
    const bound = (this.#server.address() as AddressInfo).port
    return `${name === '' ? toReachable(host) : name}:${bound}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** A gate that listens on every interface is reached by the first that leads out of the machine. */
function toReachable(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host.includes(':') ? `[${host}]` : host
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}
