// Listens on loopback for `localhost`, which is two addresses: at that of the configuration and, at the
// same port, at that of the other IP family. Browsers and clients try [::1] first. Any other process that
// listened there would be the console to them, with its origin, its passkeys and the tokens of clients.

import { type AddressInfo, createServer, type Server } from 'node:net'
import { LOCALHOST_PORTS_TRIED_MAX } from '../../shared/limits.ts'

/** The other address of `localhost`; undefined if `address` is not one of them. */
function otherLoopback(address: string): string | undefined {
  if (address === '127.0.0.1' || address === '0.0.0.0') return '::1'
  return address === '::1' ? '127.0.0.1' : undefined
}

/** What a machine without that IP family says. */
const NO_FAMILY: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

export class LocalhostListener {
  readonly #server: Server
  readonly #isAlone: boolean
  #other: Server | undefined

  /** Connections to both addresses are connections of `server`. `isAlone`: only one address, since a
   * certificate tells whose the other is. */
  constructor(server: Server, { isAlone = false }: { readonly isAlone?: boolean } = {}) {
    this.#server = server
    this.#isAlone = isAlone
  }

  /** The port. Rejects with EADDRINUSE if either address is taken. */
  async listen(host: string, port: number): Promise<number> {
    for (let tried = 1; ; tried++) {
      const at = await bind(this.#server, host, port)
      const also = otherLoopback(at.address)
      if (also === undefined || this.#isAlone) return at.port
      try {
        this.#other = await this.#listenAlso(also, at.port)
        return at.port
      } catch (error) {
        await closed(this.#server)
        // A free port of one address may be in use at the other.
        if (port !== 0 || tried >= LOCALHOST_PORTS_TRIED_MAX) throw error
      }
    }
  }

  /** Resolves when all connections have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#server, this.#other].map((each) => each && closed(each)))
  }

  async #listenAlso(host: string, port: number): Promise<Server | undefined> {
    // As `node:http` makes its own.
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#server.emit('connection', socket),
    )
    other.maxConnections = this.#server.maxConnections
    try {
      await bind(other, host, port)
      return other
    } catch (error) {
      if (NO_FAMILY.has((error as NodeJS.ErrnoException).code)) return undefined
      throw error
    }
  }
}

function bind(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const { code } = error
      const at = host === '::1' ? ' at [::1], where programs look for `localhost`' : ''
      const inUse = new Error(`port ${port} is in use${at}`)
      reject(code === 'EADDRINUSE' ? Object.assign(inUse, { code }) : error)
    }
    server.once('error', failed)
    server.listen(port, host, () => {
      server.off('error', failed)
      resolve(server.address() as AddressInfo)
    })
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()))
}
