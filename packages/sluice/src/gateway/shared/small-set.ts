// A set that mostly has one or two in it and is empty again a moment later, as what is open for a
// session: the keys of such a map. Pure.

import { SmallMap } from './small-map.ts'

export class SmallSet<T> {
  readonly #map = new SmallMap<T, true>()

  get size(): number {
    return this.#map.size
  }

  has(value: T): boolean {
    return this.#map.has(value)
  }

  add(value: T): void {
    this.#map.set(value, true)
  }

  /** Whether it was there. */
  delete(value: T): boolean {
    return this.#map.delete(value)
  }

  clear(): void {
    this.#map.clear()
  }

  /** A snapshot: the caller may delete entries while it iterates. */
  [Symbol.iterator](): Iterator<T> {
    return this.#map.keys()[Symbol.iterator]()
  }
}
