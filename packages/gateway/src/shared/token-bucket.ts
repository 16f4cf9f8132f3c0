// How much of something there may be a second, with as much again at once: what is spent beyond it
// has to wait. Credit is for what was asked for and comes on top. Pure; stdout and stderr of servers
// are read through it.

/** A shorter rest than this is put off: many small ones cost more than what they hold back. */
const REST_MS_MIN = 50

export class TokenBucket {
  readonly #perSecond: number
  readonly #creditMax: number
  #left: number
  #credit = 0
  #atMs: number

  constructor(perSecond: number, nowMs: number, creditMax = 0) {
    this.#perSecond = perSecond
    this.#creditMax = creditMax
    this.#left = perSecond
    this.#atMs = nowMs
  }

  addCredit(): void {
    if (this.#credit < this.#creditMax) this.#credit += 1
  }

  /** Whether it fits now; if it does not, nothing is spent. */
  take(cost: number, nowMs: number): boolean {
    this.#refill(nowMs)
    if (this.#left < cost) return false
    this.#left -= cost
    return true
  }

  /** Spends, and says how many ms to wait before anything more. */
  spend(cost: number, nowMs: number): number {
    this.#refill(nowMs)
    this.#left -= cost
    const debtMs = (-this.#left / this.#perSecond) * 1_000
    return debtMs < REST_MS_MIN ? 0 : Math.ceil(debtMs)
  }

  /** The same for one unit, which is on credit if there is some. */
  spendOne(nowMs: number): number {
    return this.spend(this.takeCredit() ? 0 : 1, nowMs)
  }

  /** Whether there was credit for one unit: what costs nothing else need not look at the clock. */
  takeCredit(): boolean {
    if (this.#credit === 0) return false
    this.#credit -= 1
    return true
  }

  #refill(nowMs: number): void {
    const earned = ((nowMs - this.#atMs) / 1_000) * this.#perSecond
    this.#left = Math.min(this.#perSecond, this.#left + earned)
    this.#atMs = nowMs
  }
}
