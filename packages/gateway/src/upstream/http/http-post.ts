// One message on its way to an HTTP server by POST, and what comes back for it: an answer in JSON, a
// stream of events with the answer among them, or nothing but the word that it was taken.

import { EVENT_IDLE_LINES_MAX } from '@sluice/protocol/json/limits'
import type { RequestId } from '@sluice/protocol/message'
import { checkTrace } from '../../shared/trace-context.ts'
import { HTTP_ERROR_BYTES_MAX, HTTP_LISTEN_JSON_MS_MAX } from '../limits.ts'
import { readUpstreamMessages, type UpstreamMessages } from '../read-upstream-messages.ts'
import type { UpstreamFailure } from '../upstream.ts'
import { describeTooLarge } from '../upstream-state.ts'
import { type BodyEvents, bodyKindOf, EventBody, JsonBody, type ResponseBody } from './http-body.ts'
import { HttpExchange, type HttpExchangeEvents } from './http-exchange.ts'
import { failureOfError, failureOfStatus } from './http-failure.ts'
import type { HttpHost, OutgoingMessage } from './http-host.ts'
import type { ResponseHeaders } from './http-response.ts'

export const POST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

export interface PostOptions {
  readonly path: string
  /** POST_HEADERS and what else there is: the same object as long as it is the same. */
  readonly headers: Readonly<Record<string, string>>
  /** The session that the message names. */
  readonly sessionId?: string | undefined
  /** The old transport: answers come on its one stream. */
  readonly answersElsewhere: boolean
  /** The answer is a stream that goes on: it must not take a connection from the calls. */
  readonly staysOpen?: boolean
}

export interface PostEvents {
  /** The server took the message. */
  onTaken(post: Post, headers: ResponseHeaders): void
  /** It did not; `spoke` where it said so in JSON-RPC. */
  onRefused(post: Post, failure: UpstreamFailure, spoke: boolean): void
  /** It took a request and the answer did not come. */
  onBroken(post: Post, failure: UpstreamFailure): void
  /** The answer came on a stream that goes on. */
  onAnswered(post: Post): void
  /** Last of all, whatever happened; perhaps more than once. */
  onOver(post: Post): void
}

interface RejectedPost {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly chunks: Buffer[]
}

export class Post implements HttpExchangeEvents, BodyEvents {
  readonly message: OutgoingMessage
  /** The id of the request; undefined for notifications and answers. */
  readonly request: RequestId | undefined
  readonly exchange: HttpExchange
  /** The body of a stream with ids, to go on from after it broke. */
  body: ResponseBody | undefined
  readonly #host: HttpHost
  readonly #options: PostOptions
  readonly #events: PostEvents
  /** The server ended the stream by itself, without an answer. */
  endedEarly = false
  #refusal: RejectedPost | undefined
  #passedOverBytes = 0

  constructor(host: HttpHost, message: OutgoingMessage, options: PostOptions, events: PostEvents) {
    this.message = message
    this.request = message.sent.method === undefined ? undefined : message.sent.id
    this.#host = host
    this.#options = options
    this.#events = events
    const headers = host.headers(withTrace(options.headers, message), message.authorization)
    const request = { method: 'POST', path: options.path, headers, body: message.text } as const
    const { calls, streams } = host.pools
    this.exchange = new HttpExchange(options.staysOpen === true ? streams : calls, request, this)
    if (host.paused) this.exchange.pause()
  }

  get sessionId(): string | undefined {
    return this.#options.sessionId
  }

  get isAnswered(): boolean {
    return this.request === undefined || !this.#host.conversation.open.has(this.request)
  }

  get messageBytesMax(): number {
    return this.#host.messageBytesMax
  }

  onHead(status: number, headers: ResponseHeaders): void {
    if (status >= 300) {
      this.#refusal = { status, headers, chunks: [] }
      return
    }
    const kind = bodyKindOf(headers)
    const { conversation } = this.#host
    if (kind === 'json') this.body = new JsonBody(this, conversation.batches)
    if (kind === 'json' && this.#options.staysOpen === true) this.#expectEnd()
    if (kind === 'events') this.body = new EventBody(this, () => conversation.batches)
    this.#onTaken(headers)
    if (kind === 'unreadable') this.#nonsense('answered in an encoding that nobody asked for')
  }

  #onTaken(headers: ResponseHeaders): void {
    this.message.credential?.accepted(this.message.authorization)
    this.#events.onTaken(this, headers)
  }

