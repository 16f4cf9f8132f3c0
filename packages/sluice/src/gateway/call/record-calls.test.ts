// What of a call goes into the ledger.

import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { expect, test } from 'vitest'
import type { Ledger } from '../../ledger/ledger.ts'
import { digestOf, type Judgement } from '../../ledger/records/record.ts'
import type { Judged } from './admit.ts'
import { LedgerRecord } from './record-calls.ts'

test('F13: of the URI of a resource the record has a digest and what may be shown', () => {
  const kept: Judgement[] = []
  const ledger = { intentThen: (judgement: Judgement) => kept.push(judgement) }
  const record = new LedgerRecord(ledger as unknown as Ledger, () => {})
  const uri = 'https://ada:hunter2@h/inbox?token=s3cret#part'
  const judged = {
    call: { server: 's', method: 'resources/read', name: uri, args: { uri } },
    ...{ facts: sampleFacts(undefined), argsText: undefined, callId: 'c', policy: 'p' },
    ...{ values: {}, decision: {}, now: { wallMs: 0, monotonicMs: 0 } },
  }
  record.intent(
    judged as unknown as Judged,
    () => {},
    () => {},
  )
  expect(kept).toMatchObject([
    { name: 'https://***@h/inbox?token=***#***', argsDigest: digestOf(uri) },
  ])
  expect(JSON.stringify(kept)).not.toMatch(/hunter2|s3cret|part/)
})
