// A link to a server over HTTP: Streamable HTTP, or the transport of 2024-11-05 where the server has
// only that. Sends what the configuration says and nothing of the client's but its trace context. A message
// waits for the credential of its caller, and is sent once more if the server refuses the token (401).
// Owned by the relay.

import { performance } from 'node:perf_hooks'
import {
  readSecrets,
  type Secret,
  type SecretError,
} from '@sluice/access/identity/oauth/secret-text'
import type { RequestId } from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import type { Log } from '../../shared/log.ts'
import { TokenBucket } from '../../shared/token-bucket.ts'
import { SESSION_TAKEN } from '../../shared/transport.ts'
import {
  HTTP_AGAIN_MS,
  HTTP_OPEN_EXCHANGES_MAX,
  STDOUT_CREDIT_MAX,
  STDOUT_UNIT_BYTES,
  STDOUT_UNITS_PER_SECOND,
  STRAY_LINES_LOGGED_PER_SECOND,
  UPSTREAM_MESSAGE_BYTES,
} from '../limits.ts'
import type { UpstreamMessages } from '../read-upstream-messages.ts'
import { describeSecretFault } from '../secret-fault.ts'
import type {
  MessageCredential,
  Upstream,
  UpstreamEvents,
  UpstreamFailure,
  UpstreamSendOptions,
} from '../upstream.ts'
import { readMessageHead, UpstreamState } from '../upstream-state.ts'
import type { HttpHost, HttpTransport, OutgoingMessage } from './http-host.ts'
import type { HttpPools, OriginPools } from './http-pools.ts'
import { HttpSseTransport } from './http-sse.ts'
import { StatelessHttpTransport } from './http-stateless.ts'
import { StreamableHttpTransport } from './http-streamable.ts'

export interface HttpServerOptions {
  readonly name: string
  readonly url: string
  /** The generation that is spoken with this server. */
  readonly generation: ProtocolGeneration
  /** From the configuration. */
  readonly headers?: Readonly<Record<string, Secret>> | undefined
  /** The credential of the caller of a message; of the session's, if the message is the gate's own. */
  readonly findCredential?: ((carried?: UpstreamSendOptions) => MessageCredential) | undefined
  readonly pools: HttpPools
  /** Size of one message of the server. */
  readonly messageBytesMax?: number | undefined
  /** The gate stops: sessions are to go on when it is back. */
  readonly isLeaving?: () => boolean
  /** What another link to this server said of itself. */
  readonly handle?: string | undefined
  readonly log: Log
}

/** Connects with the first message. */
export class HttpUpstream implements Upstream, HttpHost {
  failure: UpstreamFailure | undefined
  readonly #ended = Promise.withResolvers<void>()
  readonly ended = this.#ended.promise
  readonly name: string
  readonly url: URL
  readonly pools: OriginPools
  readonly messageBytesMax: number
  readonly log: Log
  readonly conversation = new UpstreamState()
  paused = false

  readonly #options: HttpServerOptions
  readonly #events: UpstreamEvents
  readonly #budget = new TokenBucket(STDOUT_UNITS_PER_SECOND, performance.now(), STDOUT_CREDIT_MAX)
  readonly #strayBudget = new TokenBucket(STRAY_LINES_LOGGED_PER_SECOND, performance.now())
  /** The headers of the configuration, with its secrets. */
  #configured: Readonly<Record<string, string>> = {}
  #hasSecrets: boolean | undefined
  #transport: HttpTransport
  #lastHeaders:
    | {
        readonly own: Readonly<Record<string, string>>
        readonly authorization: string | undefined
        readonly all: Readonly<Record<string, string>>
      }
    | undefined
  /** Messages that wait for a token are sent in order. */
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #closed = false
  #isTaken = false

