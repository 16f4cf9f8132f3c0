// Which agents stay in memory. One that was needed once, as by a create or a question, has one of a
// few places that are used again at once; only who is needed a second time takes a place among the
// others. So a walk over a hundred thousand agents displaces nobody who works, and its memories stay
// warm. Knows nothing of guests. Owned by residents.ts.

import { LruMap } from '@sluice/policy/structures/lru-map'
import {
  RESIDENT_BYTES_MAX,
  RESIDENTS_MAX,
  RESIDENTS_ONCE_MAX,
  RESIDENTS_SEEN_MAX,
} from '../shared/limits.ts'

interface SizedResident {
  readonly place: { readonly key: number }
  bytes: number
}

export class ResidentSet<Each extends SizedResident> {
  /** Each in the order of their last use. */
  readonly #once = new Map<number, Each>()
  readonly #again = new Map<number, Each>()
  /** Keys of those that had to leave after being needed once. */
  readonly #recent = new LruMap<number, true>(RESIDENTS_SEEN_MAX)
  #bytes = 0

  get(key: number): Each | undefined {
    return this.#once.get(key) ?? this.#again.get(key)
  }

  /** Needed another time. */
  use(each: Each): void {
    const { key } = each.place
    this.#once.delete(key)
    this.#again.delete(key)
    this.#again.set(key, each)
  }

  /** Returns the residents that have to leave for it. */
  add(each: Each): Each[] {
    const { key } = each.place
    const isSecond = this.#recent.get(key) === true
    const among = isSecond ? this.#again : this.#once
    among.set(key, each)
    this.#bytes += each.bytes
    const leaving: Each[] = []
    for (let next = this.#next(each); next !== undefined; next = this.#next(each)) {
      if (this.#once.has(next.place.key)) this.#recent.set(next.place.key, true)
      this.delete(next)
      leaving.push(next)
    }
    return leaving
  }

  count(each: Each, bytes: number): void {
    this.#bytes += bytes - each.bytes
    each.bytes = bytes
  }

  delete(each: Each): void {
    const { key } = each.place
    if (this.#once.delete(key) || this.#again.delete(key)) this.#bytes -= each.bytes
  }

  /** All of them, which are none after it. */
  clear(): Each[] {
    const all = [...this.#once.values(), ...this.#again.values()]
    for (const each of all) this.delete(each)
    return all
  }

  #next(last: Each): Each | undefined {
    const size = this.#once.size + this.#again.size
    const isFull = size > RESIDENTS_MAX || this.#bytes > RESIDENT_BYTES_MAX
    if (!isFull && this.#once.size <= RESIDENTS_ONCE_MAX) return undefined
    const [once] = this.#once.values()
    if (once !== undefined && once !== last) return once
    const [again] = this.#again.values()
    return isFull && again !== last ? again : undefined
  }
}
