// The transport of 2024-11-05, as a client: one stream by GET that first names an endpoint, messages
// to that endpoint by POST, answers on the stream. The stream is the session. Tried where a server
// refuses `initialize` by POST.

import { HTTP_ENDPOINT_LENGTH_MAX, HTTP_ENDPOINT_MS_MAX } from '../limits.ts'
import type { UpstreamFailure } from '../upstream.ts'
import { HttpGetStream } from './http-get-stream.ts'
import type { HttpHost, OutgoingMessage } from './http-host.ts'
import { POST_HEADERS } from './http-post.ts'
import { type Pausable, PostTransport } from './http-transport.ts'

export class HttpSseTransport extends PostTransport {
  readonly #onNone: () => void
  readonly #stream: HttpGetStream
  readonly #timer: NodeJS.Timeout
  #endpoint: string | undefined

  /** `onNone`: the server has no such transport either. */
  constructor(host: HttpHost, onNone: () => void) {
    super(host)
    this.#onNone = onNone
    this.waiting = []
    this.#stream = new HttpGetStream(host, {
      headers: () => ({}),
      inSession: false,
      isOnce: true,
      onEvent: (event, data) => {
        if (event === 'endpoint' && this.#endpoint === undefined) this.#onEndpoint(data)
      },
      onOver: (failure) => this.#onEnd(failure),
    })
    this.#timer = setTimeout(() => this.#none(), HTTP_ENDPOINT_MS_MAX).unref()
  }

  /** Whether a message arrived or not: if it did, the answer comes on the stream. */
  protected override dispatch(message: OutgoingMessage): void {
    const path = this.#endpoint as string
    this.post(message, { path, headers: POST_HEADERS, answersElsewhere: true })
  }

  protected override streams(): Pausable[] {
    return [this.#stream]
  }

  override abort(): void {}

  override close(): ReturnType<PostTransport['close']> {
    clearTimeout(this.#timer)
    this.#stream.stop()
    return super.close()
  }

  #onEndpoint(data: string): void {
    const path = endpointPath(data, this.host.url)
    if (path === undefined) {
      const message = `the server \`${this.host.name}\` names an endpoint on another host`
      const failure = { code: 'UPSTREAM_REDIRECT', message, request: undefined } as const
      return this.host.giveUp({ ...failure, repeatable: false })
    }
    clearTimeout(this.#timer)
    this.#endpoint = path
    this.release()
  }

  #onEnd(failure: UpstreamFailure | undefined): void {
    if (this.#endpoint === undefined) return this.#none()
    const message = failure?.message ?? `the server \`${this.host.name}\` ended its stream`
    const gone = { code: 'UPSTREAM_SESSION_GONE', message, request: undefined } as const
    this.host.giveUp({ ...gone, repeatable: false }, 'session gone')
  }

  #none(): void {
    clearTimeout(this.#timer)
    this.#stream.stop()
    this.#onNone()
  }
}

/** Returns undefined if the address is not on the server's own origin: elsewhere it would get what the configuration
 * trusts this server with. The origin alone is not enough: that of `blob:http://host/` is the host's. */
function endpointPath(data: string, { href, origin, protocol }: URL): string | undefined {
  const endpoint = data.length > HTTP_ENDPOINT_LENGTH_MAX ? null : URL.parse(data, href)
  if (endpoint === null || endpoint.origin !== origin || endpoint.protocol !== protocol)
    return undefined
  const { username, password, pathname, search } = endpoint
  return username === '' && password === '' ? pathname + search : undefined
}
