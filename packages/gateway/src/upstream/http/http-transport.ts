// What the HTTP transports share: messages go by POST, what must not leave yet waits in order, and at the end it
// is known what was never written. Each transport says where to, with which headers, and when.

import type { RequestId } from '@sluice/protocol/message'
import { SmallMap } from '../../shared/small-map.ts'
import type { UpstreamFailure } from '../upstream.ts'
import type { HttpHost, HttpTransport, OutgoingMessage } from './http-host.ts'
import { Post, type PostEvents, type PostOptions } from './http-post.ts'
import type { ResponseHeaders } from './http-response.ts'

/** The response to a request, or a stream of the server's own. */
export type Pausable = Pick<Post['exchange'], 'pause' | 'resume'>

export abstract class PostTransport implements HttpTransport, PostEvents {
  protected readonly host: HttpHost
  protected readonly posts = new SmallMap<Post, Post>()
  /** Messages that must not leave yet; undefined if nothing has to wait. */
  protected waiting: OutgoingMessage[] | undefined

  constructor(host: HttpHost) {
    this.host = host
  }

  get size(): number {
    return this.posts.size + (this.waiting?.length ?? 0)
  }

  send(message: OutgoingMessage): void {
    if (this.waiting === undefined) this.dispatch(message)
    else this.waiting.push(message)
  }

  protected abstract dispatch(message: OutgoingMessage): void

  protected post(message: OutgoingMessage, options: PostOptions): void {
    const post = new Post(this.host, message, options, this)
    this.posts.set(post, post)
  }

  protected release(): void {
    const waiting = this.waiting ?? []
    this.waiting = undefined
    for (const message of waiting) this.send(message)
  }

  onTaken(_post: Post, _headers: ResponseHeaders): void {}

  onRefused(post: Post, failure: UpstreamFailure, _spoke: boolean): void {
    if (!this.host.sendAgain(post.message, failure)) this.host.fail(failure)
  }

  onBroken(_post: Post, failure: UpstreamFailure): void {
    this.host.fail(failure)
  }

  onAnswered(_post: Post): void {}

  onOver(post: Post): void {
    this.posts.delete(post)
  }

  pause(request?: RequestId): void {
    for (const each of this.streams(request)) each.pause()
  }

  resume(request?: RequestId): void {
    for (const each of this.streams(request)) each.resume()
  }

  abort(request: RequestId): void {
    for (const post of this.posts.keys()) if (post.request === request) this.end(post)
  }

  close(): { unwritten: RequestId[]; over: Promise<void> } {
    const posted = this.posts.keys().filter(({ exchange }) => !exchange.written)
    const waiting = (this.waiting ?? []).map(({ sent }) => (sent.method ? sent.id : undefined))
    for (const { exchange } of this.posts.keys()) exchange.abort()
    const requests = [...posted.map(({ request }) => request), ...waiting]
    return { unwritten: requests.filter((id) => id !== undefined), over: Promise.resolve() }
  }

  protected streams(request: RequestId | undefined): Pausable[] {
    const posts = this.posts.keys()
    const own = request === undefined ? posts : posts.filter((post) => post.request === request)
    return own.map(({ exchange }) => exchange)
  }

  protected end(post: Post): void {
    post.exchange.abort()
    this.onOver(post)
  }
}
