// Says in the log that the machine's clock was set back while the gate runs, what that means and what to
// do if it had been ahead by mistake. Called at start.

import { processClock } from '../../store/process-clock.ts'
import type { Log } from '../shared/log.ts'

/** Returns what ends it. */
export function warnOfClock(log: Log): () => void {
  return processClock.onSetBack((behindMs) =>
    log('warn', "the machine's clock was set back: expiry goes on from the later time", {
      seconds: Math.round(behindMs / 1_000),
      help: 'if the clock was ahead by mistake and tokens are refused as expired, restart the gate',
    }),
  )
}
