// Which requests only go on with a call that was counted already. A client of the stateless generation
// comes back with the answers a server wanted: that is the same call, and its limits were taken.
// Each is good for one return; a second return is a call of its own.

import { LruMap } from '@sluice/policy/structures/lru-map'
import { INPUT_HELD_MS } from '../shared/limits.ts'
import { CONTINUATIONS_MAX } from './limits.ts'

export class Continuations {
  readonly #nowMs: () => number
  /** By sealed state. */
  readonly #open = new LruMap<
    string,
    { readonly untilMs: number; readonly approvedFor: string | undefined }
  >(CONTINUATIONS_MAX)

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** `approvedFor`: what had asked for a person, where the call was approved. */
  give(sealed: string, approvedFor?: string): void {
    this.#open.set(sealed, { untilMs: this.#nowMs() + INPUT_HELD_MS, approvedFor })
  }

  take(sealed: string): { readonly continues: boolean; readonly approvedFor?: string | undefined } {
    const entry = this.#open.get(sealed)
    this.#open.delete(sealed)
    if (entry === undefined || entry.untilMs <= this.#nowMs()) return { continues: false }
    return { continues: true, approvedFor: entry.approvedFor }
  }
}
