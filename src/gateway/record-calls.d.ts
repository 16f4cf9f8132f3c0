import type { Ledger } from '../ledger/ledger.ts'
import type { CallRecord, Judged } from './admit.ts'
import type { Outcome } from './relay.ts'
import type { Log } from './upstream/upstream.ts'
export declare class LedgerRecord implements CallRecord {
  #private
  /** `policy` says which document judges: its name and digest. */
  constructor(ledger: Ledger, policy: () => string, log: Log)
  intent(judged: Judged): Promise<number>
  refusal(judged: Judged): void
  outcome(intent: number, startedMs: number, outcome: Outcome): void
}
