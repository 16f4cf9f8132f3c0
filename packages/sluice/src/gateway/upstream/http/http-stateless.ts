// HTTP towards a server of the stateless generation (2026-07-28): every request is a POST of its own with
// headers that repeat what its body says. There is no session, no stream but a request's own, and
// going away is how a request is cancelled.

import { isObject } from '@sluice/policy/core/json'
import {
  encodeValue,
  listParamHeaders,
  nameIn,
  readArgumentAt,
} from '../../../protocol/mcp-headers.ts'
import type { RequestId } from '../../../protocol/message.ts'
import { getMeta, META, STATELESS_REVISION } from '../../../protocol/protocol-generation.ts'
import { BASE64 } from '../../shared/base64.ts'
import type { OutboundRequest } from '../upstream.ts'
import type { HttpHost, HttpTransport, OutgoingMessage } from './http-host.ts'
import { POST_HEADERS, Post } from './http-post.ts'

export class StatelessHttpTransport implements HttpTransport {
  readonly #host: HttpHost
  readonly #posts = new Set<Post>()

  constructor(host: HttpHost) {
    this.#host = host
  }

  get size(): number {
    return this.#posts.size
  }

  /** Notifications and answers have nowhere to go in this generation. */
  send(message: OutgoingMessage): void {
    const { passing } = message
    if (passing === undefined) return
    const { url } = this.#host
    const options = {
      path: url.pathname + url.search,
      headers: headersFor(passing),
      answersElsewhere: false,
      staysOpen: passing.method === 'subscriptions/listen',
    }
    const post = new Post(this.#host, message, options, {
      onTaken: () => {},
      onRefused: (post, failure) => {
        if (!this.#host.sendAgain(post.message, failure)) this.#host.fail(failure)
      },
      onBroken: (_post, failure) => this.#host.fail(failure),
      onAnswered: (post) => this.#end(post),
      onOver: (post) => this.#posts.delete(post),
    })
    this.#posts.add(post)
  }

  pause(request?: RequestId): void {
    for (const { exchange } of this.#of(request)) exchange.pause()
  }

  resume(request?: RequestId): void {
    for (const { exchange } of this.#of(request)) exchange.resume()
  }

  abort(request: RequestId): void {
    for (const post of this.#of(request)) this.#end(post)
  }

  close(): { unwritten: RequestId[]; over: Promise<void> } {
    const unwritten = [...this.#posts]
      .filter(({ exchange }) => !exchange.written)
      .flatMap(({ request }) => (request === undefined ? [] : [request]))
    for (const post of [...this.#posts]) this.#end(post)
    return { unwritten, over: Promise.resolve() }
  }

  #end(post: Post): void {
    post.exchange.abort()
    this.#posts.delete(post)
  }

  #of(request: RequestId | undefined): Post[] {
    const posts = [...this.#posts]
    return request === undefined ? posts : posts.filter((post) => post.request === request)
  }
}

/** Written from the body, never taken from a client. */
function headersFor({ method, params, tool }: OutboundRequest): Record<string, string> {
  const version = getMeta(params)[META.version]
  const headers: Record<string, string> = {
    ...POST_HEADERS,
    'mcp-protocol-version': typeof version === 'string' ? version : STATELESS_REVISION,
    'mcp-method': encodeValue(method, BASE64),
  }
  const name = nameIn(method, params)
  if (name !== undefined) headers['mcp-name'] = encodeValue(name, BASE64)
  const args = params?.value.arguments
  if (!isObject(args)) return headers
  for (const { header, path } of listParamHeaders(tool?.definition.inputSchema) ?? []) {
    const value = readArgumentAt(args, path)
    if (value !== undefined) headers[header] = encodeValue(String(value), BASE64)
  }
  return headers
}
