// What one change of a shared row costs does not depend on how many rows there are.

import { expect, test, vi } from 'vitest'
import { SharedRows } from './shared-rows.ts'

const ROWS_COUNT = 500

test('finding: a change of one shared row copies no others', async () => {
  const query = vi.fn(async () => [{ current: 0, changed_on: '', timeline: '1', kind: null }])
  const parts = { connections: { query }, gate: 'a', epoch: () => 1, key: Buffer.alloc(32) }
  const rows = new SharedRows(parts as never)
  const row = (at: number, body: string | null) => ({ kind: 'pins', key: `["'${at}'"]`, body })
  await rows.readNews(() => {})
  await rows.change(Array.from({ length: ROWS_COUNT }, (_, at) => row(at, 'a')))
  // The constructor of a map calls it for each entry, too.
  const set = vi.spyOn(Map.prototype, 'set')
  try {
    await rows.change([row(7, 'b')])
    expect(set.mock.calls.length).toBeLessThan(ROWS_COUNT / 10)
  } finally {
    set.mockRestore()
  }
  expect(rows.version).toBe(2)
})
