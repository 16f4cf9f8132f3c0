// A policy fitted to calls on record: it keeps them, bounds what was recorded, says what was not, and
// is measured on days that were left out. What stops a bad call comes with everything it would hit.

import type { DecisionRecord, LedgerRecord } from '@sluice/ledger/records/record'
import type { DecisionInputs } from '@sluice/policy/calls/decision-inputs'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { describe, expect, test } from 'vitest'
import { fitPolicy, validateByDay } from './fit-policy.ts'
import { evaluateTraffic, type TrafficCall } from './past-traffic.ts'
import { RecordedCalls } from './recorded-calls.ts'
import { suggestStops } from './stop-call.ts'

const DAY_MS = 86_400_000
const number = { type: 'number' }
const TOOLS: KnownTool[] = [
  {
    definition: {
      server: 'shop',
      name: 'refund',
      inputSchema: {
        type: 'object',
        properties: { amount: number, currency: { type: 'string' }, note: { type: 'string' } },
      },
    },
    category: 'Financial',
    risk: 'high',
  },
  {
    definition: { server: 'shop', name: 'get', inputSchema: { type: 'object' } },
    category: 'Read',
    risk: 'low',
  },
]

interface GivenRule {
  readonly tool?: string
  readonly day?: number
  readonly secondMs?: number
  readonly session?: string
  readonly judged?: DecisionInputs
  readonly code?: string
  readonly method?: string
  readonly principal?: string
  readonly labels?: readonly string[]
}

/** Calls as the ledger would have them; `labels` is what the answer brought. */
function traffic(list: readonly GivenRule[]): TrafficCall[] {
  const past = new RecordedCalls(TOOLS, undefined)
  let seq = 0
  return list.map((given) => {
    const tool = TOOLS.find(({ definition }) => definition.name === (given.tool ?? 'refund'))
    const code = given.code ?? 'ALLOWED'
    const isTool = given.method === undefined
    const record = {
      kind: code === 'DENIED' ? 'refusal' : 'intent',
      seq: ++seq,
      atMs: (given.day ?? 0) * DAY_MS + (given.secondMs ?? seq * 1_000),
      callId: String(seq),
      principal: { id: given.principal ?? 'local', kind: 'local' },
      agent: null,
      session: given.session ?? 's@1',
      server: 'shop',
      method: given.method ?? 'tools/call',
      name: isTool ? (tool?.definition.name ?? '') : 'x',
      category: isTool ? (tool?.category ?? null) : null,
      policy: 'local abc',
      decision: {
        action: code === 'DENIED' ? 'deny' : 'allow',
        code,
        rule: '/x',
        reason: '',
        guardrails: [],
        limits: [],
        shadow: [],
      },
      judged: given.judged ?? {},
      argsDigest: null,
    } as DecisionRecord
    const call = { record, past: past.recall(record), passed: record.kind === 'intent' }
    past.follow(record as LedgerRecord)
    if (given.labels !== undefined) {
      const outcome = { kind: 'outcome', intent: seq, status: 'answered', labels: given.labels }
      past.follow({ ...outcome, seq: ++seq, atMs: 0 } as never)
    }
    return call
  })
}

const refund = (amount: number, more: GivenRule = {}): GivenRule => ({
  judged: { 'args.amount': amount, 'args.currency': 'EUR', undeclared: false },
  ...more,
})

