// Map optimised for 0 to 2 entries, such as the open requests of a session: a `Map` reallocates its table
// whenever it has emptied. Keeps insertion order; with many entries it is a `Map`. Pure.

/** So many are looked through one by one. */
const FEW_MAX = 16

export class SmallMap<Key, Value> {
  #keys: Key[] = []
  #values: Value[] = []
  #many: Map<Key, Value> | undefined

  get size(): number {
    return this.#many === undefined ? this.#keys.length : this.#many.size
  }

  has(key: Key): boolean {
    return this.#many === undefined ? this.#keys.includes(key) : this.#many.has(key)
  }

  get(key: Key): Value | undefined {
    if (this.#many !== undefined) return this.#many.get(key)
    const at = this.#keys.indexOf(key)
    return at < 0 ? undefined : this.#values[at]
  }

  set(key: Key, value: Value): void {
    if (this.#many !== undefined) {
      this.#many.set(key, value)
      return
    }
    const at = this.#keys.indexOf(key)
    if (at >= 0) this.#values[at] = value
    else {
      this.#keys.push(key)
      this.#values.push(value)
      if (this.#keys.length > FEW_MAX) this.#becomeMany()
    }
  }

  /** Whether it was there. */
  delete(key: Key): boolean {
    const many = this.#many
    if (many !== undefined) {
      const wasThere = many.delete(key)
      if (many.size === 0) this.#many = undefined
      return wasThere
    }
    const at = this.#keys.indexOf(key)
    if (at < 0) return false
    if (at === this.#keys.length - 1) {
      this.#keys.pop()
      this.#values.pop()
    } else {
      this.#keys.splice(at, 1)
      this.#values.splice(at, 1)
    }
    return true
  }

  clear(): void {
    this.#keys = []
    this.#values = []
    this.#many = undefined
  }

  /** A snapshot, like all three: the caller may delete entries while it iterates. */
  keys(): Key[] {
    return this.#many === undefined ? [...this.#keys] : [...this.#many.keys()]
  }

  values(): Value[] {
    return this.#many === undefined ? [...this.#values] : [...this.#many.values()]
  }

  entries(): [Key, Value][] {
    if (this.#many !== undefined) return [...this.#many]
    return this.#keys.map((key, at) => [key, this.#values[at] as Value])
  }

  #becomeMany(): void {
    this.#many = new Map(this.entries())
    this.#keys = []
    this.#values = []
  }
}
