// A server that runs inside the gate's own process (`builtin:`), as a link like any other: messages
// cross as text and are read as strictly as anybody's. Who it is and what it does, the composition
// root knows.

import { CALL_META, type SessionLabels } from '@sluice/protocol/agent-calls'
import type { RequestId } from '@sluice/protocol/message'
import { readUpstreamMessages } from './read-upstream-messages.ts'
import type { Upstream, UpstreamEvents, UpstreamSendOptions } from './upstream.ts'

export interface InProcessPeer {
  receive(message: object): void
  close(): Promise<void>
}

/** Whose connection it is: the principal, the agent if one calls, and what its session has seen. */
export interface InProcessCaller {
  readonly owner: string
  readonly agent: string | undefined
  readonly labels: SessionLabels
  /** The key of the client's session; undefined if an agent calls. */
  readonly sessionKey?: string | undefined
}

/** `say` gives the gate what the server says. */
export type StartInProcess = (
  caller: InProcessCaller,
  say: (message: object) => void,
) => InProcessPeer

export class InProcessUpstream implements Upstream {
  readonly failure = undefined
  readonly handle = undefined
  readonly #ended = Promise.withResolvers<void>()
  readonly ended = this.#ended.promise
  readonly #events: UpstreamEvents
  readonly #peer: InProcessPeer
  #closed = false

  constructor(start: StartInProcess, caller: InProcessCaller, events: UpstreamEvents) {
    this.#events = events
    this.#peer = start(caller, (message) => this.#hear(message))
  }

  send(text: string, carried?: UpstreamSendOptions): boolean {
    if (this.#closed) return false
    const message = JSON.parse(text) as { params?: { _meta?: object } }
    const { callId } = carried?.passing ?? {}
    if (callId !== undefined)
      message.params = {
        ...message.params,
        _meta: { ...message.params?._meta, [CALL_META]: callId },
      }
    this.#peer.receive(message)
    return true
  }

  /** It is read as fast as it speaks: there is nothing between. */
  readonly pausesApart = false
  pause(): void {}
  resume(): void {}
  abort(_request: RequestId): void {}

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#events.onClose(why)
    void this.#peer.close().finally(this.#ended.resolve)
  }

  #hear(message: object): void {
    if (this.#closed) return
    const messages = readUpstreamMessages(JSON.stringify(message), false)
    if (messages.ok) for (const each of messages.messages) this.#events.onMessage(each)
    else this.#failAnswer(message, messages.why)
  }

  /** An answer that is too much to be read, such as a large export: its caller must not wait for it. */
  #failAnswer(message: { readonly id?: RequestId; readonly method?: string }, why: string): void {
    const { id: request, method } = message
    if (request === undefined || method !== undefined) return
    this.#events.onFailure({
      code: 'UPSTREAM_TOO_LARGE',
      message: `the answer is too large for the gate: ${why}`,
      request,
      repeatable: false,
    })
  }
}
