// LRU map with a fixed capacity: the least recently used entry is evicted, so a peer that sends
// ever new keys costs bounded memory. An evicted value must be cheap to recompute, or safe to lose.
// Pure. (Caches on hot paths that need no order clear themselves when they are full.)

export class LruMap<Key, Value> {
  readonly #map = new Map<Key, Value>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#map.size
  }

  /** Counts as a use. */
  get(key: Key): Value | undefined {
    const found = this.#map.get(key)
    if (found === undefined) return undefined
    this.#map.delete(key)
    this.#map.set(key, found)
    return found
  }

  /** Does not count as a use; neither does `has`. */
  peek(key: Key): Value | undefined {
    return this.#map.get(key)
  }

  has(key: Key): boolean {
    return this.#map.has(key)
  }

  /** Returns the key that was evicted, if there is one. */
  set(key: Key, value: Value): Key | undefined {
    this.#map.delete(key)
    this.#map.set(key, value)
    if (this.#map.size <= this.#max) return undefined
    const [oldest] = this.#map.keys()
    this.#map.delete(oldest as Key)
    return oldest
  }

  delete(key: Key): void {
    this.#map.delete(key)
  }

  clear(): void {
    this.#map.clear()
  }

  /** The least recently used first. */
  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#map.entries()
  }
}
