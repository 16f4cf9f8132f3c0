// A fitted policy keeps what the document in force asks for: conditions, limits, guardrails, labels, `protect`.

import type { DecisionRecord } from '@sluice/ledger/records/record'
import { ACTIONS } from '@sluice/policy/calls/actions'
import type { Decision } from '@sluice/policy/calls/decision'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { decide } from '@sluice/policy/decide/decide'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { compareDecimal } from '@sluice/policy/values/decimal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  asked,
  compiled,
  TOOLS as DOCUMENT_TOOLS,
  document,
  usage,
} from '../../../../test/support/arbitrary-policies.ts'
import { rounds, runs } from '../../../../test/support/runs.ts'
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
const NOW = { wallMs: 1_770_000_000_000, monotonicMs: 5 }
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
categories: { Read: allow, Destructive: require_approval, Execute: { action: require_approval, reason: ask } }
guardrails:
  - { name: quiet hours, when: now.getHours() < 6, action: deny }
`

function call(
  name: string,
  judged: object,
  decision: object = {},
  tools: readonly KnownTool[] = TOOLS,
): TrafficCall {
  const known = tools.find(({ definition }) => definition.name === name)
  const record = {
    kind: 'intent',
    seq: 1,
    atMs: 40_000_000,
    callId: '1',
    principal: { id: 'local', kind: 'local' },
    agent: null,
    session: 's@1',
    server: known?.definition.server ?? 'a',
    method: known === undefined ? 'resources/read' : 'tools/call',
    name,
    category: known?.category ?? null,
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
  return { record, past: new RecordedCalls(tools, undefined).recall(record), passed: true }
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
  const { yaml, removed, stays } = fitPolicy(calls, 0, kept)
  expect(yaml).toContain('# ours\nversion: 1\ndefault: deny\nprotect: balanced\nlabels:')
  expect(yaml).toContain('name: quiet hours')
  expect(yaml).toContain(
    '"shop/refund": { action: allow, when: "(args.amount <= 50) && args.amount >= 0 && args.amount <= 30", otherwise: deny, rate_limit: { max: 2, window: 60 }, spend_limit: { amount: "args.amount", max: 500, window: "1d" }, reason: "small ones" }',
  )
  expect(yaml).toContain(
    '"shop/get": { action: allow, when: "call.category == \\"Read\\"", otherwise: require_approval, rate_limit: { max: 1, window: 60 } }',
  )
  // A category bears on methods, too.
  expect(yaml).toContain('sampling/createMessage:\n    action: require_approval\n    reason: ask')
  expect(yaml).toContain('"shop/drop": {"action":"require_approval"}')
  expect(removed).toEqual(['/tools/shop~1never', '/categories/Execute'])
  expect(stays).toEqual([])
})

const fitTo = (document: object, calls: readonly TrafficCall[]) => {
  const text = JSON.stringify({ version: 1, default: 'deny', ...document })
  return fitPolicy(calls, 0, keepDocument(compiled(JSON.parse(text)), text))
}

test('finding: the limit of a category does not become one for each tool', () => {
  const Read = { action: 'allow', rate_limit: { max: 9, window: 60 } }
  const document = { categories: { Read }, tools: { 'shop/refund': 'allow', 'other/*': 'hide' } }
  const calls = [call('get', {}), call('refund', { 'args.amount': 20 })]
  const { yaml, removed, stays } = fitTo(document, calls)
  expect(yaml).toContain('"Read": {"action":"allow","rate_limit":{"max":9,"window":60}}')
  expect(yaml).toContain('"other/*": hide')
  expect(yaml).toContain('"shop/refund": { action: allow, when: "args.amount >= 0')
  expect(yaml).not.toContain('shop/get')
  expect(stays).toEqual(['/categories/Read', 'shop/get'])
  expect(removed).toEqual([])
})

test('finding: of a rule that asks and one that denies neither is lost', () => {
  const tools = {
    'shop/*': { action: 'require_approval', when: 'args.amount > 5', otherwise: 'allow' },
    '*/refund': { action: 'allow', when: 'args.amount < 50', otherwise: 'deny' },
  }
  const calls = [call('refund', { 'args.amount': 20 }, { code: 'APPROVED' })]
  const { yaml, stays } = fitTo({ tools }, calls)
  expect(stays).toEqual(['shop/refund'])
  expect(yaml).not.toContain('"shop/refund"')
  // Beside a rule that allows all, the other stays as it is.
  const approval = { approvers: ['ops'] }
  const asking = { 'shop/*': 'allow', '*/refund': { action: 'require_approval', approval } }
  const one = fitTo({ tools: asking }, calls)
  expect(one.yaml).toContain(
    '"shop/refund": {"action":"require_approval","approval":{"approvers":["ops"]}}',
  )
  expect(one.stays).toEqual([])
})

test('finding: what the default decides now is not opened, nor what a resource of its own opened', () => {
  const calls = [call('get', {}), call('r://x', {})]
  const { yaml } = fitTo({ resources: { 'a/r://x': 'allow' } }, calls)
  expect(yaml).toContain('"shop/get": deny')
  expect(yaml).not.toContain('resources/read')
  expect(fitTo({ default: 'require_approval' }, calls).yaml).toContain(
    '"shop/get": require_approval',
  )
  expect(fitTo({ default: 'hide' }, calls).yaml).toContain('"default": "hide"')
  expect(fitTo({ default: 'allow' }, calls).yaml).toContain('resources/read: allow')
  // A tool that is not known any more.
  expect(fitTo({ default: 'allow' }, [call('get', {}, {}, DOCUMENT_TOOLS)]).yaml).not.toContain(
    'get',
  )
})

test('finding: arguments that no tool declares are let in only where they were', () => {
  const seen = [call('refund', { 'args.amount': 20, undeclared: true })]
  const rule = { action: 'allow', when: 'args.amount < 50' }
  expect(fitTo({ tools: { 'shop/refund': rule } }, seen).yaml).not.toContain('extra_args')
  const open = { ...rule, extra_args: 'allow' }
  expect(fitTo({ tools: { 'shop/refund': open } }, seen).yaml).toContain('extra_args: allow')
})

test('finding: a pipeline that writes meets the rule of its class', () => {
  const inputSchema = { type: 'object', properties: { pipeline: { type: 'array' } } }
  const definition = { server: 'db', name: 'aggregate', description: 'Aggregate', inputSchema }
  const tools: KnownTool[] = [{ definition: definition as never, category: 'Read', risk: 'low' }]
  const calls = [call('aggregate', {}, {}, tools)]
  const strict = fitTo({ categories: { Read: 'allow', Write: 'deny' } }, calls)
  expect(strict.stays).toEqual(['db/aggregate'])
  expect(strict.yaml).toContain('"Write": deny')
  const asked = { Read: 'allow', Write: 'allow', Execute: 'allow' }
  const free = fitTo({ default: 'allow', categories: asked }, calls)
  expect(free.yaml).toContain('"db/aggregate": { action: allow, when:')
})

const strength = ({ action }: Decision) => ACTIONS.indexOf(action)

/** Calls that passed, of the tools of random documents. */
const passed: fc.Arbitrary<TrafficCall> = fc
  .tuple(
    fc.constantFrom('get_x', 'set_x', 'del_y', 'r://x'),
    fc.record({
      'args.n': fc.constantFrom(0, 3, 20),
      'args.s': fc.constantFrom('x', 'x', { is: 'missing' }),
      undeclared: fc.boolean(),
    }),
    fc.constantFrom('ALLOWED', 'ALLOWED', 'APPROVED'),
  )
  .map(([name, judged, code]) => call(name, judged, { code }, DOCUMENT_TOOLS))

test('finding: nothing is looser than the document in force, for any call and any history', () => {
  let opened = 0
  const calls = fc.array(passed, { minLength: 1, maxLength: 5 })
  const requests = fc.array(asked, { minLength: 6, maxLength: 6 })
  const property = fc.property(document, calls, requests, usage, (before, seen, asking, used) => {
    const old = compiled(before)
    const text = JSON.stringify(before)
    const { policy } = fitPolicy(seen, 0.5, keepDocument(old, text))
    for (const request of asking) {
      const [was, is] = [old, policy].map((one) =>
        decide(one, request.call, request.facts, used, NOW),
      ) as [Decision, Decision]
      expect(strength(is)).toBeGreaterThanOrEqual(strength(was))
      if (is.action !== was.action || is.action === 'deny' || is.action === 'hide') continue
      opened++
      for (const take of was.limits) {
        const same = is.limits.find(({ key }) => key === take.key)
        expect(same && compareDecimal(same.max, take.max)).toBeLessThanOrEqual(0)
      }
      expect(is.approvals.length).toBeGreaterThanOrEqual(was.approvals.length)
    }
  })
  fc.assert(property, runs(120))
  // Otherwise nothing was tested.
  expect(opened).toBeGreaterThan(rounds(12))
})

test('only what was allowed, or a person approved, is learnt in observe mode', () => {
  const calls = [call('get', {}, observed('allow')), call('refund', {}, observed('deny'))]
  const { yaml } = fitPolicy(calls, 0)
  expect(yaml).toContain('shop/get')
  expect(yaml).not.toContain('shop/refund')
})