  constructor(options: HttpServerOptions, events: UpstreamEvents) {
    this.#options = options
    this.#events = events
    this.name = options.name
    this.url = new URL(options.url)
    this.pools = options.pools.to(this.url.origin)
    this.log = options.log
    this.messageBytesMax = options.messageBytesMax ?? UPSTREAM_MESSAGE_BYTES
    if (options.generation === 'stateless') this.#transport = new StatelessHttpTransport(this)
    else {
      const stored = options.handle === undefined ? undefined : readHandle(options.handle)
      this.conversation.revision = stored?.revision
      this.#transport = new StreamableHttpTransport(this, stored?.sessionId)
      if (stored !== undefined) queueMicrotask(() => this.#transport.listen?.())
    }
  }

  send(text: string, carried?: UpstreamSendOptions): boolean {
    if (this.#closed) return false
    const sent = carried?.passing ?? readMessageHead(text)
    const waiting = Math.max(this.#transport.size, this.conversation.open.size)
    this.conversation.noteSent(sent)
    if (waiting >= HTTP_OPEN_EXCHANGES_MAX) {
      const message = `${HTTP_OPEN_EXCHANGES_MAX} messages wait for the server \`${this.name}\` already`
      const request = sent.method === undefined ? undefined : sent.id
      this.fail({ code: 'UPSTREAM_BUSY', message, request, repeatable: true })
      return true
    }
    const fault = this.#readSecrets()
    if (fault !== undefined) {
      const request = sent.method === undefined ? undefined : sent.id
      const help = 'the calls fail until it can be read'
      const { code, detail, message } = fault
      this.log('warn', detail ?? message, { server: this.name, code })
      this.fail({ ...fault, help, request, repeatable: true })
      return true
    }
    this.#budget.addCredit()
    const { trace, passing } = carried ?? {}
    const credential = this.#options.findCredential?.(carried)
    const again = carried?.isRepeated
    const message = { text, sent, trace, passing, credential, authorization: undefined, again }
    const ready = credential?.ready()
    if (ready === undefined && this.#waiting === 0) this.#post(message)
    else {
      this.#waiting++
      this.#last = Promise.all([this.#last, ready]).then(() => {
        this.#waiting--
        this.#post(message)
      })
    }
    return true
  }

  #post(message: OutgoingMessage): void {
    const { credential } = message
    const { id, method } = message.sent
    const request = method === undefined ? undefined : id
    // It may have been given up while it waited.
    if (this.#closed || (request !== undefined && !this.conversation.open.has(request))) return
    const { failure, header } = credential ?? {}
    message.authorization = header
    if (failure === undefined) this.#transport.send(message)
    // After `send` has returned.
    else if (request !== undefined)
      queueMicrotask(() => this.fail({ ...failure, request, repeatable: true }))
  }

  get handle(): string | undefined {
    if (this.#transport instanceof HttpSseTransport) return undefined
    const { revision } = this.conversation
    return JSON.stringify([this.#transport.sessionId ?? null, revision ?? null])
  }

  /** The old transport has one stream for all. */
  get pausesApart(): boolean {
    return !(this.#transport instanceof HttpSseTransport)
  }

  get isLeaving(): boolean {
    return this.#isTaken || this.#options.isLeaving?.() === true
  }

  pause(request?: RequestId): void {
    if (request === undefined) this.paused = true
    this.#transport.pause(request)
  }

  resume(request?: RequestId): void {
    if (request === undefined) this.paused = false
    this.#transport.resume(request)
  }

  abort(request: RequestId): void {
    this.conversation.open.delete(request)
    this.#transport.abort(request)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#isTaken = why === SESSION_TAKEN
    const { unwritten, over } = this.#transport.close()
    for (const request of unwritten) {
      if (!this.conversation.open.delete(request)) continue
      this.#events.onFailure({
        code: 'UPSTREAM_UNREACHABLE',
        message: why,
        request,
        repeatable: true,
      })
    }
    this.#events.onClose(why)
    void over.then(this.#ended.resolve)
  }

  /** Files are read when they are needed, so that a rotated secret is used. Why they cannot be. */
  #readSecrets(): Pick<UpstreamFailure, 'code' | 'message' | 'detail'> | undefined {
    const { headers = {} } = this.#options
    if (this.#hasSecrets === false) return undefined
    try {
      const read = readSecrets(headers)
      this.#hasSecrets = Object.values(headers).some((value) => typeof value !== 'string')
      const names = Object.keys(read)
      if (names.every((name) => read[name] === this.#configured[name])) return undefined
      for (const name of names)
        if (/[^\t\x20-\x7e\x80-\xff]/.test(read[name] ?? ''))
          return {
            code: 'UPSTREAM_SECRET',
            message: `the header \`${name}\` has a character that no header can carry (of the server \`${this.name}\`)`,
          }
      this.#configured = read
      this.#lastHeaders = undefined
      return undefined
    } catch (error) {
      return describeSecretFault(this.name, (error as SecretError).message)
    }
  }

  headers(
    own: Readonly<Record<string, string>>,
    authorization = this.#options.findCredential?.().header,
  ): Readonly<Record<string, string>> {
    const last = this.#lastHeaders
    if (last?.own === own && last.authorization === authorization) return last.all
    const all: Record<string, string> = {}
    for (const [name, value] of Object.entries(this.#configured)) all[name.toLowerCase()] = value
    if (authorization !== undefined) all.authorization = authorization
    Object.assign(all, own)
    this.#lastHeaders = { own, authorization, all }
    return all
  }

  deliver(messages: UpstreamMessages, request: RequestId | undefined): void {
    if (this.#closed) return
    if (!messages.ok) return this.#stray(messages)
    for (const message of messages.messages) {
      this.conversation.received(message)
      if (!this.#budget.takeCredit()) this.#budget.spend(1, performance.now())
      if (!this.#closed) this.#events.onMessage(message, request === undefined ? {} : { request })
    }
  }

  fail(failure: UpstreamFailure): void {
    if (this.#closed) return
    const { request } = failure
    if (request === undefined)
      this.log('warn', failure.message, { server: this.name, code: failure.code })
    // Nobody waits for it: answered, or given up.
    else if (!this.conversation.open.delete(request)) return
    // In the words of the server; those of the credential say what to do.
    const isRefused = failure.code === 'UPSTREAM_NEEDS_LOGIN' && failure.status !== undefined
    const { help, connectAt } = (isRefused && this.#options.findCredential?.()) || failure
    this.#events.onFailure(help === undefined ? failure : { ...failure, help, connectAt })
  }

  onSuspended(request: RequestId): void {
    this.#events.onSuspended?.(request)
  }

  sendAgain(message: OutgoingMessage, failure: UpstreamFailure): boolean {
    const { authorization, credential, isRenewed } = message
    if (failure.status === 401 && credential !== undefined) {
      // If the store of tokens cannot be read there is no other one.
      const renewed = credential.refused(authorization).catch(() => false)
      void renewed.then((isNew) => {
        if (isNew && isRenewed !== true) this.#post({ ...message, isRenewed: true })
        else this.fail(failure)
      })
      return true
    }
    if (this.#closed || message.again === true || !failure.repeatable) return false
    if (failure.code === 'UPSTREAM_SESSION_GONE') {
      const { text, trace, passing } = message
      const carried = passing === undefined ? { trace } : { trace, passing }
      this.fail({ ...failure, unsent: { text, carried } })
      return true
    }
    this.log('warn', `${failure.message}; sent once more`, { server: this.name })
    setTimeout(() => {
      if (!this.#closed) this.#transport.send({ ...message, again: true })
    }, HTTP_AGAIN_MS).unref()
    return true
  }

  giveUp(failure: UpstreamFailure, why = failure.message): void {
    if (this.#closed) return
    this.failure = failure
    this.close(why)
  }

  restMs(bytes: number): number {
    return this.#budget.spend(bytes / STDOUT_UNIT_BYTES, performance.now())
  }

  tryOld(first: OutgoingMessage, failure: UpstreamFailure): void {
    if (this.#closed) return
    this.#transport.close()
    this.#transport = new HttpSseTransport(this, () => {
      this.#transport.close()
      this.#transport = new StreamableHttpTransport(this)
      this.fail(failure)
    })
    this.#transport.send(first)
  }

  #stray(messages: UpstreamMessages & { ok: false }): void {
    if (this.#strayBudget.take(1, performance.now()))
      this.log('warn', 'skipped what is not a message', {
        server: this.name,
        why: messages.why,
      })
    const request = messages.answers
    if (request === undefined) return
    const message = `the server \`${this.name}\` answered with what no peer may: ${messages.why}`
    this.fail({ code: 'UPSTREAM_BAD_ANSWER', message, request, repeatable: false })
  }
}

function readHandle(handle: string): { sessionId?: string; revision?: string } {
  const [sessionId, revision] = JSON.parse(handle) as (string | null)[]
  return { ...(sessionId ? { sessionId } : {}), ...(revision ? { revision } : {}) }
}
