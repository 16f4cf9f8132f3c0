// A driver that is slow on purpose, as a database on another machine would be: every request takes some
// turns of the event loop, the limits are not known before, and a test may let a request fail before it
// reaches the store or after the store has done it. What is under it keeps the promises.

import type { LimitUsage, Receipt } from '@sluice/policy/calls/counters'
import type { AdmissionReply, AdmissionRequest, AdmissionStore } from './admission.ts'

export class SlowAdmissionStore<Entry> implements AdmissionStore<Entry> {
  readonly usage: LimitUsage = {
    look: ({ max }) => ({ passes: true, remaining: max, retryAfterMs: 0 }),
  }
  /** `before`: nothing happened. `after`: it happened, and the reply was lost. */
  fails: 'before' | 'after' | 'never' = 'never'
  /** Set to keep every request back until the promise resolves. */
  gate: Promise<void> | undefined
  /** Requests that have not been replied to. */
  open = 0
  readonly #inner: AdmissionStore<Entry>
  readonly #turns: number

  constructor(inner: AdmissionStore<Entry>, turns = 3) {
    this.#inner = inner
    this.#turns = turns
  }

  async admit(request: AdmissionRequest<Entry>): Promise<AdmissionReply> {
    this.open++
    try {
      await this.#wait()
      if (this.fails === 'before') return LOST
      const reply = await this.#inner.admit(request)
      await this.#wait()
      return this.fails === 'after' ? LOST : reply
    } finally {
      this.open--
    }
  }

  async refund(receipt: Receipt): Promise<void> {
    await this.#wait()
    await this.#inner.refund(receipt)
  }

  async #wait(): Promise<void> {
    await this.gate
    for (let turn = 0; turn < this.#turns; turn++)
      await new Promise((resolve) => setImmediate(resolve))
  }
}

const LOST: AdmissionReply = { status: 'unavailable', why: 'the connection was lost' }
