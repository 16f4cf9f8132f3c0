// Who may speak to the gate at all: the Host it listens on and, where a browser sends one, an
// Origin of the same machine. Without this any web page could reach the gate through the browser
// (DNS rebinding).

import type { IncomingMessage, Server } from 'node:http'

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Why the request is refused, or undefined. */
export function refusedOrigin({ headers }: IncomingMessage, server: Server): string | undefined {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const [name = '', hostPort = '80'] = splitHost(headers.host ?? '')
  if (!LOCAL.has(name) || Number(hostPort) !== port) return 'the Host is not this gate'
  const { origin } = headers
  // A page elsewhere can send some requests without an Origin, but not hide that it is elsewhere.
  if (origin === undefined)
    return headers['sec-fetch-site'] === 'cross-site'
      ? 'the page is not of this machine'
      : undefined
  const match = /^https?:\/\/(\[::1\]|[^/:]+)(?::\d{1,5})?$/.exec(origin.toLowerCase())
  return match !== null && LOCAL.has(match[1] as string)
    ? undefined
    : 'the Origin is not of this machine'
}

function splitHost(host: string): string[] {
  const match = /^(\[[0-9a-f:]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase())
  return match === null ? [] : [match[1] as string, match[2] ?? '80']
}
