// Streamable HTTP as a client, for the revisions with sessions (2025-03-26 to 2025-11-25): a POST for
// every message, one GET stream for the server's own messages, a DELETE at the end.

import type { RequestId } from '@sluice/protocol/message'
import { HTTP_FAREWELL_MS_MAX, HTTP_HANDLE_LENGTH_MAX, HTTP_TAILS_MAX } from '../limits.ts'
import type { UpstreamFailure } from '../upstream.ts'
import { EventBody } from './http-body.ts'
import { HttpExchange } from './http-exchange.ts'
import { HttpGetStream } from './http-get-stream.ts'
import type { HttpHost, OutgoingMessage } from './http-host.ts'
import { POST_HEADERS, type Post } from './http-post.ts'
import type { ResponseHeaders } from './http-response.ts'
import { type Pausable, PostTransport } from './http-transport.ts'

/** Refusals that are about this request and not about the transport. */
const NOT_THE_TRANSPORT = new Set([401, 403, 407, 408, 429])

export class StreamableHttpTransport extends PostTransport {
  readonly #path: string
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
  #closed = false

  /** `sessionId` is of a session that began over another link. */
  constructor(host: HttpHost, sessionId?: string) {
    super(host)
    this.#path = host.url.pathname + host.url.search
    this.#sessionId = sessionId
  }

  get sessionId(): string | undefined {
    return this.#sessionId
  }

  override get size(): number {
    return super.size + this.#resumed.size
  }

  protected override dispatch(message: OutgoingMessage): void {
    const { method } = message.sent
    if (method === 'initialize') {
      this.#isBeginning = true
      this.#sessionId = undefined
      this.#listener?.stop()
      this.#listener = undefined
    }
    // What comes after it must not overtake it.
    if (method === 'notifications/initialized') {
      this.#isBeginning = false
      this.waiting = []
    }
    this.post(message, {
      path: this.#path,
      headers: this.#postHeaders(),
      sessionId: this.#sessionId,
      answersElsewhere: false,
    })
  }

  override abort(request: RequestId): void {
    super.abort(request)
    this.#resumed.get(request)?.stop()
    this.#resumed.delete(request)
  }

  override close(): ReturnType<PostTransport['close']> {
    this.#closed = true
    const { unwritten } = super.close()
    for (const listener of [this.#listener, ...this.#resumed.values()]) listener?.stop()
    return { unwritten, over: this.#farewell() }
  }

  override onTaken(post: Post, headers: ResponseHeaders): void {
    const { method } = post.message.sent
    if (method === 'initialize') {
      this.#hasBegun = true
      this.#enterSession(post, headers)
    }
    if (method !== 'notifications/initialized' || this.#closed) return
    this.listen()
    this.release()
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
    const message = `the server \`${this.host.name}\` gave a session id that no header can carry`
    const { request } = post
    this.host.giveUp({ code: 'UPSTREAM_BAD_ANSWER', message, request, repeatable: false })
  }

  override onRefused(post: Post, failure: UpstreamFailure, spoke: boolean): void {
    const status = failure.status ?? 0
    const mayBeOld = status >= 400 && status < 500 && !spoke && !NOT_THE_TRANSPORT.has(status)
    if (post.message.sent.method === 'initialize' && mayBeOld && !this.#hasBegun)
      return this.host.tryOld(post.message, failure)
    // It met a session that another has replaced since.
    const isLate = post.sessionId !== this.#sessionId && !this.#isBeginning
    if (isLate && failure.code === 'UPSTREAM_SESSION_GONE' && post.message.again !== true)
      return this.send({ ...post.message, again: true })
    super.onRefused(post, failure, spoke)
  }

  override onBroken(post: Post, failure: UpstreamFailure): void {
    const { request, body } = post
    const { lastEventId, retryMs } = body instanceof EventBody ? body.parser : {}
    if (request === undefined || lastEventId === undefined || this.#closed)
      return this.host.fail(failure)
    const options = { ...this.#listening, request, lastEventId, retryMs }
    const listener = new HttpGetStream(this.host, {
      ...options,
      onOver: (later) => {
        this.#resumed.delete(request)
        if (this.host.conversation.open.has(request))
          this.host.fail({ ...failure, ...(later?.status ? { status: later.status } : {}) })
      },
    })
    this.#resumed.set(request, listener)
    if (post.endedEarly) this.host.onSuspended(request)
  }

  listen(): void {
    this.#listener ??= new HttpGetStream(this.host, {
      ...this.#listening,
      onOver: (failure) => {
        if (failure === undefined) return
        // The next request finds out, and initializes again.
        if (failure.code === 'UPSTREAM_SESSION_GONE') this.#listener = undefined
        else this.host.log('warn', `no stream of its own: ${failure.message}`)
      },
    })
  }

  get #listening() {
    return {
      headers: () => this.#sessionHeaders(),
      inSession: this.#sessionId !== undefined,
    }
  }

  #sessionHeaders(): Record<string, string> {
    const { revision } = this.host.conversation
    return {
      ...(this.#sessionId === undefined ? {} : { 'mcp-session-id': this.#sessionId }),
      ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
    }
  }

  /** One object for all calls of a session. */
  #postHeaders(): Readonly<Record<string, string>> {
    const { revision } = this.host.conversation
    if (this.#posting?.id !== this.#sessionId || this.#posting?.revision !== revision)
      this.#posting = undefined
    this.#posting ??= {
      id: this.#sessionId,
      revision,
      headers: { ...POST_HEADERS, ...this.#sessionHeaders() },
    }
    return this.#posting.headers
  }

  protected override streams(request: RequestId | undefined): Pausable[] {
    const posts = super.streams(request)
    if (request !== undefined) return [...posts, this.#resumed.get(request) ?? []].flat()
    return [...posts, ...this.#resumed.values(), this.#listener ?? []].flat()
  }

  /** A server should end the stream after the answer; one that does not keeps a connection. */
  override onAnswered(post: Post): void {
    this.#tails.add(post)
    const [oldest] = this.#tails
    if (this.#tails.size > HTTP_TAILS_MAX && oldest !== undefined) this.end(oldest)
  }

  /** What waited for `notifications/initialized` goes on, also if that failed. */
  override onOver(post: Post): void {
    super.onOver(post)
    this.#tails.delete(post)
    if (post.message.sent.method === 'notifications/initialized' && !this.#closed) this.release()
  }

  #farewell(): Promise<void> {
    const { host } = { host: this.host }
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
