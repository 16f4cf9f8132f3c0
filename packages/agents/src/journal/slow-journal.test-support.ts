// A driver that is slow on purpose, as a database on another machine would be: every append takes some turns
// of the event loop, and a test may let it fail before it reaches the store or after the store has done it.

import type { AppendReply, EventJournal, Fence, JournalEntry } from './event-journal.ts'

export class SlowJournal implements EventJournal {
  /** `before`: nothing happened. `after`: it happened, and the reply was lost. */
  fails: 'before' | 'after' | 'never' = 'never'
  readonly #inner: EventJournal
  readonly #turns: number

  constructor(inner: EventJournal, turns = 3) {
    this.#inner = inner
    this.#turns = turns
  }

  async append(fence: Fence, entries: readonly JournalEntry[]): Promise<AppendReply> {
    await this.#wait()
    if (this.fails === 'before') throw new Error('the connection was lost')
    const reply = await this.#inner.append(fence, entries)
    await this.#wait()
    if (this.fails === 'after') throw new Error('the connection was lost')
    return reply
  }

  async #wait(): Promise<void> {
    for (let turn = 0; turn < this.#turns; turn += 1)
      await new Promise((resolve) => setImmediate(resolve))
  }
}
