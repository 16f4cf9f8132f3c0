// A set of 64-bit hashes with flags, bounded: open addressing over typed arrays, 12 bytes a slot.
// Each entry has the number of the last answer that held it; when the table is full the oldest
// answers are dropped, whole, and `isIncomplete` stays set.

import { PROVENANCE_ENTRIES_MAX, PROVENANCE_FREED_MIN } from './limits.ts'

const FLAG_BITS = 6
const FLAG_MASK = (1 << FLAG_BITS) - 1
const ANSWER_MAX = 2 ** (32 - FLAG_BITS) - 1
const LOAD_MAX = 0.8
const SLOTS_START = 64
const SLOTS_MAX = Math.ceil(PROVENANCE_ENTRIES_MAX / LOAD_MAX) + 1
const HEAD_WORDS = 2

export class HashTable {
  #slots = 0
  #low: Uint32Array = new Uint32Array(0)
  #high: Uint32Array = new Uint32Array(0)
  /** Number of the answer and flags; 0 is an empty slot. */
  #info: Uint32Array = new Uint32Array(0)
  #count = 0
  #answer = 1
  #isIncomplete = false

  get size(): number {
    return this.#count
  }

  /** Something was dropped, or never remembered. */
  get isIncomplete(): boolean {
    return this.#isIncomplete
  }

  get bytes(): number {
    return this.#slots * 12
  }

  markIncomplete(): void {
    this.#isIncomplete = true
  }

  startAnswer(): void {
    this.#answer++
    if (this.#answer >= ANSWER_MAX) this.#dropOldest()
  }

  /** The flags of a hash; 0 if it is not there. */
  get(low: number, high: number): number {
    if (this.#slots === 0) return 0
    const slot = this.#find(low >>> 0, high >>> 0)
    return (this.#info[slot] as number) & FLAG_MASK
  }

  add(low: number, high: number, flags: number): void {
    if (this.#count >= this.#slots * LOAD_MAX) this.#grow()
    const a = low >>> 0
    const b = high >>> 0
    const slot = this.#find(a, b)
    const before = this.#info[slot] as number
    if (before === 0) {
      this.#low[slot] = a
      this.#high[slot] = b
      this.#count++
    }
    this.#info[slot] = ((this.#answer << FLAG_BITS) | (before & FLAG_MASK) | flags) >>> 0
  }

  /** Everything, as it is stored: whether something is missing, the answer, three words an entry. */
  toWords(): Uint32Array {
    const words = new Uint32Array(HEAD_WORDS + 3 * this.#count)
    words[0] = Number(this.#isIncomplete)
    words[1] = this.#answer
    let at = HEAD_WORDS
    for (let slot = 0; slot < this.#slots; slot++) {
      const info = this.#info[slot] as number
      if (info === 0) continue
      words[at++] = this.#low[slot] as number
      words[at++] = this.#high[slot] as number
      words[at++] = info
    }
    return words
  }

  /** Undefined if these are not the words of a table. */
  static fromWords(words: Uint32Array): HashTable | undefined {
    const count = (words.length - HEAD_WORDS) / 3
    if (!Number.isInteger(count) || count < 0 || count > PROVENANCE_ENTRIES_MAX + 1)
      return undefined
    const table = new HashTable()
    table.#isIncomplete = words[0] !== 0
    while (table.#slots * LOAD_MAX < count && table.#slots < SLOTS_MAX) table.#grow()
    for (let at = HEAD_WORDS; at < words.length; at += 3) {
      if (words[at + 2] === 0) return undefined
      table.#answer = (words[at + 2] as number) >>> FLAG_BITS
      table.add(words[at] as number, words[at + 1] as number, (words[at + 2] as number) & FLAG_MASK)
    }
    table.#answer = words[1] as number
    return table
  }

  #find(low: number, high: number): number {
    // The high bits scaled to the slots: a multiplication is cheaper than a remainder.
    let slot = Math.floor((low * this.#slots) / 0x1_0000_0000)
    while (this.#info[slot] !== 0 && !(this.#low[slot] === low && this.#high[slot] === high))
      slot = slot + 1 === this.#slots ? 0 : slot + 1
    return slot
  }

  #grow(): void {
    if (this.#count >= PROVENANCE_ENTRIES_MAX) this.#dropOldest()
    else {
      this.#rebuild(Math.min(SLOTS_MAX, Math.max(SLOTS_START, this.#slots * 2)), 0)
    }
  }

  /** Drops the oldest answers until enough entries are free. */
  #dropOldest(): void {
    const ages = this.#info.filter((info) => info !== 0).map((info) => info >>> FLAG_BITS)
    ages.sort()
    const newestDropped = ages[Math.min(PROVENANCE_FREED_MIN, ages.length - 1)] ?? 0
    this.#isIncomplete = true
    this.#rebuild(this.#slots, newestDropped)
  }

  /** Without what the answers up to `dropped` held; numbers start again after it. */
  #rebuild(slots: number, dropped: number): void {
    const [low, high, info] = [this.#low, this.#high, this.#info]
    this.#slots = slots
    this.#low = new Uint32Array(slots)
    this.#high = new Uint32Array(slots)
    this.#info = new Uint32Array(slots)
    this.#count = 0
    for (let at = 0; at < info.length; at++) {
      const one = info[at] as number
      const answer = one >>> FLAG_BITS
      if (one === 0 || answer <= dropped) continue
      const slot = this.#find(low[at] as number, high[at] as number)
      this.#low[slot] = low[at] as number
      this.#high[slot] = high[at] as number
      this.#info[slot] = (((answer - dropped) << FLAG_BITS) | (one & FLAG_MASK)) >>> 0
      this.#count++
    }
    this.#answer = Math.max(1, this.#answer - dropped)
  }
}
