// Notes counters and sessions while the gate runs, after so many records, and when it ends. What goes
// wrong with it is harmless: a start then reads more of the ledger.

import type { Ledger } from '../../ledger/ledger.ts'
import type { Log } from '../shared/log.ts'
import { STATE_EVERY_RECORDS, STATE_LOOK_EVERY_MS } from './limits.ts'
import { type StateParts, writeState } from './state-file.ts'

/** Returns what ends it, with a last note. */
export function startSnapshots(parts: StateParts & { ledger: Ledger; log: Log }): () => void {
  const { ledger, log } = parts
  let noted = ledger.head.seq
  const note = (): void => {
    try {
      const { head } = ledger
      if (head.seq > 0 && writeState(parts, head)) noted = head.seq
    } catch (error) {
      log('warn', 'counters and sessions could not be noted', { why: (error as Error).message })
    }
  }
  const timer = setInterval(() => {
    if (ledger.head.seq - noted >= STATE_EVERY_RECORDS) note()
  }, STATE_LOOK_EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    note()
  }
}
