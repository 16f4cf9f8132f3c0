// A fitted policy keeps what the document in force asks for: conditions, limits, guardrails, labels, `protect`.

import type { DecisionRecord } from '@sluice/ledger/records/record'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { expect, test } from 'vitest'
import { fitPolicy } from './fit-policy.ts'
import { keepDocument } from './keep-rules.ts'
import type { TrafficCall } from './past-traffic.ts'
import { RecordedCalls } from './recorded-calls.ts'

const tool = (name: string, category: KnownTool['category']): KnownTool => ({
  definition: {
    server: 'shop',
    name,
    inputSchema: {
      type: 'object',
      properties: { amount: { type: 'number' }, to: { type: 'string' } },
    },
  },
  category,
  risk: 'high',
})
const TOOLS = [tool('refund', 'Financial'), tool('get', 'Read'), tool('drop', 'Destructive')]
const TEXT = `# ours
version: 1
default: allow
protect: balanced
labels: { shop/get: [private] }
tools:
  shop/refund:
    action: allow
    when: args.amount <= 50
    otherwise: deny
    reason: small ones
    spend_limit: { amount: args.amount, max: 500, window: 1d }
  shop/never: allow
categories: { Read: { action: allow, rate_limit: { max: 9, window: 60 } }, Destructive: require_approval }
guardrails:
  - { name: quiet hours, when: now.getHours() < 6, action: deny }
`

function call(name: string, judged: object, decision: object = {}): TrafficCall {
  const known = TOOLS.find(({ definition }) => definition.name === name)
  const record = {
    kind: 'intent',
    seq: 1,
    atMs: 40_000_000,
    callId: '1',
    principal: { id: 'local', kind: 'local' },
    agent: null,
    session: 's@1',
    server: 'shop',
    method: 'tools/call',
    name,
    category: known?.category,
    policy: 'local abc',
    decision: {
      action: 'allow',
      code: 'ALLOWED',
      rule: '/x',
      reason: '',
      guardrails: [],
      limits: [],
      shadow: [],
      ...decision,
    },
    judged: { undeclared: false, ...judged },
    argsDigest: null,
  } as unknown as DecisionRecord
  return { record, past: new RecordedCalls(TOOLS, undefined).recall(record), passed: true }
}

const observed = (action: string) => ({
  rule: '/mode',
  shadow: [{ rule: '/x', action, code: 'X', reason: '', limits: [] }],
})

test('conditions, limits, reasons and every other section stay, and what is gone is listed', () => {
  const { policy } = compile({ file: 'p', text: TEXT })
  const kept = keepDocument(policy as CompiledPolicy, TEXT)
  const calls = [
    call('refund', { 'args.amount': 20 }),
    call('refund', { 'args.amount': 30 }),
    call('get', {}),
    call('drop', {}, { code: 'APPROVED' }),
    // What the policy would have refused in observe mode is no example.
    call('refund', { 'args.amount': 4_000 }, observed('deny')),
    call('drop', {}, observed('require_approval')),
  ]
  const { yaml, removed } = fitPolicy(calls, 0, kept)
  expect(yaml).toContain('# ours\nversion: 1\ndefault: deny\nprotect: balanced\nlabels:')
  expect(yaml).toContain('name: quiet hours')
  expect(yaml).toContain(
    '"shop/refund": { action: allow, when: "(args.amount <= 50) && args.amount >= 0 && args.amount <= 30", otherwise: deny, rate_limit: { max: 2, window: 60 }, spend_limit: { amount: "args.amount", max: 500, window: "1d" }, reason: "small ones" }',
  )
  expect(yaml).toContain(
    '"shop/get": { action: allow, when: "call.category == \\"Read\\"", otherwise: require_approval, rate_limit: { max: 9, window: 60 } }',
  )
  expect(yaml).toContain('"shop/drop": {"action":"require_approval"}')
  expect(removed).toEqual(['/tools/shop~1never'])
})

test('only what was allowed, or a person approved, is learnt in observe mode', () => {
  const calls = [call('get', {}, observed('allow')), call('refund', {}, observed('deny'))]
  const { yaml } = fitPolicy(calls, 0)
  expect(yaml).toContain('shop/get')
  expect(yaml).not.toContain('shop/refund')
})
