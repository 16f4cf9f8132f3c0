// What this gate has charged lately: if a failover loses commits that were confirmed to it, they are charged
// again. Bounded: of more the oldest are forgotten. Used by admission.ts.

import type { LimitCharge } from '@sluice/policy/calls/counters'
import { formatDecimal } from '@sluice/policy/values/decimal'
import type { AdmissionReply } from '../admission.ts'
import { RECENT_CHARGES_MAX } from '../limits.ts'
import { digestCharge, type QueuedItem } from './batch.ts'
import type { Row } from './connections.ts'

interface ChargedBatch {
  readonly number: number
  readonly at: unknown
  readonly charges: readonly LimitCharge[]
}

export class RecentCharges {
  #batches: ChargedBatch[] = []
  #count = 0
  #last = 0

  /** The number of the last batch. */
  get last(): number {
    return this.#last
  }

  /** `row` is what the database answered. */
  add(batch: readonly QueuedItem[], replies: readonly AdmissionReply[], row: Row): void {
    this.#last = Number(row.batch)
    const charges = batch.flatMap(({ charges }, at) =>
      replies[at]?.status === 'admitted' ? charges : [],
    )
    if (charges.length === 0) return
    this.#batches.push({ number: this.#last, at: row.at, charges })
    this.#count += charges.length
    if (this.#count <= RECENT_CHARGES_MAX) return
    // Half of them at once: removing the first of many is not free.
    this.#batches = this.#batches.slice(Math.ceil(this.#batches.length / 2))
    this.#count = this.#batches.reduce((sum, { charges }) => sum + charges.length, 0)
  }

  /** Charges of batches after this one, as the arguments of `restore_chain`. */
  encodeAfter(number: number): unknown[] {
    const keys: Buffer[] = []
    const [windows, times, numbers, amounts]: unknown[][] = [[], [], [], []]
    for (const batch of this.#batches) {
      if (batch.number <= number) continue
      for (const charge of batch.charges) {
        keys.push(Buffer.from(digestCharge(charge), 'latin1'))
        windows?.push(charge.windowMs)
        times?.push(batch.at)
        numbers?.push(batch.number)
        amounts?.push(formatDecimal(charge.amount))
      }
    }
    return [keys, windows, times, numbers, amounts]
  }
}
