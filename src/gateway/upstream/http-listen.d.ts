import type { Id } from '../../wire/message.ts'
import type { HttpHost } from './http-host.ts'
import type { UpstreamFailure } from './upstream.ts'
export interface ListenOptions {
  /** With the session's. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly inSession: boolean
  /** The request whose answer is to come, for a stream that goes on with one. */
  readonly request?: Id | undefined
  readonly lastEventId?: string | undefined
  readonly retryMs?: number | undefined
  /** It will not be opened again. A server that has no such stream (405) is no failure. */
  readonly onOver: (failure: UpstreamFailure | undefined) => void
}
export declare class Listener {
  #private
  constructor(host: HttpHost, options: ListenOptions)
  pause(): void
  resume(): void
  stop(): void
}
