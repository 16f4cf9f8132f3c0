// A map of a bounded size that keeps what was used last, for rows and answers that are cheap to get
// again. Used by the agents' store and service.

export class LruMap<Key, Each> {
  readonly #map = new Map<Key, Each>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(key: Key): Each | undefined {
    const found = this.#map.get(key)
    if (found === undefined) return undefined
    this.#map.delete(key)
    this.#map.set(key, found)
    return found
  }

  set(key: Key, each: Each): void {
    this.#map.delete(key)
    this.#map.set(key, each)
    if (this.#map.size <= this.#most) return
    const [oldest] = this.#map.keys()
    if (oldest !== undefined) this.#map.delete(oldest)
  }

  delete(key: Key): void {
    this.#map.delete(key)
  }

  clear(): void {
    this.#map.clear()
  }
}
