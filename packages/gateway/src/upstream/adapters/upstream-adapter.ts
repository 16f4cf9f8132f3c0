// A link to a server of the other generation than its client's: what both directions of the bridge share.
// Everything that is not about the generations goes to the link inside.

import type { JsonRpcMessage, JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { writeError, writeResult } from '@sluice/protocol/write-message'
import type { MessageContext } from '../../shared/transport.ts'
import type {
  OutboundRequest,
  Upstream,
  UpstreamEvents,
  UpstreamFailure,
  UpstreamSendOptions,
} from '../upstream.ts'

export interface AdaptedOptions {
  readonly log: (text: string) => void
  /** Whether the server has begun in its generation. */
  readonly onBegun: (hasBegun: boolean) => void
  /** What the gate began the session at the server with, and the result; undefined if it began none. */
  readonly opening?: OutboundRequest | undefined
  readonly begun?: string
}

export abstract class UpstreamAdapter implements Upstream {
  protected readonly inner: Upstream
  protected readonly events: UpstreamEvents
  protected readonly options: AdaptedOptions

  constructor(
    connect: (events: UpstreamEvents) => Upstream,
    options: AdaptedOptions,
    events: UpstreamEvents,
  ) {
    this.options = options
    this.events = events
    this.inner = connect({
      onMessage: (message, related) => this.fromServer(message, related),
      onFailure: (failure) => this.failed(failure),
      onSuspended: (request) => events.onSuspended?.(request),
      onClose: (why) => {
        this.over(why)
        events.onClose(why)
      },
    })
  }

  abstract send(text: string, carried?: UpstreamSendOptions): boolean
  abstract abort(request: RequestId): void
  protected abstract fromServer(message: JsonRpcMessage, related?: MessageContext): void
  protected abstract failed(failure: UpstreamFailure): void
  /** The link is closed: nothing may be left that would still happen. */
  protected abstract over(why: string): void

  get failure(): UpstreamFailure | undefined {
    return this.inner.failure
  }

  get handle(): string | undefined {
    return undefined
  }

  get ended(): Promise<void> {
    return this.inner.ended
  }

  get pausesApart(): boolean {
    return this.inner.pausesApart
  }

  pause(request?: RequestId): void {
    this.inner.pause(request)
  }

  resume(request?: RequestId): void {
    this.inner.resume(request)
  }

  rest(why: string): boolean {
    return this.inner.rest?.(why) === true
  }

  close(why: string): void {
    this.over(why)
    this.inner.close(why)
  }

  /** Answers in the server's place; in a turn of its own, as a server would. */
  protected answerHere(id: RequestId, result: string): true {
    const source = writeResult(id, result)
    return this.#later({ kind: 'answer', id, result, error: undefined, source })
  }

  protected refuseHere(id: RequestId, code: number, message: string): true {
    const source = writeError(id, code, message)
    return this.#later({ kind: 'answer', id, result: undefined, error: { code, message }, source })
  }

  #later(answer: JsonRpcResponse): true {
    queueMicrotask(() => this.events.onMessage(answer))
    return true
  }
}
