// Things that are there for a short while, once, and not too many of them: one-time codes, challenges.
// What is taken is gone. In memory only: a restart of the gate makes all of them void.

import { LruMap } from '@sluice/policy/structures/lru-map'

export class ExpiringMap<Value> {
  readonly #entries: LruMap<string, { readonly value: Value; readonly untilMs: number }>
  readonly #nowMs: () => number

  constructor(max: number, nowMs: () => number) {
    this.#entries = new LruMap(max)
    this.#nowMs = nowMs
  }

  /** The oldest is evicted: nobody can lock others out by asking often. */
  put(key: string, value: Value, forMs: number): void {
    const nowMs = this.#nowMs()
    for (const [old, { untilMs }] of this.#entries) if (untilMs <= nowMs) this.#entries.delete(old)
    this.#entries.set(key, { value, untilMs: nowMs + forMs })
  }

  take(key: string): Value | undefined {
    const value = this.get(key)
    this.#entries.delete(key)
    return value
  }

  /** Looks without taking. */
  get(key: string): Value | undefined {
    const entry = this.#entries.peek(key)
    return entry !== undefined && this.#nowMs() < entry.untilMs ? entry.value : undefined
  }

  /** The oldest of these go, so that no more than so many are left. */
  keepAtMost(count: number, is: (value: Value) => boolean): void {
    const keys = [...this.#entries].filter(([, { value }]) => is(value)).map(([key]) => key)
    for (const key of keys.slice(0, Math.max(0, keys.length - count))) this.#entries.delete(key)
  }
}
