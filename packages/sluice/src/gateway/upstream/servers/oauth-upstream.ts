// A link to a server that wants a login: waits for a token that is being renewed, and where the server
// refuses the token (401, so it did nothing with the request) sends the request once more with a newer
// one. What fails then says which command to run.

import type { RequestId } from '../../../protocol/message.ts'
import { OPEN_REQUESTS_MAX } from '../limits.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure, UpstreamSendOptions } from '../upstream.ts'
import { readMessageHead } from '../upstream-state.ts'
import type { ServerLogin } from './login-tokens.ts'

interface RetriableMessage {
  readonly text: string
  readonly carried: UpstreamSendOptions | undefined
  /** The header it was sent with. */
  header: string | undefined
  isSecond: boolean
}

export class OAuthUpstream implements Upstream {
  readonly #events: UpstreamEvents
  readonly #inner: Upstream
  readonly #login: ServerLogin
  readonly #retriable = new Map<RequestId, RetriableMessage>()
  /** What waits for a token, in order. */
  #waiting: (() => void)[] | undefined
  #closed = false

  constructor(
    connect: (events: UpstreamEvents) => Upstream,
    login: ServerLogin,
    events: UpstreamEvents,
  ) {
    this.#events = events
    this.#login = login
    this.#inner = connect({
      onMessage: (message, related) => {
        if (message.kind === 'answer' && message.id !== null) this.#retriable.delete(message.id)
        events.onMessage(message, related)
      },
      onFailure: (failure) => void this.#failed(failure),
      onSuspended: (request) => events.onSuspended?.(request),
      onClose: (why) => {
        this.#closed = true
        this.#retriable.clear()
        events.onClose(why)
      },
    })
  }

  get handle(): string | undefined {
    return this.#inner.handle
  }

  get ended(): Promise<void> {
    return this.#inner.ended
  }

  get failure(): UpstreamFailure | undefined {
    return this.#inner.failure
  }

  send(text: string, carried?: UpstreamSendOptions): boolean {
    if (this.#closed) return false
    const ready = this.#waiting === undefined ? this.#login.ready() : undefined
    if (ready === undefined && this.#waiting === undefined) return this.#sendNow(text, carried)
    if (ready !== undefined) {
      this.#waiting = []
      void ready.finally(() => this.#goOn())
    }
    this.#waiting?.push(() => void this.#sendNow(text, carried))
    return true
  }

  get pausesApart(): boolean {
    return this.#inner.pausesApart
  }

  pause(request?: RequestId): void {
    this.#inner.pause(request)
  }

  resume(request?: RequestId): void {
    this.#inner.resume(request)
  }

  abort(request: RequestId): void {
    this.#retriable.delete(request)
    this.#inner.abort(request)
  }

  close(why: string): void {
    this.#inner.close(why)
  }

  #goOn(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    if (!this.#closed) for (const send of waiting) send()
  }

  #sendNow(text: string, carried: UpstreamSendOptions | undefined): boolean {
    const { id, method } = readMessageHead(text)
    if (id !== undefined && method !== undefined && this.#retriable.size < OPEN_REQUESTS_MAX)
      this.#retriable.set(id, { text, carried, header: this.#login.header, isSecond: false })
    return this.#inner.send(text, carried)
  }

  async #failed(failure: UpstreamFailure): Promise<void> {
    const { request, status } = failure
    const retriable = request === undefined ? undefined : this.#retriable.get(request)
    if (status === 401 && retriable !== undefined && !retriable.isSecond) {
      retriable.isSecond = true
      if ((await this.#login.refused(retriable.header)) && !this.#closed) {
        // It may have been given up meanwhile.
        if (this.#retriable.get(request as RequestId) === retriable)
          this.#inner.send(retriable.text, retriable.carried)
        return
      }
    }
    if (request !== undefined) this.#retriable.delete(request)
    const { help } = this.#login
    this.#events.onFailure(failure.code === 'UPSTREAM_NEEDS_LOGIN' ? { ...failure, help } : failure)
  }
}
