import { describe, onTestFinished } from 'vitest'
import { scratchDirectory } from '../../../../../test/support/scratch.ts'
import { openGateStore } from '../../gateway/data/gate-store.ts'
import { testAlertRows } from '../alert-rows.test-support.ts'
import { SqliteAlertRows } from './alert-rows.ts'

describe('alerts in SQLite', () => {
  testAlertRows(async () => {
    const store = openGateStore(scratchDirectory())
    onTestFinished(() => store.close())
    const rows = new SqliteAlertRows(store)
    return { rows: [rows, rows], expireClaims: async () => {} }
  })
})