  /** A stream of events labelled as JSON would be read for ever, and no event delivered. */
  #expectEnd(): void {
    setTimeout(() => {
      if (!this.exchange.over)
        this.#nonsense('answered a subscription in JSON that does not end, and not with events')
    }, HTTP_LISTEN_JSON_MS_MAX).unref()
  }

  onData(chunk: Buffer): Buffer | undefined {
    if (this.body !== undefined) return this.exchange.readInto(this.body, chunk, this.#host)
    this.#passedOverBytes += chunk.length
    this.#refusal?.chunks.push(chunk)
    if (this.#passedOverBytes <= HTTP_ERROR_BYTES_MAX) return undefined
    this.exchange.abort()
    this.onEnd()
    return undefined
  }

  onEnd(): void {
    if (this.#refusal !== undefined) this.#refuse(this.#refusal)
    else {
      this.body?.end()
      if (!this.isAnswered && !this.#options.answersElsewhere) this.#endedEarly()
    }
    this.#events.onOver(this)
  }

  onWhole(status: number, headers: ResponseHeaders, body: string | Buffer): boolean {
    const isAnswer = status < 300 && typeof body === 'string' && body !== ''
    if (!isAnswer || bodyKindOf(headers) !== 'json') return false
    this.#onTaken(headers)
    this.#host.restMs(body.length)
    const messages = readUpstreamMessages(body, this.#host.conversation.batches)
    this.#host.deliver(messages, this.request)
    if (!messages.ok) this.#nonsense(`answered with what no peer may: ${messages.why}`)
    if (!this.isAnswered && !this.#options.answersElsewhere)
      this.#nonsense('took the request and gave no answer')
    this.#events.onOver(this)
    return true
  }

  #endedEarly(): void {
    this.endedEarly = true
    if (this.body instanceof EventBody) this.#break(new Error('the stream ended before the answer'))
    else this.#nonsense('took the request and gave no answer')
  }

  onError(error: Error): void {
    if (this.exchange.written) this.#break(error)
    else
      this.#events.onRefused(
        this,
        failureOfError(this.#host.name, this.request, error, false),
        false,
      )
    this.#events.onOver(this)
  }

  #break(error: Error): void {
    if (this.isAnswered && this.request !== undefined) return
    this.#events.onBroken(this, failureOfError(this.#host.name, this.request, error, true))
  }

  #refuse({ status, headers, chunks }: RejectedPost): void {
    const text = Buffer.concat(chunks).subarray(0, HTTP_ERROR_BYTES_MAX).toString('utf8')
    const messages = bodyKindOf(headers) === 'json' ? readUpstreamMessages(text, false) : undefined
    const answer = messages?.ok
      ? messages.messages.find((message) => message.kind === 'answer')
      : undefined
    const { name } = this.#host
    const { request } = this
    const shown = answer?.error?.message ?? text
    const inSession = this.sessionId !== undefined
    const failure = failureOfStatus({
      server: name,
      request,
      status,
      headers,
      text: shown,
      inSession,
    })
    const speaks = answer !== undefined && failure.code === 'UPSTREAM_STATUS'
    // The server's own error for this request is its answer, whatever the status.
    if (speaks && request !== undefined && answer.id === request && messages?.ok)
      this.#host.deliver(messages, request)
    else this.#events.onRefused(this, failure, speaks)
  }

  #nonsense(what: string): void {
    const message = `the server \`${this.#host.name}\` ${what}`
    const { request } = this
    this.exchange.abort()
    if (!this.isAnswered)
      this.#host.fail({ code: 'UPSTREAM_BAD_ANSWER', message, request, repeatable: false })
    this.#events.onOver(this)
  }

  onMessages(messages: UpstreamMessages): void {
    this.#host.deliver(messages, this.request)
    if (this.body instanceof EventBody && this.isAnswered) this.#events.onAnswered(this)
    // In JSON there is nothing but the answer: if it cannot be read, there is none.
    if (!messages.ok && this.body instanceof JsonBody)
      this.#nonsense(`answered with what no peer may: ${messages.why}`)
  }

  onJunk(): void {
    this.#nonsense(`sent more than ${EVENT_IDLE_LINES_MAX} lines without an event`)
  }

  onTooLarge(): void {
    const said = `the server \`${this.#host.name}\` ${describeTooLarge(this.messageBytesMax)}`
    const { request } = this
    this.exchange.abort()
    if (!this.isAnswered)
      this.#host.fail({ code: 'UPSTREAM_TOO_LARGE', message: said, request, repeatable: false })
    this.#events.onOver(this)
  }
}

/** Checked, since they are the client's own words in a header. */
function withTrace(
  headers: Readonly<Record<string, string>>,
  { trace }: OutgoingMessage,
): Readonly<Record<string, string>> {
  const checked = trace === undefined ? undefined : checkTrace(trace)
  return checked === undefined ? headers : { ...headers, ...checked }
}
