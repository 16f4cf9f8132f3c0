// The page on records is what other programs are written from: each position that it names is where it says.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../../../../test/support/modules.ts'
import { allowed, decisionEntry, take } from '../decision-entries.test-support.ts'
import { encode } from './encoding.ts'
import { type LedgerEntry, outcomeEntry } from './record.ts'

const PAGE = readFileSync(join(ROOT, 'docs/reference/ledger-records.md'), 'utf8')

/** What the page says of a kind, by position. */
function readPositions(kind: string): Map<number, string> {
  const row = PAGE.split('\n').find((line) => line.startsWith(`| ${kind} |`)) ?? ''
  const parts = row.split(/(?:^\| [^|]+\| |, )(?=\d+ )/)
  return new Map(
    parts.flatMap((part) => {
      const [, at, what] = /^(\d+) (.+?)(?: \|)?$/.exec(part) ?? []
      return at === undefined ? [] : [[Number(at), what ?? '']]
    }),
  )
}

const shadow = {
  rule: 'shadow',
  action: 'deny',
  code: 'DENIED',
  reason: 'why',
  limits: [],
} as const
const CALL = {
  ...decisionEntry(1),
  unknown: true,
  parent: 'the call of run_code',
  approval: 'the approval',
  agent: 'the agent',
  judged: { amount: 1 },
  decision: { ...allowed, limits: [take], shadow: [shadow] },
}
const ENTRY: LedgerEntry = { ...CALL, kind: 'intent' }

const at = (entry: LedgerEntry) => JSON.parse(encode(entry, 7)) as unknown[]

test('a call has each field where the page says, and no further one', () => {
  const fields = at(ENTRY)
  const positions = readPositions('intent, refusal')
  expect([...positions.keys()]).toEqual(Array.from({ length: 22 }, (_, n) => n + 4))
  expect(fields).toHaveLength(26)
  const call = CALL
  const expected: Record<string, unknown> = {
    call: call.callId,
    caller: call.principal.id,
    'kind of the caller': call.principal.kind,
    'agent or null': call.agent,
    session: call.session,
    server: call.server,
    method: call.method,
    name: call.name,
    'category or null': call.category,
    policy: call.policy,
    action: call.decision.action,
    code: call.decision.code,
    rule: call.decision.rule,
    reason: call.decision.reason,
    'digest of the arguments or null': call.argsDigest,
    'whether the category is a guess': true,
    'call of `run_code` or null': call.parent,
    approval: call.approval,
  }
  for (const [position, what] of positions)
    if (what in expected) expect(fields[position], what).toEqual(expected[what])
  expect([...positions.values()].filter((what) => what in expected)).toHaveLength(
    Object.keys(expected).length,
  )
})

test('an outcome and an event, too', () => {
  const changes = [{ change: 'cut', kind: 'text', count: 1 }] as const
  const outcome = outcomeEntry(3, { atMs: 9, status: 'answered', changes: [...changes] })
  expect([...readPositions('outcome').keys()]).toEqual(Array.from({ length: 10 }, (_, n) => n + 4))
  expect(at(outcome)).toHaveLength(14)
  expect(at(outcome).slice(0, 6)).toEqual([1, 7, 3, 9, 3, 'answered'])
  const event: LedgerEntry = { kind: 'event', atMs: 9, name: 'freeze', detail: { a: 1 } }
  expect(at(event)).toEqual([1, 7, 4, 9, 'freeze', { a: 1 }])
})
