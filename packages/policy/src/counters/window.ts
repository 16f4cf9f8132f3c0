// Sliding window: the events of one counter, oldest first, in blocks. What a call costs does not grow with
// the number of events: expired blocks are dropped whole, the sums of blocks say when a charge fits
// again, and neighbours are merged two blocks at a time. Pure.

import {
  addDecimal,
  compareDecimal,
  type Decimal,
  subtractDecimal,
  ZERO,
} from '../values/decimal.ts'
import { EventBlock } from './event-block.ts'

export class SlidingWindow {
  windowMs: number
  sum: Decimal = ZERO
  size = 0
  /** The blocks of events, none of which is empty. */
  readonly #blocks: EventBlock[] = []
  /** The index of the block whose events are merged next. */
  #thinned = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  add(amount: Decimal, atMs: number): void {
    this.#blockFor(atMs).add(amount, atMs)
    this.size++
    this.sum = addDecimal(this.sum, amount)
  }

  /**
   * Subtracts an amount from the event that counted it, matched by time: subtracting from a later
   * event would end a window too early. What was merged into a later event stays counted.
   */
  refund(amount: Decimal, atMs: number): void {
    let larger: { readonly at: number; readonly index: number } | undefined
    for (let at = this.#blocks.length - 1; at >= 0 && this.#block(at).lastMs >= atMs; at--) {
      if (this.#block(at).firstMs > atMs) continue
      const { index, isExact } = this.#block(at).find(amount, atMs)
      if (index >= 0) larger = { at, index }
      if (isExact) break
    }
    if (larger === undefined) return
    const block = this.#block(larger.at)
    const before = block.size
    block.subtract(larger.index, amount)
    this.sum = subtractDecimal(this.sum, amount)
    this.size += block.size - before
    if (block.size === 0) this.#blocks.splice(larger.at, 1)
  }

  expire(nowMs: number): void {
    for (;;) {
      const first = this.#blocks[0]
      if (first === undefined || !this.#isOver(first.firstMs, nowMs)) return
      const { size, sum } = first
      if (this.#isOver(first.lastMs, nowMs)) this.#blocks.shift()
      else while (this.#isOver(first.firstMs, nowMs)) first.dropFirst()
      const isGone = this.#blocks[0] !== first
      this.sum = subtractDecimal(this.sum, isGone ? sum : subtractDecimal(sum, first.sum))
      this.size -= isGone ? size : size - first.size
    }
  }

  /** Written this way round so that a clock of NaN or Infinity expires nothing. */
  #isOver(atMs: number, nowMs: number): boolean {
    return nowMs - atMs >= this.windowMs
  }

  /** Time until enough has expired that `wanted` fits into `max`. */
  retryAfterMs(wanted: Decimal, max: Decimal, windowMs: number, nowMs: number): number {
    let sum = addDecimal(this.sum, wanted)
    for (const block of this.#blocks) {
      const rest = subtractDecimal(sum, block.sum)
      if (compareDecimal(rest, max) > 0) {
        sum = rest
        continue
      }
      for (let at = 0; at < block.size; at++) {
        sum = subtractDecimal(sum, block.amountAt(at))
        if (compareDecimal(sum, max) <= 0) return block.timeAt(at) + windowMs - nowMs
      }
    }
    return Number.POSITIVE_INFINITY
  }

  /**
   * Merges neighbours of one or two blocks into the later of each two: never looser, and bounded. The
   * next time it is the turn of others.
   */
  thinSome(): void {
    if (this.#thinned >= this.#blocks.length) this.#thinned = 0
    const merged = new EventBlock()
    let first: Decimal | undefined
    let lastMs = 0
    for (const block of this.#blocks.splice(this.#thinned, 2, merged)) {
      this.size -= block.size
      for (let at = 0; at < block.size; at++) {
        const amount = block.amountAt(at)
        lastMs = block.timeAt(at)
        if (first !== undefined) merged.add(addDecimal(first, amount), lastMs)
        first = first === undefined ? amount : undefined
      }
    }
    if (first !== undefined) merged.add(first, lastMs)
    this.#thinned++
    this.size += merged.size
  }

  /** Times and amounts, oldest first. */
  list(): { readonly times: number[]; readonly amounts: Decimal[] } {
    const times: number[] = []
    const amounts: Decimal[] = []
    for (const block of this.#blocks)
      for (let at = 0; at < block.size; at++) {
        times.push(block.timeAt(at))
        amounts.push(block.amountAt(at))
      }
    return { times, amounts }
  }

  #block(at: number): EventBlock {
    return this.#blocks[at] as EventBlock
  }

  /** The last one that begins before, with room for an event. */
  #blockFor(atMs: number): EventBlock {
    let at = this.#blocks.length - 1
    while (at > 0 && this.#block(at).firstMs > atMs) at--
    const block = this.#blocks[at]
    if (block !== undefined && !block.isFull) return block
    if (block === undefined || block.lastMs <= atMs) {
      const next = new EventBlock()
      this.#blocks.splice(at + 1, 0, next)
      return next
    }
    return this.#cutInTwo(at, atMs)
  }

  /** Returns the half that an event of this time belongs to. */
  #cutInTwo(at: number, atMs: number): EventBlock {
    const [one, other] = [new EventBlock(), new EventBlock()]
    const whole = this.#block(at)
    for (let index = 0; index < whole.size; index++)
      (index < whole.size / 2 ? one : other).add(whole.amountAt(index), whole.timeAt(index))
    this.#blocks.splice(at, 1, one, other)
    return other.firstMs > atMs ? one : other
  }
}
