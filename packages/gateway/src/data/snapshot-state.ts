// Notes counters and sessions while the gate runs, after so many records, and when it ends. What goes
// wrong with it is harmless: a start then reads more of the ledger.

import type { Ledger } from '@sluice/ledger/ledger'
import type { Log } from '../shared/log.ts'
import { STATE_EVERY_RECORDS, STATE_LOOK_EVERY_MS } from './limits.ts'
import { type StateParts, writeState } from './state-file.ts'

/** Returns what ends it, with a last note. */
export function startSnapshots(
  parts: StateParts & { ledger: Ledger; log: Log },
): () => Promise<void> {
  const { ledger, log } = parts
  let noted = ledger.head.seq
  let noting: Promise<void> | undefined
  const note = async (): Promise<void> => {
    const { head } = ledger
    // Also if it fails or is too much: it is tried again after as many records.
    noted = head.seq
    try {
      if (head.seq > 0) await writeState(parts, head)
    } catch (error) {
      log('warn', 'counters and sessions could not be noted', { why: (error as Error).message })
    }
    noting = undefined
  }
  const timer = setInterval(() => {
    if (ledger.head.seq - noted >= STATE_EVERY_RECORDS) noting ??= note()
  }, STATE_LOOK_EVERY_MS).unref()
  return async () => {
    clearInterval(timer)
    await noting
    await note()
  }
}
