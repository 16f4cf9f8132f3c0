import type { IncomingHttpHeaders } from 'node:http'
import type { Id } from '../../wire/message.ts'
import type { UpstreamFailure } from './upstream.ts'
export interface Refused {
  readonly server: string
  readonly request: Id | undefined
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The beginning of the body. */
  readonly text: string
  /** The request named a session. */
  readonly inSession: boolean
}
export declare function failureOfStatus(refused: Refused): UpstreamFailure
export declare function failureOfError(
  server: string,
  request: Id | undefined,
  error: Error,
  written: boolean,
): UpstreamFailure
