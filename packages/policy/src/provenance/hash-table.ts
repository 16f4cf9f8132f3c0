// A set of 64-bit hashes with flags, bounded: open addressing over typed arrays, 12 bytes a slot.
// Each entry has the number of the last answer that held it; when the table is full the oldest
// answers are dropped, whole, and `isIncomplete` stays set.

import { PROVENANCE_ENTRIES_MAX, PROVENANCE_FREED_MIN } from './limits.ts'

const FLAG_BITS = 8
const FLAG_MASK = (1 << FLAG_BITS) - 1
const ANSWER_MAX = 2 ** (32 - FLAG_BITS) - 1
const LOAD_MAX = 0.8
const SLOTS_START = 64
const SLOTS_MAX = Math.ceil(PROVENANCE_ENTRIES_MAX / LOAD_MAX) + 1
const HEAD_WORDS = 2
const SCALE = 2 ** -32

export class HashTable {
  #slots = 0
  /** The slots: both halves of the hash, then the number of the answer with the flags; 0 is an empty slot. They are
   * side by side, so that an entry mostly costs one access to memory. */
  #words: Uint32Array = new Uint32Array(0)
  /** Entries at which it grows. */
  #countMax = 0
  #count = 0
  #answer = 1
  #isIncomplete = false
  #revision = 0
  /** What was added since it was last taken, three words an entry; undefined if nobody takes it. */
  #additions: number[] | undefined

  get size(): number {
    return this.#count
  }

  /** Something was dropped, or never remembered. */
  get isIncomplete(): boolean {
    return this.#isIncomplete
  }

  /** Grows with every change but that of an age: what is held again is as old as before once it was
   * stored, so it is dropped sooner. */
  get revision(): number {
    return this.#revision
  }

  get bytes(): number {
    return this.#slots * 12
  }

  markIncomplete(): void {
    if (this.#isIncomplete) return
    this.#isIncomplete = true
    this.#revision++
  }

  startAnswer(): void {
    this.#answer++
    if (this.#answer >= ANSWER_MAX) this.#dropOldest()
  }

  /** The number of the answer that entries are added for. */
  get answer(): number {
    return this.#answer
  }

  /** The number of the last answer that held the hash; 0 if it is not there. */
  answerOf(low: number, high: number): number {
    if (this.#slots === 0) return 0
    return (this.#words[this.#find(low >>> 0, high >>> 0) + 2] as number) >>> FLAG_BITS
  }

  /** The flags of a hash; 0 if it is not there. */
  get(low: number, high: number): number {
    if (this.#slots === 0) return 0
    return (this.#words[this.#find(low >>> 0, high >>> 0) + 2] as number) & FLAG_MASK
  }

  add(low: number, high: number, flags: number): void {
    if (this.#count >= this.#countMax) this.#grow()
    const a = low >>> 0
    const b = high >>> 0
    const at = this.#find(a, b)
    const words = this.#words
    const before = words[at + 2] as number
    if (before === 0) {
      words[at] = a
      words[at + 1] = b
      this.#count++
    }
    if ((before & flags) !== flags) {
      this.#revision++
      this.#additions?.push(a, b, flags)
    }
    words[at + 2] = (this.#answer << FLAG_BITS) | (before & FLAG_MASK) | flags
  }

  /** From now on additions are collected until they are taken. */
  collectAdditions(): void {
    this.#additions = []
  }

  /** What was added since this was last asked, in the form of `toWords`. */
  takeAdditions(): Uint32Array {
    const added = this.#additions ?? []
    if (added.length > 0) this.#additions = []
    const words = new Uint32Array(HEAD_WORDS + added.length)
    words[0] = Number(this.#isIncomplete)
    words.set(added, HEAD_WORDS)
    return words
  }

  /** Adds entries in the form of `toWords`. They count as of the current answer, and are no additions of this table. */
  merge(words: Uint32Array): void {
    const additions = this.#additions
    this.#additions = undefined
    if (words[0] !== 0) this.markIncomplete()
    for (let at = HEAD_WORDS; at + 2 < words.length; at += 3)
      this.add(words[at] as number, words[at + 1] as number, (words[at + 2] as number) & FLAG_MASK)
    this.#additions = additions
  }

  /** Everything, as it is stored: whether something is missing, the answer, three words an entry. */
  toWords(): Uint32Array {
    const words = new Uint32Array(HEAD_WORDS + 3 * this.#count)
    words[0] = Number(this.#isIncomplete)
    words[1] = this.#answer
    let to = HEAD_WORDS
    for (let at = 0; at < this.#words.length; at += 3) {
      if (this.#words[at + 2] === 0) continue
      words.set(this.#words.subarray(at, at + 3), to)
      to += 3
    }
    return words
  }

  /** The table that the words are; undefined if they are not those of a table. */
  static fromWords(words: Uint32Array): HashTable | undefined {
    const count = (words.length - HEAD_WORDS) / 3
    if (!Number.isInteger(count) || count < 0 || count > PROVENANCE_ENTRIES_MAX + 1)
      return undefined
    const table = new HashTable()
    table.#isIncomplete = words[0] !== 0
    while (table.#countMax < count && table.#slots < SLOTS_MAX) table.#grow()
    for (let at = HEAD_WORDS; at < words.length; at += 3) {
      if (words[at + 2] === 0) return undefined
      table.#answer = (words[at + 2] as number) >>> FLAG_BITS
      table.add(words[at] as number, words[at + 1] as number, (words[at + 2] as number) & FLAG_MASK)
    }
    table.#answer = words[1] as number
    return table
  }

  /** Where the words of the slot begin. */
  #find(low: number, high: number): number {
    const words = this.#words
    // The high bits scaled to the slots: a multiplication is cheaper than a remainder.
    let at = 3 * Math.floor(low * this.#slots * SCALE)
    while (words[at + 2] !== 0 && !(words[at] === low && words[at + 1] === high)) {
      at += 3
      if (at === words.length) at = 0
    }
    return at
  }

  #grow(): void {
    if (this.#count >= PROVENANCE_ENTRIES_MAX) this.#dropOldest()
    else {
      this.#rebuild(Math.min(SLOTS_MAX, Math.max(SLOTS_START, this.#slots * 2)), 0)
    }
  }

  /** Drops the oldest answers until enough entries are free. */
  #dropOldest(): void {
    const ages = new Uint32Array(this.#count)
    let next = 0
    for (let at = 2; at < this.#words.length; at += 3)
      if (this.#words[at] !== 0) ages[next++] = (this.#words[at] as number) >>> FLAG_BITS
    ages.sort()
    const newestDropped = ages[Math.min(PROVENANCE_FREED_MIN, ages.length - 1)] ?? 0
    this.#isIncomplete = true
    this.#revision++
    this.#rebuild(this.#slots, newestDropped)
  }

  /** Makes the table again without what the answers up to `dropped` held; numbers start again after it. */
  #rebuild(slots: number, dropped: number): void {
    const old = this.#words
    this.#slots = slots
    this.#countMax = slots * LOAD_MAX
    this.#words = new Uint32Array(3 * slots)
    this.#count = 0
    for (let from = 0; from < old.length; from += 3) {
      const info = old[from + 2] as number
      const answer = info >>> FLAG_BITS
      if (info === 0 || answer <= dropped) continue
      const at = this.#find(old[from] as number, old[from + 1] as number)
      this.#words[at] = old[from] as number
      this.#words[at + 1] = old[from + 1] as number
      this.#words[at + 2] = ((answer - dropped) << FLAG_BITS) | (info & FLAG_MASK)
      this.#count++
    }
    this.#answer = Math.max(1, this.#answer - dropped)
  }
}
