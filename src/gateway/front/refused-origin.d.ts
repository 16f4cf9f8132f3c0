import type { IncomingMessage, Server } from 'node:http'
/** Why the request is refused, or undefined. */
export declare function refusedOrigin(
  { headers }: IncomingMessage,
  server: Server,
): string | undefined
