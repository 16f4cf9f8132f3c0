// Messages for a server that cannot take them now: its process is not started, or its protocol generation is not
// known. Stored in order, bounded, and withdrawn if their sender no longer waits.

import type { RequestId } from '@sluice/protocol/message'
import { STDIN_QUEUE_LENGTH_MAX, STDIN_QUEUE_MESSAGES_MAX } from '../limits.ts'
import type { UpstreamFailure, UpstreamSendOptions } from '../upstream.ts'

export interface QueuedMessage {
  readonly text: string
  readonly carried: UpstreamSendOptions | undefined
}

export class MessageQueue {
  #all: QueuedMessage[] = []
  #length = 0

  get size(): number {
    return this.#all.length
  }

  get first(): QueuedMessage | undefined {
    return this.#all[0]
  }

  /** False if no more may wait; one message alone always fits. */
  add(text: string, carried: UpstreamSendOptions | undefined): boolean {
    const isFull =
      this.#all.length >= STDIN_QUEUE_MESSAGES_MAX ||
      this.#length + text.length > STDIN_QUEUE_LENGTH_MAX
    if (isFull && this.#all.length > 0) return false
    this.#all.push({ text, carried })
    this.#length += text.length
    return true
  }

  has(request: RequestId): boolean {
    return this.#all.some(({ carried }) => carried?.passing?.id === request)
  }

  withdraw(request: RequestId): void {
    const gone = this.#all.find(({ carried }) => carried?.passing?.id === request)
    if (gone === undefined) return
    this.#all = this.#all.filter((each) => each !== gone)
    this.#length -= gone.text.length
  }

  /** The requests among them, as failed; the queue is empty afterwards. */
  failAll(failure: Omit<UpstreamFailure, 'request'>): UpstreamFailure[] {
    return this.takeAll().flatMap(({ carried }) =>
      carried?.passing === undefined ? [] : [{ ...failure, request: carried.passing.id }],
    )
  }

  takeAll(): QueuedMessage[] {
    const all = this.#all
    this.#all = []
    this.#length = 0
    return all
  }
}
