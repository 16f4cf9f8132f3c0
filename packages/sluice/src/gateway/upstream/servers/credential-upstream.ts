// A link to a server that wants a token: each message is sent with the credential of its own caller, and waits
// for one that is being got or renewed. If the server refuses the token (401, so it did nothing with the
// request) it is sent once more with a newer one. What fails then says what to do.

import type { RequestId } from '../../../protocol/message.ts'
import { OPEN_REQUESTS_MAX } from '../limits.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure, UpstreamSendOptions } from '../upstream.ts'
import { readMessageHead } from '../upstream-state.ts'
import type { Credential } from './credentials.ts'

interface SentMessage {
  readonly text: string
  readonly carried: UpstreamSendOptions | undefined
  readonly credential: Credential
  /** The header it was sent with. */
  header: string | undefined
  isSecond: boolean
}

/** The credential of the caller of a message; of the session's, if the message is the gate's own. */
export type FindCredential = (carried: UpstreamSendOptions | undefined) => Credential

export class CredentialUpstream implements Upstream {
  readonly #events: UpstreamEvents
  readonly #inner: Upstream
  readonly #find: FindCredential
  readonly #sent = new Map<RequestId, SentMessage>()
  /** Messages that wait for a token are sent in order. */
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #closed = false

  constructor(
    connect: (events: UpstreamEvents) => Upstream,
    find: FindCredential,
    events: UpstreamEvents,
  ) {
    this.#events = events
    this.#find = find
    this.#inner = connect({
      onMessage: (message, related) => {
        if (message.kind === 'answer' && message.id !== null) this.#answered(message.id)
        events.onMessage(message, related)
      },
      onFailure: (failure) => void this.#failed(failure),
      onSuspended: (request) => events.onSuspended?.(request),
      onClose: (why) => {
        this.#closed = true
        this.#sent.clear()
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
    const credential = this.#find(carried)
    const ready = credential.ready()
    const message = { text, carried, credential }
    if (ready === undefined && this.#waiting === 0) return this.#sendNow(message)
    this.#waiting++
    this.#last = Promise.all([this.#last, ready]).then(() => {
      this.#waiting--
      if (!this.#closed) this.#sendNow(message)
    })
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
    this.#sent.delete(request)
    this.#inner.abort(request)
  }

  close(why: string): void {
    this.#inner.close(why)
  }

  #sendNow(message: Omit<SentMessage, 'header' | 'isSecond'>): boolean {
    const { text, carried, credential } = message
    const { id, method } = readMessageHead(text)
    const isRequest = id !== undefined && method !== undefined
    const { failure, header } = credential
    if (failure !== undefined) {
      // After this call has returned.
      if (isRequest)
        queueMicrotask(() => this.#events.onFailure({ ...failure, request: id, repeatable: true }))
      return true
    }
    if (isRequest && this.#sent.size < OPEN_REQUESTS_MAX)
      this.#sent.set(id, { ...message, header, isSecond: false })
    return this.#inner.send(text, { ...carried, authorization: header })
  }

  #answered(request: RequestId): void {
    const sent = this.#sent.get(request)
    if (sent === undefined) return
    this.#sent.delete(request)
    sent.credential.accepted(sent.header)
  }

  async #failed(failure: UpstreamFailure): Promise<void> {
    const { request, status } = failure
    const sent = request === undefined ? undefined : this.#sent.get(request)
    if (status === 401 && sent !== undefined && !sent.isSecond) {
      const { credential } = sent
      sent.isSecond = true
      if ((await credential.refused(sent.header)) && !this.#closed) {
        // It may have been given up meanwhile.
        if (this.#sent.get(request as RequestId) !== sent) return
        sent.header = credential.header
        this.#inner.send(sent.text, { ...sent.carried, authorization: sent.header })
        return
      }
    } else if (status === 401 && sent !== undefined) await sent.credential.refused(sent.header)
    if (request !== undefined) this.#sent.delete(request)
    const { help } = sent?.credential ?? this.#find(undefined)
    this.#events.onFailure(failure.code === 'UPSTREAM_NEEDS_LOGIN' ? { ...failure, help } : failure)
  }
}
