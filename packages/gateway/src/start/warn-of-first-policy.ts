// Logs at start that the policy files are in force without a comparison with an earlier policy.

import { openLedgerReadOnly, recordsFrom } from '@sluice/ledger/chain/read'
import type { Log } from '../shared/log.ts'

/** Commands that run before the first gate (a PIN, a grant) leave far fewer records than this. */
const RECORDS_BEFORE_FIRST_START_MAX = 100

/** No earlier policy is known: another `data:` in sluice.yaml, or a removed gate.db, looks like this.
 * It is recorded too (`isFirstPolicy` of the event `start`). */
export function warnOfFirstPolicy(data: string, log: Log): void {
  if (hasGateRun(data))
    log('warn', 'the policy files are in force without comparison with the earlier policy', {
      data,
      why: 'gate.db has no policy, though a gate has run here: gate.db was removed',
    })
  else log('info', 'new data directory: the policy files are in force as they are', { data })
}

/** Whether a gate has run here, by its ledger: a gate records its start before anything else. */
function hasGateRun(data: string): boolean {
  using database = openLedgerReadOnly(data)
  let count = 0
  for (const record of recordsFrom(database)) {
    // The first records were removed by retention, or there are too many of them.
    if (record.seq !== ++count || count > RECORDS_BEFORE_FIRST_START_MAX) return true
    if (record.kind === 'event' && record.name === 'start') return true
  }
  return false
}
