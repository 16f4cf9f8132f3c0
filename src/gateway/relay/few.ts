// A set that mostly has one or two in it and is empty again a moment later, as what is open for a
// session: a `Set` makes its table anew whenever the last one leaves. Keeps their order; where there
// are many it is a `Set`. Pure.

/** So many are looked through one by one. */
const FEW_MAX = 16

export class Few<T> {
  #few: T[] = []
  #many: Set<T> | undefined

  get size(): number {
    return this.#many === undefined ? this.#few.length : this.#many.size
  }

  has(value: T): boolean {
    return this.#many === undefined ? this.#few.includes(value) : this.#many.has(value)
  }

  add(value: T): void {
    if (this.#many !== undefined) this.#many.add(value)
    else if (this.#few.includes(value)) return
    else if (this.#few.push(value) > FEW_MAX) {
      this.#many = new Set(this.#few)
      this.#few = []
    }
  }

  /** Whether it was there. */
  delete(value: T): boolean {
    const many = this.#many
    if (many !== undefined) {
      const wasThere = many.delete(value)
      if (many.size === 0) this.#many = undefined
      return wasThere
    }
    const at = this.#few.indexOf(value)
    if (at < 0) return false
    if (at === this.#few.length - 1) this.#few.pop()
    else this.#few.splice(at, 1)
    return true
  }

  clear(): void {
    this.#few = []
    this.#many = undefined
  }

  /** As they were when it was asked: whoever goes through them may take some out. */
  [Symbol.iterator](): Iterator<T> {
    return [...(this.#many ?? this.#few)][Symbol.iterator]()
  }
}
