// The transport of 2024-11-05, as a client: one stream by GET that first names an endpoint, messages
// to that endpoint by POST, answers on the stream. The stream is the session. Tried where a server
// refuses `initialize` by POST.

import { EVENT_IDLE_LINES_MAX } from '../../../protocol/json/limits.ts'
import type { RequestId } from '../../../protocol/message.ts'
import { HTTP_ENDPOINT_LENGTH_MAX, HTTP_ENDPOINT_MS_MAX } from '../limits.ts'
import { bodyKindOf, EventBody } from './http-body.ts'
import { HttpExchange } from './http-exchange.ts'
import type { HttpHost, HttpTransport, OutgoingMessage } from './http-host.ts'
import { POST_HEADERS, Post } from './http-post.ts'
import type { ResponseHeaders } from './http-response.ts'

export class HttpSseTransport implements HttpTransport {
  readonly #host: HttpHost
  readonly #onNone: () => void
  readonly #stream: HttpExchange
  readonly #body: EventBody
  readonly #timer: NodeJS.Timeout
  readonly #posts = new Set<Post>()
  #waiting: OutgoingMessage[] = []
  #endpoint: string | undefined

  /** `onNone`: the server has no such transport either. */
  constructor(host: HttpHost, onNone: () => void) {
    this.#host = host
    this.#onNone = onNone
    this.#body = new EventBody(
      {
        messageBytesMax: host.messageBytesMax,
        onMessages: (messages) => host.deliver(messages, undefined),
        onTooLarge: () =>
          host.log('warn', 'an event beyond the bound was passed over', { server: host.name }),
        onJunk: () => {
          this.#stream.abort()
          this.#onEnd(`sent more than ${EVENT_IDLE_LINES_MAX} lines without an event`)
        },
        onEvent: (event, data) => {
          if (event === 'endpoint' && this.#endpoint === undefined) this.#onEndpoint(data)
        },
      },
      () => host.conversation.batches,
    )
    const path = host.url.pathname + host.url.search
    const headers = host.headers({ accept: 'text/event-stream' })
    this.#stream = new HttpExchange(
      host.pools.streams,
      { method: 'GET', path, headers },
      {
        onHead: (status, headers) => this.#onHead(status, headers),
        onData: (chunk) => this.#stream.readInto(this.#body, chunk, host),
        onEnd: () => this.#onEnd('ended its stream'),
        onError: (error) => this.#onEnd(`broke its stream: ${error.message}`),
      },
    )
    this.#timer = setTimeout(() => this.#none(), HTTP_ENDPOINT_MS_MAX)
    this.#timer.unref()
  }

  get size(): number {
    return this.#posts.size + this.#waiting.length
  }

  send(message: OutgoingMessage): void {
    if (this.#endpoint === undefined) {
      this.#waiting.push(message)
      return
    }
    const options = {
      path: this.#endpoint,
      headers: POST_HEADERS,
      answersElsewhere: true,
    }
    const post = new Post(this.#host, message, options, {
      onTaken: () => {},
      onAnswered: () => {},
      onRefused: (post, failure) => {
        if (!this.#host.sendAgain(post.message, failure)) this.#host.fail(failure)
      },
      // Whether it arrived or not: if it did, the answer comes on the stream.
      onBroken: (_, failure) => this.#host.fail(failure),
      onOver: (post) => this.#posts.delete(post),
    })
    this.#posts.add(post)
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  abort(): void {}

  close(): { unwritten: RequestId[]; over: Promise<void> } {
    clearTimeout(this.#timer)
    this.#stream.abort()
    const waiting = this.#waiting.map(({ sent }) => (sent.method ? sent.id : undefined))
    const posted = [...this.#posts]
      .filter(({ exchange }) => !exchange.written)
      .map(({ request }) => request)
    for (const { exchange } of this.#posts) exchange.abort()
    const unwritten = [...posted, ...waiting].filter((id) => id !== undefined)
    return { unwritten, over: Promise.resolve() }
  }

  #onHead(status: number, headers: ResponseHeaders): void {
    if (status !== 200 || bodyKindOf(headers) !== 'events') this.#none()
  }

  #onEndpoint(data: string): void {
    const path = endpointPath(data, this.#host.url)
    if (path === undefined) {
      const message = `the server \`${this.#host.name}\` names an endpoint on another host`
      const failure = { code: 'UPSTREAM_REDIRECT', message, request: undefined } as const
      return this.#host.giveUp({ ...failure, repeatable: false })
    }
    clearTimeout(this.#timer)
    this.#endpoint = path
    for (const message of this.#waiting.splice(0)) this.send(message)
  }

  #onEnd(what: string): void {
    if (this.#endpoint === undefined) return this.#none()
    const message = `the server \`${this.#host.name}\` ${what}`
    const failure = { code: 'UPSTREAM_SESSION_GONE', message, request: undefined } as const
    this.#host.giveUp({ ...failure, repeatable: false }, 'session gone')
  }

  #none(): void {
    clearTimeout(this.#timer)
    this.#stream.abort()
    this.#onNone()
  }
}

/** Undefined if it is not on the server's own origin: elsewhere it would get what the configuration
 * trusts this server with. The origin alone does not tell: that of `blob:http://host/` is the host's. */
function endpointPath(data: string, { href, origin, protocol }: URL): string | undefined {
  const endpoint = data.length > HTTP_ENDPOINT_LENGTH_MAX ? null : URL.parse(data, href)
  if (endpoint === null || endpoint.origin !== origin || endpoint.protocol !== protocol)
    return undefined
  const { username, password, pathname, search } = endpoint
  return username === '' && password === '' ? pathname + search : undefined
}
