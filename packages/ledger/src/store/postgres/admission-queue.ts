// What waits for the next statement: calls, which are refused if it cannot come, and records, which wait.

import type { AdmissionReply } from '../admission.ts'
import { StoreError } from '../errors.ts'
import {
  ADMIT_BATCH_MAX,
  ADMIT_BYTES_MAX,
  SENT_WITHIN_MS,
  SHARED_ROWS_WAITING_MAX,
} from '../limits.ts'
import type { QueuedItem } from './batch.ts'

/** Why nothing is admitted. */
export const SAME_NAME = 'another gate with the same name has started'
export const STOPPED = `the gate was stopped for more than ${SENT_WITHIN_MS} ms while it was admitted`

export class AdmissionQueue {
  readonly calls: QueuedItem[] = []
  readonly rows: QueuedItem[] = []

  /** No record more may wait. */
  get isFull(): boolean {
    return this.rows.length >= SHARED_ROWS_WAITING_MAX
  }

  /** Something waits that is not an outcome. */
  get isUrgent(): boolean {
    return this.calls.length > 0 || this.rows.some(({ kind }) => kind !== 'o')
  }

  /** The next batch. Calls that were decided by another state than that of `stamp` are sent back. */
  take(stamp: number): QueuedItem[] {
    const batch: QueuedItem[] = []
    let bytes = 0
    // Outcomes first: they are of earlier calls.
    for (const queue of [this.rows, this.calls]) {
      let taken = 0
      for (const item of queue) {
        if (batch.length >= ADMIT_BATCH_MAX || bytes > ADMIT_BYTES_MAX) break
        taken++
        if (queue === this.calls && item.stamp !== stamp) item.answer({ status: 'changed' })
        else if (item.signal?.aborted !== true) {
          batch.push(item)
          bytes += item.body.length
        }
      }
      queue.splice(0, taken)
    }
    return batch
  }

  /** Calls that were decided by other sessions than there are now: they are decided again. */
  async answerStale(
    stale: readonly QueuedItem[],
    refresh?: (owners: ReadonlySet<string>) => Promise<void>,
  ): Promise<void> {
    const owners = new Set(stale.flatMap(({ checks }) => checks.map(({ owner }) => owner)))
    let reply: AdmissionReply = { status: 'changed' }
    try {
      await refresh?.(owners)
    } catch (error) {
      reply = { status: 'unavailable', why: (error as Error).message }
    }
    for (const { answer } of stale) answer(reply)
  }
}

export function notRecorded(why: string): StoreError {
  return new StoreError('STORE_UNREACHABLE', why, 'see that PostgreSQL runs')
}
