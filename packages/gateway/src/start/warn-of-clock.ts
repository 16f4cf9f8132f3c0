// Says in the log that the machine's clock was set back, before the gate was started or while it runs, what
// that means and what to do. Called at start.

import type { DatabaseSync } from 'node:sqlite'
import { recordsBackwards } from '@sluice/ledger/chain/read'
import { CLOCK_SET_BACK_REPORTED_MS, processClock } from '@sluice/ledger/store/process-clock'
import { CLOCK_RECORDS_MAX } from '../shared/limits.ts'
import type { Log } from '../shared/log.ts'

/** Warns if the clock is set back. Returns a function that ends the watch. */
export function warnOfClock(log: Log): () => void {
  return processClock.onSetBack((behindMs) =>
    log('warn', "the machine's clock was set back: expiry goes on from the later time", {
      seconds: Math.round(behindMs / 1_000),
      help: 'if the clock was ahead by mistake and tokens are refused as expired, restart the gate',
    }),
  )
}

/** The clock is behind what the ledger recorded last. */
export function warnOfEarlierClock(ledger: DatabaseSync, log: Log): void {
  let latestMs = 0
  let read = 0
  for (const { atMs } of recordsBackwards(ledger)) {
    latestMs = Math.max(latestMs, atMs)
    if (++read >= CLOCK_RECORDS_MAX) break
  }
  const behindMs = latestMs - processClock.nowMs()
  if (behindMs < CLOCK_SET_BACK_REPORTED_MS) return
  log('warn', "the machine's clock is behind the ledger: what expires lasts longer by that", {
    seconds: Math.round(behindMs / 1_000),
    help: 'if the clock is wrong, set it right; if it was ahead before, nothing is to be done',
  })
}
