// The gate's socket in its data directory, for commands of the same user: each connection names a
// server on its first line and is that client's session from then on. The file mode is the lock:
// only the owner of the directory can connect.

import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SOCKET_HELLO_BYTES_MAX } from '../limits.ts'
import type { ClientLink } from '../link.ts'
import { LineLink } from './line-link.ts'

export interface SocketFrontOptions {
  readonly path: string
  readonly hasServer: (name: string) => boolean
  readonly open: (server: string, link: ClientLink) => void
  /** Told how many clients there are whenever that changes. */
  readonly onClients: (count: number) => void
}

const PATH_BYTES_MAX = 100

/** Where the socket of a data directory is; systems take about a hundred bytes. */
export function socketPath(directory: string): string {
  const digest = createHash('sha256').update(directory).digest('hex').slice(0, 24)
  if (process.platform === 'win32') return `\\\\.\\pipe\\sluice-${digest}`
  const path = join(directory, 'gate.sock')
  return Buffer.byteLength(path) <= PATH_BYTES_MAX ? path : join(tmpdir(), `sluice-${digest}.sock`)
}

export class SocketFront {
  readonly #options: SocketFrontOptions
  readonly #server: Server
  readonly #links = new Set<LineLink>()

  constructor(options: SocketFrontOptions) {
    this.#options = options
    this.#server = createServer((socket) => this.#greet(socket))
  }

  /** Whoever holds the data directory's lock may take over a socket that was left. */
  async listen(): Promise<void> {
    const { path } = this.#options
    if (process.platform !== 'win32') rmSync(path, { force: true })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(path, resolve)
    })
    if (process.platform !== 'win32') chmodSync(path, 0o600)
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const link of this.#links) link.close('the gate is stopping')
    await closed
  }

  #greet(socket: Socket): void {
    let hello = Buffer.alloc(0)
    const take = (chunk: Buffer): void => {
      hello = Buffer.concat([hello, chunk])
      const end = hello.indexOf(0x0a)
      if (end < 0 && hello.length <= SOCKET_HELLO_BYTES_MAX) return
      socket.off('data', take)
      this.#begin(socket, hello.subarray(0, Math.max(0, end)).toString(), hello.subarray(end + 1))
    }
    socket.on('data', take)
    socket.on('error', () => socket.destroy())
  }

  #begin(socket: Socket, server: string, rest: Buffer): void {
    if (!this.#options.hasServer(server)) {
      socket.end(`no server is called \`${server.slice(0, 100)}\`\n`)
      return
    }
    socket.write('ok\n')
    const link = new LineLink(socket)
    this.#links.add(link)
    this.#options.onClients(this.#links.size)
    this.#options.open(server, link)
    const { onClose } = link
    link.onClose = (why) => {
      this.#links.delete(link)
      this.#options.onClients(this.#links.size)
      onClose(why)
    }
    link.start(rest)
  }
}
