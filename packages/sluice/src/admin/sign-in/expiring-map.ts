// Things that are there for a short while, once, and not too many of them: one-time codes, challenges.
// What is taken is gone. In memory only: a restart of the gate makes all of them void.

import { LruMap } from '../../core/lru-map.ts'

export class ExpiringMap<Value> {
  readonly #kept: LruMap<string, { readonly value: Value; readonly untilMs: number }>
  readonly #nowMs: () => number

  constructor(max: number, nowMs: () => number) {
    this.#kept = new LruMap(max)
    this.#nowMs = nowMs
  }

  /** The oldest is evicted: nobody can lock others out by asking often. */
  put(key: string, value: Value, forMs: number): void {
    const nowMs = this.#nowMs()
    for (const [old, { untilMs }] of this.#kept) if (untilMs <= nowMs) this.#kept.delete(old)
    this.#kept.set(key, { value, untilMs: nowMs + forMs })
  }

  take(key: string): Value | undefined {
    const entry = this.#kept.peek(key)
    this.#kept.delete(key)
    return entry !== undefined && this.#nowMs() < entry.untilMs ? entry.value : undefined
  }

  /** Looks without taking. */
  get(key: string): Value | undefined {
    const entry = this.#kept.peek(key)
    return entry !== undefined && this.#nowMs() < entry.untilMs ? entry.value : undefined
  }

  delete(key: string): void {
    this.#kept.delete(key)
  }

  /** The oldest of these go, so that no more than so many are left. */
  keepAtMost(count: number, is: (value: Value) => boolean): void {
    const keys = [...this.#kept].filter(([, { value }]) => is(value)).map(([key]) => key)
    for (const key of keys.slice(0, Math.max(0, keys.length - count))) this.#kept.delete(key)
  }

  deleteWhere(is: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#kept) if (is(value)) this.#kept.delete(key)
  }
}
