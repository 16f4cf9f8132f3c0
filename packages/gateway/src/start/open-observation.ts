// Fourth step of a start: what looks at the gate while it runs. Verification of the ledger, alerts, the index
// of queries, and retention.

import { SqliteAlertRows } from '@sluice/ledger/store/sqlite/alert-rows'
import type { Alerts } from '../alerts/alerts.ts'
import { startRetention } from '../data/apply-retention.ts'
import { BackgroundIndexer } from '../data/background-indexer.ts'
import { LedgerVerification } from '../data/ledger-verification.ts'
import { openAlerts } from './open-alerts.ts'
import type { GateCalls } from './open-calls.ts'
import type { GateData } from './open-data.ts'

export interface GateObservation {
  /** Verifies the whole ledger in the background. */
  readonly verification: LedgerVerification
  /** Raised by this gate, and listed of all gates that share a store. */
  readonly alerts: Alerts
}

export function openObservation(
  { data, calls }: { readonly data: GateData; readonly calls: GateCalls },
  closing: AsyncDisposableStack,
): GateObservation {
  const { config, ledger, log, policies, publicKey, sessions, shared, store } = data
  const { approvals, gate } = calls
  const verification = new LedgerVerification({ directory: config.data, key: publicKey, log })
  closing.defer(() => verification.close())
  const rows = shared?.alerts ?? new SqliteAlertRows(store)
  const parts = { config, cluster: shared, ledger, log, verification, rows }
  const alerts = openAlerts({ ...calls, ...parts }, closing)
  const isQuiet = () => !gate.isBusy
  const index = new BackgroundIndexer({ directory: config.data, ledger, isQuiet, log })
  closing.defer(() => index.close())
  const kept = { config: config.ledger, ledger, policies: () => policies.now, log }
  closing.defer(startRetention({ ...kept, sessions, approvals: approvals.engine }))
  return { verification, alerts }
}
