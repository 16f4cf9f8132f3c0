// What a restart reads of past calls, compared with the complete records.

import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../chain/read.ts'
import { decisionEntry } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { Names, TOKEN_START } from '../records/names.ts'
import { freshDirectory } from '../samples.test-support.ts'
import { recentCalls } from './recent-calls.ts'

const NOW = 1_800_000_000_000

test('calls in order; of outcomes only those that matter', async () => {
  const directory = freshDirectory()
  const ledger = Ledger.open({ directory })
  const calls = await Promise.all(
    [0, 1, 2, 3, 4].map((n) => ledger.intent(decisionEntry(n, { session: `"s,${n}"` }))),
  )
  await ledger.refuse(decisionEntry(5, { name: 'x'.repeat(5_000) }))
  await ledger.event({ atMs: NOW, name: 'policy', detail: [[], 1, false] })
  const [plain, unknown, labelled, failed, returned] = calls as [
    number,
    number,
    number,
    number,
    number,
  ]
  ledger.outcome(plain, { atMs: NOW, status: 'answered', bytes: 7 })
  ledger.outcome(unknown, { atMs: NOW, status: 'unknown' })
  ledger.outcome(labelled, { atMs: NOW, status: 'answered', labels: ['mail', ',[],1,false]'] })
  ledger.outcome(failed, { atMs: NOW, status: 'error', errorCode: -1, digest: '"unknown"' })
  ledger.outcome(returned, { atMs: NOW, status: 'error', givenBack: true })
  ledger.close()
  const database = openLedgerReadOnly(directory)
  const recent = [...recentCalls(database, NOW - 1_000)]
  const later = [...recentCalls(database, NOW + 1_000_000)]
  database.close()
  expect(later).toEqual([])
  expect(recent).toMatchObject([
    ...calls.map((seq, n) => ({ kind: 'intent', seq, atMs: NOW + n, session: `"s,${n}"` })),
    { kind: 'refusal', server: 'stripe', method: 'tools/call', atMs: NOW + 5 },
    { kind: 'quiet', intent: plain },
    { kind: 'outcome', intent: unknown, status: 'unknown' },
    { kind: 'outcome', intent: labelled, labels: ['mail', ',[],1,false]'] },
    { kind: 'quiet', intent: failed },
    { kind: 'outcome', intent: returned, status: 'error', labels: [] },
  ])
})

test('a text that looks like a token is a text; a caller without a row stops the start', async () => {
  const directory = freshDirectory()
  new Names(directory).close()
  const token = `${TOKEN_START}${'a'.repeat(22)}`
  // As 0.1.0 wrote it: without a hider.
  const ledger = Ledger.open({ directory })
  await ledger.intent(decisionEntry(0, { session: 'ann#1@1', agent: token, name: token }))
  const recent = () => {
    using database = openLedgerReadOnly(directory)
    return [...recentCalls(database, NOW - 1_000)]
  }
  expect(recent()).toMatchObject([{ name: token, session: 'ann#1@1' }])
  await ledger.intent(decisionEntry(1, { principal: { id: token, kind: 'grant' } }))
  expect(recent).toThrow('has no row for')
  ledger.close()
})
