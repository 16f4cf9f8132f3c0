// What serves HTTP requests that are neither MCP nor health checks: the admin API and the console.
// `admin` implements it; the HTTP server only calls it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CommandHandler } from '../socket/command-registry.ts'

/** Everything over HTTP that is neither MCP nor health. */
export interface AdminSite {
  /** Host and Origin are the gate's own, and the peer is no process of the gate's. */
  serve(request: IncomingMessage, response: ServerResponse): void | Promise<void>
  /** What it adds to the control channel. */
  readonly words: Readonly<Record<string, CommandHandler>>
  /** Ends its streams. */
  close(): void
}
