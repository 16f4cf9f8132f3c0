export declare class SecondBudget {
  #private
  constructor(perSecond: number, nowMs: number, creditMax?: number)
  addCredit(): void
  /** Whether it fits now; where it does not, nothing is spent. */
  take(cost: number, nowMs: number): boolean
  /** Spends, and says how many ms to wait before anything more. */
  spend(cost: number, nowMs: number): number
  /** The same for one unit, which is on credit where there is some. */
  spendOne(nowMs: number): number
}
