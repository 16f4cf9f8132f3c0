// LRU map with a fixed capacity: the least recently used entry is evicted, so a peer that sends
// ever new keys costs bounded memory. An evicted value must be cheap to recompute, or safe to lose.
// Pure. (Caches on hot paths that need no order clear themselves when they are full.)

/** Uses without an eviction after which the place of the oldest entry is searched again. */
const USES_MAX = 1_000

export class LruMap<Key, Value> {
  readonly #map = new Map<Key, Value>()
  /**
   * Behind what was evicted: everything before is gone, or was used and is behind it again. A new iterator
   * would pass the gaps of all that was evicted, each time.
   */
  #oldest: MapIterator<Key> | undefined
  /** Uses since the last eviction. */
  #uses = 0
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
    this.#noteUse()
    return found
  }

  /** An iterator that is not moved on keeps every table that the map has outgrown since. */
  #noteUse(): void {
    if (++this.#uses > USES_MAX) this.#oldest = undefined
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
    if (this.#map.size <= this.#max) {
      this.#noteUse()
      return undefined
    }
    this.#oldest ??= this.#map.keys()
    this.#uses = 0
    const oldest = this.#oldest.next().value as Key
    this.#map.delete(oldest)
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
