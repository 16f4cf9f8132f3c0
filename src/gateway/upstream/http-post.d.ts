import type { IncomingHttpHeaders } from 'node:http'
import type { Id } from '../../wire/message.ts'
import { type Body } from './http-body.ts'
import { Exchange } from './http-exchange.ts'
import type { HttpHost, Outgoing } from './http-host.ts'
import type { UpstreamFailure } from './upstream.ts'
export interface PostOptions {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly inSession: boolean
  /** The old transport: answers come on its one stream. */
  readonly answersElsewhere: boolean
}
export interface PostEvents {
  /** The server took the message. */
  onTaken(post: Post, headers: IncomingHttpHeaders): void
  /** It did not; `spoke` where it said so in JSON-RPC. */
  onRefused(post: Post, failure: UpstreamFailure, spoke: boolean): void
  /** It took a request and the answer did not come. */
  onBroken(post: Post, failure: UpstreamFailure): void
  /** Last of all, whatever happened; perhaps more than once. */
  onOver(post: Post): void
}
export declare class Post {
  #private
  readonly message: Outgoing
  /** Of the request; undefined for notifications and answers. */
  readonly request: Id | undefined
  readonly exchange: Exchange
  /** Of a stream with ids, to go on from after it broke. */
  body: Body | undefined
  constructor(host: HttpHost, message: Outgoing, options: PostOptions, events: PostEvents)
  get isAnswered(): boolean
}
