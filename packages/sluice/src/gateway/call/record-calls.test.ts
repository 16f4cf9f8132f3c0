// What of a call goes into the ledger.

import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { expect, test } from 'vitest'
import type { Ledger } from '../../ledger/ledger.ts'
import { type DecisionEntry, digestText } from '../../ledger/records/record.ts'
import type { DecidedCall } from './admit.ts'
import { LedgerCallRecorder } from './record-calls.ts'

test('F13: of the URI of a resource the record has a digest and what may be shown', () => {
  const kept: DecisionEntry[] = []
  const ledger = { intentThen: (judgement: DecisionEntry) => kept.push(judgement) }
  const record = new LedgerCallRecorder(ledger as unknown as Ledger, () => {})
  const uri = 'https://ada:hunter2@h/inbox?token=s3cret#part'
  const judged = {
    call: { server: 's', method: 'resources/read', name: uri, args: { uri } },
    ...{ facts: sampleFacts(undefined), argsText: undefined, callId: 'c', policy: 'p' },
    ...{ values: {}, decision: {}, now: { wallMs: 0, monotonicMs: 0 } },
  }
  record.intent(
    judged as unknown as DecidedCall,
    () => {},
    () => {},
  )
  expect(kept).toMatchObject([
    { name: 'https://***@h/inbox?token=***#***', argsDigest: digestText(uri) },
  ])
  expect(JSON.stringify(kept)).not.toMatch(/hunter2|s3cret|part/)
})
