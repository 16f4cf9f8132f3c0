// Some events of one counter in time order, with their sum: the part of a sliding window that is moved,
// skipped or merged as a whole. Times are in a typed array; amounts are stored only if they differ. A
// busy limit has a million events, and as objects they would dominate the heap and the garbage
// collector's work. Pure.

import {
  addDecimal,
  compareDecimal,
  type Decimal,
  subtractDecimal,
  ZERO,
} from '../values/decimal.ts'

/** Events of one block, at most. */
export const BLOCK_EVENTS_MAX = 1_024
/** Initial capacity, in events. */
const CAPACITY_MIN = 8

export class EventBlock {
  sum: Decimal = ZERO
  #times = new Float64Array(CAPACITY_MIN)
  /** Per event; undefined while all are the same. */
  #amounts: Decimal[] | undefined
  #same: Decimal | undefined
  /** Events before this index have left the window. */
  #head = 0
  #end = 0

  get size(): number {
    return this.#end - this.#head
  }

  /** Whether another event needs another block. */
  get isFull(): boolean {
    return this.#end === BLOCK_EVENTS_MAX && !this.#isHalfEmpty
  }

  /** The time of the first event. The block must not be empty. */
  get firstMs(): number {
    return this.#time(this.#head)
  }

  get lastMs(): number {
    return this.#time(this.#end - 1)
  }

  /** Adds an event after those of the same time. The block must not be full. */
  add(amount: Decimal, atMs: number): void {
    if (this.#end === this.#times.length) this.#reserve()
    let index = this.#end
    while (index > this.#head && this.#time(index - 1) > atMs) index--
    this.#noteAmount(amount, index)
    if (index < this.#end) this.#times.copyWithin(index + 1, index, this.#end)
    this.#times[index] = atMs
    this.#end++
    this.sum = addDecimal(this.sum, amount)
  }

  /** The event of this time with just this amount, or else one with more; -1 if there is none. */
  find(amount: Decimal, atMs: number): { readonly index: number; readonly isExact: boolean } {
    let larger = -1
    for (let index = this.#end - 1; index >= this.#head && this.#time(index) >= atMs; index--) {
      if (this.#time(index) > atMs) continue
      const difference = compareDecimal(this.#amount(index), amount)
      if (difference === 0) return { index, isExact: true }
      if (difference > 0) larger = index
    }
    return { index: larger, isExact: false }
  }

  /** Subtracts from one event, which goes if nothing is left of it. */
  subtract(index: number, amount: Decimal): void {
    const left = subtractDecimal(this.#amount(index), amount)
    this.sum = subtractDecimal(this.sum, amount)
    if (left.units !== 0n) {
      this.#amountsOfEach()[index] = left
      return
    }
    this.#times.copyWithin(index, index + 1, this.#end)
    this.#amounts?.splice(index, 1)
    this.#end--
  }

  /** Drops the first event. */
  dropFirst(): void {
    this.sum = subtractDecimal(this.sum, this.#amount(this.#head))
    this.#head++
  }

  /** The time of an event, counted from the oldest. */
  timeAt(at: number): number {
    return this.#time(this.#head + at)
  }

  amountAt(at: number): Decimal {
    return this.#amount(this.#head + at)
  }

  #time(index: number): number {
    return this.#times[index] as number
  }

  #amount(index: number): Decimal {
    return (this.#amounts === undefined ? this.#same : this.#amounts[index]) as Decimal
  }

  #noteAmount(amount: Decimal, index: number): void {
    if (this.#end === 0) this.#same = amount
    if (this.#amounts === undefined && isSame(this.#same as Decimal, amount)) return
    const amounts = this.#amountsOfEach()
    if (index === this.#end) amounts.push(amount)
    else amounts.splice(index, 0, amount)
  }

  #amountsOfEach(): Decimal[] {
    this.#amounts ??= new Array<Decimal>(this.#end).fill(this.#same as Decimal)
    return this.#amounts
  }

  get #isHalfEmpty(): boolean {
    return this.#head * 2 > this.#end
  }

  #reserve(): void {
    if (this.#isHalfEmpty) {
      this.#times.copyWithin(0, this.#head, this.#end)
      this.#amounts?.splice(0, this.#head)
      this.#end -= this.#head
      this.#head = 0
      return
    }
    const larger = new Float64Array(this.#times.length * 2)
    larger.set(this.#times)
    this.#times = larger
  }
}

function isSame(a: Decimal, b: Decimal): boolean {
  return a === b || (a.units === b.units && a.scale === b.scale)
}
