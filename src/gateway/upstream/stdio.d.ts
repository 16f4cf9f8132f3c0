import type { Id, Message } from '../../wire/message.ts'
import type { Log, UpstreamFailure, UpstreamLink } from './upstream.ts'
import type { Watcher } from './watcher.ts'
export interface StdioServerOptions {
  readonly name: string
  readonly command: readonly string[]
  /** What the configuration names; the allow-list comes by itself. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  readonly log: Log
  /** Ends the process should the gate be killed. */
  readonly watcher?: Watcher | undefined
  /** How long the end of stdin, then SIGTERM, may take to work. */
  readonly stdinEndGraceMs?: number
  readonly termGraceMs?: number
}
/** Spawns at once; set the callbacks before the turn ends. */
export declare function startStdioServer(options: StdioServerOptions): StdioLink
export declare class StdioLink implements UpstreamLink {
  #private
  onMessage: (message: Message) => void
  onClose: (why: string) => void
  onFailure: (failure: UpstreamFailure) => void
  failure: UpstreamFailure | undefined
  readonly ended: Promise<void>
  /** Lines on stdout that were no message. */
  strayLines: number
  constructor(options: StdioServerOptions)
  get pid(): number | undefined
  send(text: string): boolean
  pause(): void
  resume(): void
  abort(request: Id): void
  close(why: string): void
}
