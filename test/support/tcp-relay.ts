// A TCP relay between a client and a server, for faults of the network: it passes bytes, loses answers, or
// cuts every connection and accepts none; it may delay answers, and lead to another server.

import { createConnection, createServer, type Server, type Socket } from 'node:net'

export class TcpRelay {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** `deaf`: what the client sends arrives, what the server answers is lost. */
  mode: 'pass' | 'deaf' | 'cut' = 'pass'
  port = 0
  /** The port of the server, for new connections. */
  to: number
  /** Of what the server answers. */
  delayMs = 0

  private constructor(to: number) {
    this.to = to
    this.#server = createServer((client) => {
      if (this.mode === 'cut') return client.destroy()
      const server = createConnection({ host: '127.0.0.1', port: this.to })
      for (const [from, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from)
        from.on('data', (bytes) => {
          if (from === client || (this.mode === 'pass' && this.delayMs === 0)) other.write(bytes)
          else if (this.mode === 'pass') setTimeout(() => other.write(bytes), this.delayMs)
        })
        from.on('error', () => other.destroy())
        from.on('close', () => {
          this.#sockets.delete(from)
          if (this.mode !== 'deaf') other.destroy()
        })
      }
    })
  }

  static async start(to: number): Promise<TcpRelay> {
    const relay = new TcpRelay(to)
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve))
    relay.port = (relay.#server.address() as { port: number }).port
    return relay
  }

  /** Ends what is open and accepts nothing, until `mode` is set again. */
  cut(): void {
    this.mode = 'cut'
    for (const socket of this.#sockets) socket.destroy()
  }

  async end(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
