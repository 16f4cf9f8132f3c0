// Streamable HTTP as a client, for the revisions with sessions (2025-03-26 to 2025-11-25): a POST for
// every message, one GET stream for the server's own messages, a DELETE at the end.

import type { RequestId } from '../../../protocol/message.ts'
import { SmallSet } from '../../shared/small-set.ts'
import { HTTP_FAREWELL_MS_MAX, HTTP_HANDLE_LENGTH_MAX, HTTP_TAILS_MAX } from '../limits.ts'
import type { UpstreamFailure } from '../upstream.ts'
import { EventBody } from './http-body.ts'
import { HttpExchange } from './http-exchange.ts'
import { HttpGetStream } from './http-get-stream.ts'
import type { HttpHost, HttpTransport, OutgoingMessage } from './http-host.ts'
import { POST_HEADERS, Post, type PostEvents } from './http-post.ts'
import type { ResponseHeaders } from './http-response.ts'

/** Refusals that are about this request and not about the transport. */
const NOT_THE_TRANSPORT = new Set([401, 403, 407, 408, 429])

export class StreamableHttpTransport implements HttpTransport {
  readonly #host: HttpHost
  readonly #path: string
  readonly #posts = new SmallSet<Post>()
  /** Streams that go on after their answer. */
  readonly #tails = new Set<Post>()
  readonly #resumed = new Map<RequestId, HttpGetStream>()
  #sessionId: string | undefined
  #posting:
    | {
        readonly id: string | undefined
        readonly revision: string | undefined
        readonly headers: Readonly<Record<string, string>>
      }
    | undefined
  #listener: HttpGetStream | undefined
  /** The server has taken an `initialize`. */
  #hasBegun = false
  /** `initialize` was sent, and `notifications/initialized` was not. */
  #isBeginning = false
  /** `notifications/initialized` is under way: what comes after it must not overtake it. */
  #settling: OutgoingMessage[] | undefined
  #closed = false

  /** `sessionId` is of a session that began over another link. */
  constructor(host: HttpHost, sessionId?: string) {
    this.#host = host
    this.#path = host.url.pathname + host.url.search
    this.#sessionId = sessionId
  }

  get sessionId(): string | undefined {
    return this.#sessionId
  }

  get size(): number {
    return this.#posts.size + this.#resumed.size + (this.#settling?.length ?? 0)
  }

