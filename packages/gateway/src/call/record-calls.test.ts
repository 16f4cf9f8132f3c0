// What of a call goes into the ledger.

import { JUDGED_ENTRIES_MAX } from '@sluice/ledger/records/limits'
import { digestText } from '@sluice/ledger/records/record'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import { compile } from '@sluice/policy/compile/compile'
import { JUDGED_PATHS_MAX } from '@sluice/policy/language/limits'
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

test('finding: a record has room for all that a policy may read of a call', () => {
  const guardrails = Array.from({ length: 300 }, (_, n) => ({
    name: `g${n}`,
    when: [
      `args.a${n} > 0`,
      `last("shop/get").f${n} > 0`,
      `principal.claims.c${n} == 1`,
      'call.secret || call.card || call.iban',
      'session.repeats > 9 || session.tokens > 9 || session.mode == "plan"',
    ].join(' || '),
    action: 'deny',
  }))
  const judgedBy = (some: readonly object[]) => {
    const text = JSON.stringify({ version: 1, default: 'allow', guardrails: some })
    const { policy } = compile({ file: 'p', text })
    const tool: KnownTool = {
      definition: { server: 's', name: 't', inputSchema: { additionalProperties: false } },
      category: 'Read',
      risk: 'low',
    }
    const principal = { id: 'ann', kind: 'oauth', groups: ['ops'], claims: {} }
    const decided = {
      request: {
        call: { server: 's', method: 'tools/call', name: 't', args: {} },
        facts: sampleFacts(tool, { principal }),
        argsText: '{}',
      },
      bound: { id: 'p', policy },
      decision: {},
      now: { wallMs: 0, monotonicMs: 0 },
    } as unknown as EntryOptions['decided']
    return Object.keys(toEntry({ pipeline: { keepsTexts: false }, decided, callId: 'c' }).judged)
  }
  const all = judgedBy(guardrails)
  expect(all.length).toBeLessThanOrEqual(JUDGED_ENTRIES_MAX)
  expect(all.filter((name) => name.startsWith('args.'))).toHaveLength(JUDGED_PATHS_MAX)
  expect(all).toEqual(expect.arrayContaining(['principal.groups', 'session.mode', 'undeclared']))
  // Fields of answers have the room that arguments leave.
  const few = judgedBy(guardrails.slice(0, 90))
  expect(few.filter((name) => name.startsWith('last('))).toHaveLength(90)
})
