// Sliding window: the events of one counter, oldest first. Times are in a typed array; amounts are
// stored only if they differ. A busy limit has a million events, and as objects they would dominate
// the heap and the garbage collector's work. Pure.

import { addDecimal, compareDecimal, type Decimal, subtractDecimal, ZERO } from '../core/decimal.ts'

/** Initial capacity, in events. */
const CAPACITY_MIN = 8

export class SlidingWindow {
  windowMs: number
  sum: Decimal = ZERO
  #times = new Float64Array(CAPACITY_MIN)
  /** Per event; undefined while all are the same. */
  #amounts: Decimal[] | undefined
  #same: Decimal | undefined
  /** Events before this index have left the window. */
  #head = 0
  #end = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  get size(): number {
    return this.#end - this.#head
  }

  add(amount: Decimal, atMs: number): void {
    let index = this.#end
    if (index === this.#times.length) index = this.#reserve()
    while (index > this.#head && this.#time(index - 1) > atMs) index--
    this.#noteAmount(amount, index)
    if (index < this.#end) this.#times.copyWithin(index + 1, index, this.#end)
    this.#times[index] = atMs
    this.#end++
    this.sum = addDecimal(this.sum, amount)
  }

  /**
   * Subtracts an amount from the event that counted it, matched by time: subtracting from a later
   * event would end a window too early. What was merged into a later event stays counted.
   */
  refund(amount: Decimal, atMs: number): void {
    const index = this.#find(amount, atMs)
    if (index < 0) return
    const left = subtractDecimal(this.#amount(index), amount)
    this.sum = subtractDecimal(this.sum, amount)
    if (left.units === 0n) this.#remove(index)
    else this.#amountsOfEach()[index] = left
  }

  expire(nowMs: number): void {
    // Written this way round so that a clock of NaN or Infinity expires nothing.
    while (this.#head < this.#end && nowMs - this.#time(this.#head) >= this.windowMs) {
      this.sum = subtractDecimal(this.sum, this.#amount(this.#head))
      this.#head++
    }
    if (this.#head === this.#end) this.#clear()
    // Dropped in bulk, so that each event is moved at most once.
    else if (this.#head > 16 && this.#head * 2 > this.#end) this.#dropExpired()
  }

  /** Time until enough has expired that `wanted` fits into `max`. */
  retryAfterMs(wanted: Decimal, max: Decimal, windowMs: number, nowMs: number): number {
    let sum = addDecimal(this.sum, wanted)
    for (let index = this.#head; index < this.#end; index++) {
      sum = subtractDecimal(sum, this.#amount(index))
      if (compareDecimal(sum, max) <= 0) return this.#time(index) + windowMs - nowMs
    }
    return Number.POSITIVE_INFINITY
  }

  /** Merges neighbours into the later of the two: never looser, and bounded. */
  thin(): void {
    const amounts: Decimal[] = []
    for (let index = this.#head; index < this.#end; index += 2) {
      const hasSecond = index + 1 < this.#end
      const first = this.#amount(index)
      this.#times[amounts.length] = this.#time(hasSecond ? index + 1 : index)
      amounts.push(hasSecond ? addDecimal(first, this.#amount(index + 1)) : first)
    }
    this.#amounts = amounts
    this.#head = 0
    this.#end = amounts.length
  }

  /** Times and amounts, oldest first. */
  list(): { readonly times: number[]; readonly amounts: Decimal[] } {
    const times = [...this.#times.subarray(this.#head, this.#end)]
    return { times, amounts: times.map((_, at) => this.#amount(this.#head + at)) }
  }

  #time(index: number): number {
    return this.#times[index] as number
  }

  #amount(index: number): Decimal {
    return (this.#amounts === undefined ? this.#same : this.#amounts[index]) as Decimal
  }

  #noteAmount(amount: Decimal, index: number): void {
    if (this.size === 0 && this.#amounts === undefined) this.#same = amount
    if (this.#amounts === undefined && isSame(this.#same as Decimal, amount)) return
    this.#amountsOfEach().splice(index, 0, amount)
  }

  #amountsOfEach(): Decimal[] {
    this.#amounts ??= new Array<Decimal>(this.#end).fill(this.#same as Decimal)
    return this.#amounts
  }

  #find(amount: Decimal, atMs: number): number {
    let larger = -1
    for (let index = this.#end - 1; index >= this.#head; index--) {
      const time = this.#time(index)
      if (time < atMs) break
      if (time > atMs) continue
      const difference = compareDecimal(this.#amount(index), amount)
      if (difference === 0) return index
      if (difference > 0) larger = index
    }
    return larger
  }

  #remove(index: number): void {
    this.#times.copyWithin(index, index + 1, this.#end)
    this.#amounts?.splice(index, 1)
    this.#end--
  }

  /** Returns the index of the next event. */
  #reserve(): number {
    if (this.#head * 2 > this.#end) this.#dropExpired()
    else {
      const larger = new Float64Array(this.#times.length * 2)
      larger.set(this.#times)
      this.#times = larger
    }
    return this.#end
  }

  #dropExpired(): void {
    this.#times.copyWithin(0, this.#head, this.#end)
    this.#amounts?.splice(0, this.#head)
    this.#end -= this.#head
    this.#head = 0
    // Frees the memory of a busy hour.
    if (this.#times.length > CAPACITY_MIN && this.#end * 4 < this.#times.length)
      this.#times = this.#times.slice(0, Math.max(CAPACITY_MIN, this.#end * 2))
  }

  #clear(): void {
    this.#head = 0
    this.#end = 0
    this.#amounts = undefined
    if (this.#times.length > CAPACITY_MIN) this.#times = new Float64Array(CAPACITY_MIN)
  }
}

function isSame(a: Decimal, b: Decimal): boolean {
  return a === b || (a.units === b.units && a.scale === b.scale)
}