describe('a fitted policy', () => {
  test('bounds what was recorded, by tool, and keeps every call', () => {
    const calls = traffic([
      refund(5),
      refund(40.5),
      refund(12),
      { tool: 'get' },
      { tool: 'get', secondMs: 90_000 },
      { method: 'resources/read' },
    ])
    const { yaml, policy, unbounded } = fitPolicy(calls, 0)
    expect(yaml).toContain(
      '"shop/refund": { action: allow, when: "args.amount >= 0 && args.amount <= 40.5 && args.currency == \\"EUR\\"", otherwise: require_approval, rate_limit: { max: 3, window: 60 } }',
    )
    expect(yaml).toContain('"shop/get": { action: allow, rate_limit: { max: 1, window: 60 } }')
    expect(yaml).toContain('"resources/read": allow')
    expect(unbounded).toEqual([])
    expect(evaluateTraffic(policy, calls)).toEqual({ stopped: [], unknown: [] })
    const more = traffic([refund(41), { tool: 'get', code: 'DENIED' }])
    expect(evaluateTraffic(policy, more).stopped.map(({ seq }) => seq)).toEqual([1])
  })

  test('a margin leaves room; what a person approved still asks one', () => {
    const { yaml } = fitPolicy(traffic([refund(10), refund(20, { code: 'APPROVED' })]), 0.5)
    expect(yaml).toContain('args.amount <= 15')
    expect(yaml).toContain('rate_limit: { max: 3, window: 60 }')
    const asked = traffic([refund(10, { code: 'APPROVED' })])
    expect(fitPolicy(asked, 0).yaml).toContain('"shop/refund": require_approval')
  })

  test('says which arguments the ledger does not hold', () => {
    const withheld = { 'args.amount': 1, 'args.note': { is: 'withheld' } } as DecisionInputs
    const calls = traffic([{ judged: withheld }, { judged: { 'args.note': 'x' } }])
    const { yaml, unbounded } = fitPolicy(calls, 0)
    expect(yaml).toContain('"shop/refund": { action: allow, rate_limit')
    expect(unbounded).toEqual([
      { tool: 'shop/refund', why: '`args.amount` is recorded only since a rule reads it' },
      { tool: 'shop/refund', why: expect.stringContaining('the text of `args.note`') },
    ])
    const free = traffic(['a', 'b', 'c'].map((note) => ({ judged: { 'args.note': note } })))
    expect(fitPolicy(free, 0).unbounded).toMatchObject([{ why: expect.stringContaining('many') }])
  })

  test('an argument that is sometimes missing, negative, or undeclared', () => {
    const missing = { is: 'missing' } as const
    const calls = traffic([
      { judged: { 'args.amount': -3, 'args.note': missing, undeclared: true } },
      { judged: { 'args.amount': missing, 'args.note': missing, undeclared: false } },
    ])
    const { yaml, policy } = fitPolicy(calls, 0)
    expect(yaml).toContain('when: "(!has(args.amount) || args.amount <= -3) && !has(args.note)"')
    expect(yaml).toContain('extra_args: allow')
    expect(evaluateTraffic(policy, calls)).toEqual({ stopped: [], unknown: [] })
  })

  test('days that were left out measure it', () => {
    expect(validateByDay(traffic([refund(1), refund(2)]), 0)).toBeUndefined()
    const calls = traffic([
      ...[0, 1, 2, 3].map((day) => refund(10, { day, secondMs: 0 })),
      refund(99, { day: 4, secondMs: 0 }),
    ])
    expect(validateByDay(calls, 0)).toEqual({ days: 5, folds: 5, calls: 5, stopped: 1, unknown: 0 })
    expect(validateByDay(calls, 9)).toMatchObject({ stopped: 0 })
  })
})

describe('against a bad call', () => {
  const best = (calls: readonly TrafficCall[], ...seqs: number[]) =>
    suggestStops(
      calls.filter(({ record }) => seqs.includes(record.seq)),
      calls,
    )

  test('a number beyond all others stops it and what is beyond too', () => {
    const calls = traffic([refund(5), refund(80), refund(900)])
    const [first, ...others] = best(calls, 3)
    expect(first).toMatchObject({ when: 'args.amount > 80', hits: [], unknown: 0 })
    expect(first?.guardrail).toContain('match: { tools: ["shop/refund"] }')
    expect(others.at(-1)).toMatchObject({ hits: [1, 2] })
  })

  test('a label of its session, if the numbers do not tell it apart', () => {
    const calls = traffic([
      refund(5, { session: 'a@1' }),
      { tool: 'get', session: 'b@1', labels: ['untrusted'] },
      refund(5, { session: 'b@1' }),
    ])
    expect(best(calls, 4)[0]).toMatchObject({ when: 'session.saw.untrusted', hits: [] })
  })

  test('two conditions, if one alone hits legitimate calls; every hit is listed', () => {
    const calls = traffic([
      refund(50, { principal: 'ann' }),
      refund(5, { principal: 'bob' }),
      refund(50, { principal: 'bob' }),
      refund(60, { principal: 'ann' }),
      refund(40, { principal: 'ann' }),
    ])
    const found = best(calls, 3)
    expect(found[0]).toMatchObject({ hits: [], unknown: 0 })
    expect(found[0]?.when).toContain(' && principal.id == "bob"')
    expect(found.find(({ when }) => when === undefined)?.hits).toEqual([1, 2, 4, 5])
    expect(best(calls, 2, 3)[0]).toMatchObject({ when: 'principal.id == "bob"', hits: [] })
  })

  test('a call that was denied may be asked about, and nothing recorded leaves the tool', () => {
    const calls = traffic([{ tool: 'get' }, { tool: 'get', code: 'DENIED' }])
    const [first] = best(calls, 2)
    expect(first).toMatchObject({ hits: [1] })
  })
})
