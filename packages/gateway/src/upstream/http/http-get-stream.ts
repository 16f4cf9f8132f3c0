// A stream that a server keeps open for its own requests and notifications (GET), opened again when it
// ends, from the last event that came. Also goes on with an answer whose own stream broke off.

import { EVENT_IDLE_LINES_MAX } from '@sluice/protocol/json/limits'
import type { RequestId } from '@sluice/protocol/message'
import { restartDelayMs } from '../../shared/restart.ts'
import {
  HTTP_RESUME_TRIES_MAX,
  HTTP_RESUME_WAIT_MS,
  HTTP_RESUME_WAIT_MS_MAX,
  HTTP_RESUME_WAIT_MS_MIN,
} from '../limits.ts'
import type { UpstreamFailure } from '../upstream.ts'
import { bodyKindOf, EventBody } from './http-body.ts'
import { HttpExchange } from './http-exchange.ts'
import { failureOfError, failureOfStatus } from './http-failure.ts'
import type { HttpHost } from './http-host.ts'
import type { ResponseHeaders } from './http-response.ts'

export interface ListenOptions {
  /** The headers, with those of the session. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly inSession: boolean
  /** The request whose answer is to come, for a stream that goes on with one. */
  readonly request?: RequestId | undefined
  readonly lastEventId?: string | undefined
  readonly retryMs?: number | undefined
  /** The stream is the session: it is not opened again. */
  readonly isOnce?: boolean
  /** An event that is no message. */
  readonly onEvent?: (event: string, data: string) => void
  /** It will not be opened again. A server that has no such stream (405) is no failure. */
  readonly onOver: (failure: UpstreamFailure | undefined) => void
}

export class HttpGetStream {
  readonly #host: HttpHost
  readonly #options: ListenOptions
  #exchange: HttpExchange | undefined
  #body: EventBody | undefined
  #refusal: { status: number; headers: ResponseHeaders } | undefined
  #lastEventId: string | undefined
  #retryMs: number | undefined
  #delayMs: number | undefined
  #openedMs = 0
  #tries = 0
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(host: HttpHost, options: ListenOptions) {
    this.#host = host
    this.#options = options
    this.#lastEventId = options.lastEventId
    this.#retryMs = options.retryMs
    if (options.lastEventId === undefined) this.#open()
    else this.#openLater()
  }

  pause(): void {
    this.#exchange?.pause()
  }

  resume(): void {
    this.#exchange?.resume()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#exchange?.abort()
  }

  #open(): void {
    const { host, lastEventId } = { host: this.#host, lastEventId: this.#lastEventId }
    const headers = host.headers({
      accept: 'text/event-stream',
      ...this.#options.headers(),
      // What a header cannot carry is not asked for.
      ...(lastEventId !== undefined && /^[\x21-\x7e]+$/.test(lastEventId)
        ? { 'last-event-id': lastEventId }
        : {}),
    })
    const path = host.url.pathname + host.url.search
    this.#openedMs = performance.now()
    this.#body = undefined
    this.#refusal = undefined
    this.#exchange = new HttpExchange(
      host.pools.streams,
      { method: 'GET', path, headers },
      {
        onHead: (status, headers) => this.#onHead(status, headers),
        onData: (chunk) => this.#onData(chunk),
        onEnd: () => this.#onEnd(undefined),
        onError: (error) => this.#onEnd(error),
      },
    )
    if (host.paused) this.#exchange.pause()
  }

  #onHead(status: number, headers: ResponseHeaders): void {
    if (status !== 200 || bodyKindOf(headers) !== 'events') {
      this.#exchange?.abort()
      this.#refusal = { status, headers }
      this.#onEnd(undefined)
      return
    }
    this.#tries = 0
    const { request, onEvent } = this.#options
    this.#body = new EventBody(
      {
        messageBytesMax: this.#host.messageBytesMax,
        onMessages: (messages) => this.#host.deliver(messages, request),
        onTooLarge: () =>
          this.#host.log('warn', 'an event beyond the bound was passed over', {
            server: this.#host.name,
          }),
        onJunk: () => this.#onJunk(),
        ...(onEvent === undefined ? {} : { onEvent }),
      },
      () => this.#host.conversation.batches,
    )
  }

  #onData(chunk: Buffer): Buffer | undefined {
    const rest = this.#body && this.#exchange?.readInto(this.#body, chunk, this.#host)
    if (this.#isAnswered()) this.#over(undefined)
    return rest
  }

  /** One that waits for an answer is over; any other is opened again, later. */
  #onJunk(): void {
    const { name } = this.#host
    const message = `the server \`${name}\` sent more than ${EVENT_IDLE_LINES_MAX} lines without an event`
    const { request } = this.#options
    this.#host.log('warn', message, { server: name })
    if (request !== undefined)
      return this.#over({ code: 'UPSTREAM_BAD_ANSWER', message, request, repeatable: false })
    this.#exchange?.abort()
    this.#onEnd(new Error(message))
  }

  #onEnd(error: Error | undefined): void {
    this.#lastEventId = this.#body?.parser.lastEventId ?? this.#lastEventId
    this.#retryMs = this.#body?.parser.retryMs ?? this.#retryMs
    if (this.#stopped) return
    if (this.#isAnswered()) return this.#over(undefined)
    const failure = this.#failure(error)
    const isFinal =
      this.#options.isOnce === true || (this.#refusal !== undefined && this.#refusal.status < 500)
    this.#tries += 1
    const isPatient = this.#options.request === undefined || this.#tries <= HTTP_RESUME_TRIES_MAX
    if (isFinal || !isPatient) this.#over(this.#refusal?.status === 405 ? undefined : failure)
    else this.#openLater()
  }

  #openLater(): void {
    const upMs = performance.now() - this.#openedMs
    const delayMs =
      this.#retryMs ?? (this.#options.request === undefined ? undefined : HTTP_RESUME_WAIT_MS)
    this.#delayMs = restartDelayMs(this.#delayMs, upMs)
    const waitMs =
      delayMs === undefined
        ? this.#delayMs
        : Math.min(HTTP_RESUME_WAIT_MS_MAX, Math.max(HTTP_RESUME_WAIT_MS_MIN, delayMs))
    this.#timer = setTimeout(() => this.#open(), waitMs)
    this.#timer.unref()
  }

  #failure(error: Error | undefined): UpstreamFailure {
    const { name } = this.#host
    const { request, inSession } = this.#options
    // The request itself was written, before its stream broke.
    const broke = error ?? new Error('the stream ended before the answer')
    if (this.#refusal === undefined) return failureOfError(name, request, broke, true)
    const { status, headers } = this.#refusal
    return failureOfStatus({ server: name, request, status, headers, text: '', inSession })
  }

  #isAnswered(): boolean {
    const { request } = this.#options
    return request !== undefined && !this.#host.conversation.open.has(request)
  }

  #over(failure: UpstreamFailure | undefined): void {
    if (this.#stopped) return
    this.stop()
    this.#options.onOver(failure)
  }
}
