// The index of queries under a load that never rests: it follows, a little at a time.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { decisionEntry } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { expect, onTestFinished, test, vi } from 'vitest'
import { BackgroundIndexer } from './background-indexer.ts'

test('a gate that is never quiet is indexed all the same', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-quiet-'))
  const ledger = Ledger.open({ directory })
  const index = new BackgroundIndexer({ directory, ledger, isQuiet: () => false, log: () => {} })
  let number = 0
  const load = setInterval(() => void ledger.intent(decisionEntry(number++)), 20)
  onTestFinished(() => {
    clearInterval(load)
    index.close()
    ledger.close()
    rmSync(directory, { recursive: true })
  })
  const indexed = (): number => {
    const file = new DatabaseSync(join(directory, 'ledger-index.db'), { readOnly: true })
    try {
      return Number(file.prepare('SELECT seq FROM through').get()?.seq ?? 0)
    } finally {
      file.close()
    }
  }
  await vi.waitFor(() => expect(indexed()).toBeGreaterThan(20), { timeout: 20_000, interval: 200 })
})
