// Runs first in the namespaces of a locked server: binds the sockets that the gate serves there, hands them to
// the gate over the channel of Node, and becomes the server. Nothing of it stays. The server's environment is
// in the order, not in that of this process: it could make Node run something.

import type { SendHandle } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { createServer, type Server } from 'node:net'

export interface LaunchOrder {
  /** Absolute. */
  readonly program: string
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly ports: readonly number[]
}

process.once('message', (order: LaunchOrder) => void launch(order))

async function launch({ program, command, env, ports }: LaunchOrder): Promise<void> {
  const dns = createSocket('udp4')
  await new Promise<void>((resolve) => dns.bind(53, '127.0.0.1', resolve))
  await hand({ port: 53 }, dns)
  for (const port of ports) {
    const server: Server = createServer()
    await new Promise<void>((resolve) => server.listen(port, '0.0.0.0', resolve))
    await hand({ port }, server)
  }
  process.disconnect()
  process.execve?.(program, command, env)
}

function hand(message: { readonly port: number }, handle: SendHandle): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, handle, undefined, (error: Error | null) =>
      error === null ? resolve() : reject(error),
    )
  })
}
