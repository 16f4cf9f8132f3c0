import type { Id, Message } from '../../wire/message.ts'
import type { Related } from '../link.ts'
import type { HttpHost, Outgoing } from './http-host.ts'
import type { HttpPools, OriginPools } from './http-pools.ts'
import type { Said } from './read-said.ts'
import { Conversation } from './sent.ts'
import type { Carried, Log, UpstreamFailure, UpstreamLink } from './upstream.ts'
export interface HttpServerOptions {
  readonly name: string
  readonly url: string
  /** From the configuration. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The value of `Authorization`, asked for every exchange: a login's token changes. */
  readonly authorization?: (() => string | undefined) | undefined
  readonly pools: HttpPools
  readonly log: Log
}
/** Connects with the first message; set the callbacks before it. */
export declare function startHttpServer(options: HttpServerOptions): HttpLink
export declare class HttpLink implements UpstreamLink, HttpHost {
  #private
  onMessage: (message: Message, related?: Related) => void
  onClose: (why: string) => void
  onFailure: (failure: UpstreamFailure) => void
  failure: UpstreamFailure | undefined
  readonly ended: Promise<void>
  readonly name: string
  readonly url: URL
  readonly pools: OriginPools
  readonly log: Log
  readonly conversation: Conversation
  paused: boolean
  constructor(options: HttpServerOptions)
  send(text: string, carried?: Carried): boolean
  pause(request?: Id): void
  resume(request?: Id): void
  abort(request: Id): void
  close(why: string): void
  headers(own: Readonly<Record<string, string>>): Record<string, string>
  deliver(said: Said, request: Id | undefined): void
  fail(failure: UpstreamFailure): void
  giveUp(failure: UpstreamFailure, why?: string): void
  restMs(bytes: number): number
  tryOld(first: Outgoing, failure: UpstreamFailure): void
}
