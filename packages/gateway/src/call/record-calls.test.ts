// What of a call goes into the ledger.

import { digestText } from '@sluice/ledger/records/record'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { expect, test } from 'vitest'
import { type EntryOptions, toEntry } from './record-calls.ts'

test('F13: of the URI of a resource the record has a digest and what may be shown', () => {
  const uri = 'https://ada:hunter2@h/inbox?token=s3cret#part'
  const decided = {
    request: {
      call: { server: 's', method: 'resources/read', name: uri, args: { uri } },
      facts: sampleFacts(undefined),
      argsText: undefined,
    },
    bound: { id: 'p' },
    decision: {},
    now: { wallMs: 0, monotonicMs: 0 },
  } as unknown as EntryOptions['decided']
  const kept = toEntry({ pipeline: { keepsTexts: false }, decided, callId: 'c' })
  expect(kept).toMatchObject({
    name: 'https://***@h/inbox?token=***#***',
    argsDigest: digestText(uri),
  })
  expect(JSON.stringify(kept)).not.toMatch(/hunter2|s3cret|part/)
})

test.each([[true], [false]])('the record says whether the class was a guess: %s', (unknown) => {
  const tool: KnownTool = {
    definition: { server: 's', name: 'frobnicate' },
    category: 'Execute',
    risk: 'high',
    unknown,
  }
  const decided = {
    request: {
      call: { server: 's', method: 'tools/call', name: 'frobnicate', args: {} },
      facts: sampleFacts(tool),
      argsText: '{}',
    },
    bound: { id: 'p' },
    decision: {},
    now: { wallMs: 0, monotonicMs: 0 },
  } as unknown as EntryOptions['decided']
  const kept = toEntry({ pipeline: { keepsTexts: false }, decided, callId: 'c' })
  expect(kept).toMatchObject({ category: 'Execute', unknown })
})
