import { describe, onTestFinished } from 'vitest'
import { openGateStore } from '../../packages/gateway/src/data/gate-store.ts'
import { testAlertRows } from '../../packages/ledger/src/store/alert-rows.test-support.ts'
import { SqliteAlertRows } from '../../packages/ledger/src/store/sqlite/alert-rows.ts'
import { scratchDirectory } from '../support/scratch.ts'

describe('alerts in SQLite', () => {
  testAlertRows(async () => {
    const store = openGateStore(scratchDirectory())
    onTestFinished(() => store.close())
    const rows = new SqliteAlertRows(store)
    return { rows: [rows, rows], expireClaims: async () => {} }
  })
})