  send(message: OutgoingMessage): void {
    const { method } = message.sent
    if (method === 'initialize') {
      this.#isBeginning = true
      this.#sessionId = undefined
      this.#listener?.stop()
      this.#listener = undefined
    }
    if (this.#settling !== undefined) this.#settling.push(message)
    else {
      if (method === 'notifications/initialized') {
        this.#isBeginning = false
        this.#settling = []
      }
      this.#post(message)
    }
  }

  pause(request?: RequestId): void {
    for (const each of this.#streams(request)) each.pause()
  }

  resume(request?: RequestId): void {
    for (const each of this.#streams(request)) each.resume()
  }

  abort(request: RequestId): void {
    for (const post of this.#posts) {
      if (post.request !== request) continue
      post.exchange.abort()
      this.#over(post)
    }
    this.#resumed.get(request)?.stop()
    this.#resumed.delete(request)
  }

  close(): { unwritten: RequestId[]; over: Promise<void> } {
    this.#closed = true
    const ids = (this.#settling ?? []).map(({ sent }) => (sent.method ? sent.id : undefined))
    const posted = [...this.#posts]
      .filter(({ exchange }) => !exchange.written)
      .map(({ request }) => request)
    for (const { exchange } of this.#posts) exchange.abort()
    for (const listener of [this.#listener, ...this.#resumed.values()]) listener?.stop()
    const unwritten = [...posted, ...ids].filter((id) => id !== undefined)
    return { unwritten, over: this.#farewell() }
  }

  #post(message: OutgoingMessage): void {
    const options = {
      path: this.#path,
      headers: this.#postHeaders(),
      sessionId: this.#sessionId,
      answersElsewhere: false,
    }
    this.#posts.add(new Post(this.#host, message, options, this.#events))
  }

  readonly #events: PostEvents = {
    onTaken: (post, headers) => this.#onTaken(post, headers),
    onRefused: (post, failure, spoke) => this.#onRefused(post, failure, spoke),
    onBroken: (post, failure) => this.#onBroken(post, failure),
    onAnswered: (post) => this.#onAnswered(post),
    onOver: (post) => this.#over(post),
  }

  #onTaken(post: Post, headers: ResponseHeaders): void {
    const { method } = post.message.sent
    if (method === 'initialize') {
      this.#hasBegun = true
      this.#enterSession(post, headers)
    }
    if (method !== 'notifications/initialized' || this.#closed) return
    this.listen()
    this.#settle(post)
  }

  #enterSession(post: Post, headers: ResponseHeaders): void {
    const id = headers['mcp-session-id']
    if (id === undefined) return
    if (
      typeof id === 'string' &&
      /^[\x21-\x7e]+$/.test(id) &&
      id.length <= HTTP_HANDLE_LENGTH_MAX
    ) {
      this.#sessionId = id
      return
    }
    const message = `the server \`${this.#host.name}\` gave a session id that no header can carry`
    const { request } = post
    this.#host.giveUp({ code: 'UPSTREAM_BAD_ANSWER', message, request, repeatable: false })
  }

  #onRefused(post: Post, failure: UpstreamFailure, spoke: boolean): void {
    const status = failure.status ?? 0
    const mayBeOld = status >= 400 && status < 500 && !spoke && !NOT_THE_TRANSPORT.has(status)
    if (post.message.sent.method === 'initialize' && mayBeOld && !this.#hasBegun)
      return this.#host.tryOld(post.message, failure)
    // It met a session that another has replaced since.
    const isLate = post.sessionId !== this.#sessionId && !this.#isBeginning
    if (isLate && failure.code === 'UPSTREAM_SESSION_GONE' && post.message.again !== true)
      return this.send({ ...post.message, again: true })
    if (!this.#host.sendAgain(post.message, failure)) this.#host.fail(failure)
  }

  #onBroken(post: Post, failure: UpstreamFailure): void {
    const { request, body } = post
    const { lastEventId, retryMs } = body instanceof EventBody ? body.parser : {}
    if (request === undefined || lastEventId === undefined || this.#closed)
      return this.#host.fail(failure)
    const options = { ...this.#listening, request, lastEventId, retryMs }
    const listener = new HttpGetStream(this.#host, {
      ...options,
      onOver: (later) => {
        this.#resumed.delete(request)
        if (this.#host.conversation.open.has(request))
          this.#host.fail({ ...failure, ...(later?.status ? { status: later.status } : {}) })
      },
    })
    this.#resumed.set(request, listener)
    if (post.endedEarly) this.#host.onSuspended(request)
  }

  listen(): void {
    this.#listener ??= new HttpGetStream(this.#host, {
      ...this.#listening,
      onOver: (failure) => {
        if (failure === undefined) return
        // The next request finds out, and initializes again.
        if (failure.code === 'UPSTREAM_SESSION_GONE') this.#listener = undefined
        else this.#host.log('warn', `no stream of its own: ${failure.message}`)
      },
    })
  }

  get #listening() {
    return {
      headers: () => this.#sessionHeaders(),
      inSession: this.#sessionId !== undefined,
    }
  }

  /** What waited for `notifications/initialized` goes on, also if that failed. */
  #settle(post: Post): void {
    if (post.message.sent.method !== 'notifications/initialized') return
    const waiting = this.#settling ?? []
    this.#settling = undefined
    if (!this.#closed) for (const message of waiting) this.send(message)
  }

  #sessionHeaders(): Record<string, string> {
    const { revision } = this.#host.conversation
    return {
      ...(this.#sessionId === undefined ? {} : { 'mcp-session-id': this.#sessionId }),
      ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
    }
  }

  /** One object for all calls of a session. */
  #postHeaders(): Readonly<Record<string, string>> {
    const { revision } = this.#host.conversation
    if (this.#posting?.id !== this.#sessionId || this.#posting?.revision !== revision)
      this.#posting = undefined
    this.#posting ??= {
      id: this.#sessionId,
      revision,
      headers: { ...POST_HEADERS, ...this.#sessionHeaders() },
    }
    return this.#posting.headers
  }

  *#streams(request: RequestId | undefined): Generator<{ pause(): void; resume(): void }> {
    for (const post of this.#posts)
      if (request === undefined || post.request === request) yield post.exchange
    for (const [id, listener] of this.#resumed)
      if (request === undefined || id === request) yield listener
    if (request === undefined && this.#listener !== undefined) yield this.#listener
  }

  /** A server should end the stream after the answer; one that does not keeps a connection. */
  #onAnswered(post: Post): void {
    this.#tails.add(post)
    const [oldest] = this.#tails
    if (this.#tails.size <= HTTP_TAILS_MAX || oldest === undefined) return
    oldest.exchange.abort()
    this.#over(oldest)
  }

  #over(post: Post): void {
    this.#posts.delete(post)
    this.#tails.delete(post)
    this.#settle(post)
  }

  #farewell(): Promise<void> {
    const { host } = { host: this.#host }
    if (this.#sessionId === undefined || host.isLeaving) return Promise.resolve()
    return new Promise((resolve) => {
      const path = this.#path
      const headers = host.headers(this.#sessionHeaders())
      const onError = (): void => resolve()
      const exchange = new HttpExchange(
        host.pools.calls,
        { method: 'DELETE', path, headers },
        {
          onHead: () => {},
          onData: () => {},
          onEnd: () => resolve(),
          onError,
        },
      )
      setTimeout(() => {
        exchange.abort()
        resolve()
      }, HTTP_FAREWELL_MS_MAX).unref()
    })
  }
}
