// Decisions for the tests of the ledger, and for the processes those tests start and kill: does not
// depend on the test runner.

import type { LimitCharge } from '@sluice/policy/calls/counters'
import type { DecisionEntry, RecordedDecision } from './records/record.ts'

export const take: LimitCharge = {
  key: '/categories/Write/rate_limit|9:session-1',
  kind: 'rate',
  windowMs: 60_000,
  max: { units: 30n, scale: 0 },
  amount: { units: 1n, scale: 0 },
}

export const allowed: RecordedDecision = {
  action: 'allow',
  code: 'ALLOWED',
  rule: '/tools/stripe~1create_refund',
  reason: '',
  guardrails: [],
  limits: [take],
  shadow: [],
}

export const denied: RecordedDecision = {
  ...allowed,
  action: 'deny',
  code: 'DENIED',
  reason: 'agents are ended by the person who owns them',
  limits: [],
}

export function decisionEntry(
  number: number,
  overrides: Partial<DecisionEntry> = {},
): DecisionEntry {
  return {
    atMs: 1_800_000_000_000 + number,
    callId: `call-${number}`,
    principal: { id: 'ann', kind: 'grant' },
    agent: null,
    session: 'session-1',
    server: 'stripe',
    method: 'tools/call',
    name: 'create_refund',
    category: 'Financial',
    policy: 'default',
    decision: allowed,
    judged: { 'args.amount': 100 },
    argsDigest: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
    ...overrides,
  }
}
