// What a start without an earlier policy says: a new data directory is normal, also after a PIN was set in
// it; a missing gate.db where a gate has run is not.

import { Ledger } from '@sluice/ledger/ledger'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { warnOfFirstPolicy } from './warn-of-first-policy.ts'

test.each([
  ['a new directory', [], 'info'],
  ['one where a PIN was set', ['approver-added'], 'info'],
  ['one where a gate has run', ['approver-added', 'start'], 'warn'],
  ['one with too many records', Array<string>(101).fill('approver-added'), 'warn'],
])('%s', async (_, events, expected) => {
  const data = scratchDirectory()
  const ledger = Ledger.open({ directory: data })
  await Promise.all(events.map((name) => ledger.event({ atMs: 1, name, detail: {} })))
  const levels: string[] = []
  warnOfFirstPolicy(data, (level) => levels.push(level))
  ledger.close()
  expect(levels).toEqual([expected])
})
