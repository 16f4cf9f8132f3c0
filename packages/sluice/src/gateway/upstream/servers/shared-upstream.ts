// One session's link to a process that several sessions share. Knows nothing of the others: what it
// sends and hears is renamed and sorted by shared-server.ts.

import { splitMembers } from '../../../protocol/json/raw-members.ts'
import type { RequestId } from '../../../protocol/message.ts'
import { writeResult } from '../../../protocol/write-message.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure, UpstreamSendOptions } from '../upstream.ts'
import { readMessageHead } from '../upstream-state.ts'
import type { SharedServer } from './shared-server.ts'

export class SharedUpstream implements Upstream {
  readonly handle = undefined
  readonly pausesApart = false
  /** The process stays for the others. */
  readonly ended: Promise<void>
  /** Of the session; the process's messages for it go there. */
  readonly events: UpstreamEvents
  readonly #server: SharedServer
  #settleEnded: () => void = () => {}
  #closed = false

  constructor(server: SharedServer, events: UpstreamEvents) {
    this.#server = server
    this.events = events
    this.ended = new Promise((resolve) => {
      this.#settleEnded = resolve
    })
  }

  get failure(): UpstreamFailure | undefined {
    return this.#server.failure
  }

  send(text: string, { passing }: UpstreamSendOptions = {}): boolean {
    if (this.#closed) return false
    if (passing !== undefined) this.#server.request(this, passing)
    else if (readMessageHead(text).method === 'notifications/cancelled') {
      const params = splitMembers(splitMembers(text).get('params') ?? '{}')
      this.#server.cancelOf(this, JSON.parse(params.get('requestId') ?? 'null') as RequestId)
    }
    return true
  }

  answer(id: RequestId, result: string): void {
    const source = writeResult(id, result)
    const answer = { kind: 'answer', id, result, error: undefined, source } as const
    queueMicrotask(() => this.events.onMessage(answer))
  }

  /** One slow reader must not stop the others: what it does not take is bounded at its own front. */
  pause(): void {}
  resume(): void {}

  rest(why: string): boolean {
    return this.#server.restOf(this, why)
  }

  abort(request: RequestId): void {
    this.#server.cancelOf(this, request)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#server.detach(this)
    this.events.onClose(why)
    this.#settleEnded()
  }
}
