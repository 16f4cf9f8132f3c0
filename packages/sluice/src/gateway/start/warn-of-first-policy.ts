// Says at a start that the policy of the files holds without a comparison.

import type { Log } from '../shared/log.ts'

/** Nothing is known that the policy could be compared with: another `data:` in sluice.yaml, or a
 * removed gate.db, looks like this. It is on record too (`isFirstPolicy` of the event `start`). */
export function warnOfFirstPolicy(data: string, records: number, log: Log): void {
  const why =
    records > 0
      ? `gate.db knows no policy, though the ledger has ${records} records: it was removed, or never written`
      : 'the data directory is new: approvers, grants and approvals of another one do not hold here'
  const level = records > 0 ? 'warn' : 'info'
  log(level, 'the policy is taken from its files without comparison', { data, why })
}
