// Conditions and limits over what the session has read: `last`, and the brakes beside it: a price for each
// call, `session.repeats`, `session.tokens`.

import { describe, expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { KnownTool } from '../calls/tools.ts'
import { sampleFacts } from '../cases/sample-facts.ts'
import { compile } from '../compile/compile.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { findReads } from '../model/policy-reads.ts'
import { SessionValues } from '../provenance/session-values.ts'
import { ExactNumber, type JsonObject, type JsonValue } from '../values/json.ts'
import { decide, isVisible } from './decide.ts'

const REFUND: KnownTool = {
  definition: {
    server: 'shop',
    name: 'refund',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        order: { type: 'string' },
        amount: { type: 'number' },
        cents: { type: 'integer' },
        to: { type: 'string' },
      },
    },
  },
  category: 'Financial',
  risk: 'high',
}
const NOW = { wallMs: 0, monotonicMs: 600_000 }

type Read = [tool: string, args: JsonObject, document: JsonValue | undefined]

function policyOf(rule: object): CompiledPolicy {
  return compiled({ version: 1, default: 'deny', tools: { 'shop/refund': rule } })
}

function remember(policy: CompiledPolicy, reads: readonly Read[], isIncomplete = false) {
  const values = new SessionValues(isIncomplete)
  for (const [tool, args, document] of reads)
    values.remember(findReads(policy).values.get(tool) ?? [], args, document, 0)
  return values
}

function ask(when: string, args: JsonObject, reads: Read[], isIncomplete = false) {
  const policy = policyOf({ action: 'allow', when, otherwise: 'deny' })
  const call = { server: 'shop', name: 'refund', method: 'tools/call', args }
  const session = { values: remember(policy, reads, isIncomplete) }
  return decide(policy, call, sampleFacts(REFUND, { session }), new MemoryCounters(), NOW)
}

const order = (id: string, total: JsonValue, email = 'ann@example.com'): Read => [
  'shop/get_order',
  { order_id: id },
  { id, total, customer: { email } },
]
const ORDER = 'last("shop/get_order", "order_id", args.order)'
const TOTAL = `args.amount <= ${ORDER}.total`

test.each<[string, string, JsonObject, Read[], string]>([
  ['less', TOTAL, { order: 'A', amount: 20 }, [order('A', 50)], 'allow'],
  ['equal', TOTAL, { order: 'A', amount: 12.1 }, [order('A', 12.1)], 'allow'],
  ['more', TOTAL, { order: 'A', amount: 51 }, [order('A', 50)], 'deny'],
  ['another order', TOTAL, { order: 'A', amount: 90 }, [order('A', 50), order('B', 100)], 'deny'],
  ['the newest', TOTAL, { order: 'A', amount: 40 }, [order('A', 50), order('A', 30)], 'deny'],
  [
    'arithmetic',
    `args.cents <= ${ORDER}.total * 100`,
    { order: 'A', cents: 4999 },
    [order('A', 50)],
    'allow',
  ],
  [
    'its customer',
    `args.to == ${ORDER}.customer.email`,
    { order: 'A', to: 'ann@example.com' },
    [order('A', 50)],
    'allow',
  ],
  [
    'another address',
    `args.to == ${ORDER}.customer.email`,
    { order: 'A', to: 'eve@example.com' },
    [order('A', 50)],
    'deny',
  ],
  [
    'without arguments',
    'args.to == last("shop/me").email',
    { to: 'a@b.example' },
    [['shop/me', {}, { email: 'a@b.example' }]],
    'allow',
  ],
  [
    'a quoted field',
    'args.to == last("shop/me")["e-mail"]',
    { to: 'a@b.example' },
    [['shop/me', {}, { 'e-mail': 'a@b.example' }]],
    'allow',
  ],
  [
    'literals, in any order',
    'args.amount < last("shop/limits", "v", 2, "kind", "refund").max',
    { amount: 5 },
    [['shop/limits', { kind: 'refund', v: 2.0 }, { max: 10 }]],
    'allow',
  ],
  ['not needed', `args.amount < 1 || ${TOTAL}`, { order: 'B', amount: 0.5 }, [], 'allow'],
  [
    'two fields',
    `${TOTAL} && ${ORDER}.id == args.order`,
    { order: 'A', amount: 5 },
    [order('A', 50)],
    'allow',
  ],
])('%s', (_, when, args, reads, action) => {
  expect(ask(when, args, reads).action).toBe(action)
})

const CALL = '`shop/get_order` with order_id `args.order` and nothing else'
const CALL_FIRST = `this session has not called ${CALL}: call it first`
const CALL_AGAIN = `\`total\` of the last answer of ${CALL} is not known: call it again`

test.each<[string, JsonObject, Read[], boolean, string]>([
  ['never read', { order: 'A', amount: 1 }, [], false, CALL_FIRST],
  ['forgotten', { order: 'A', amount: 1 }, [], true, CALL_AGAIN],
  [
    'an error came last',
    { order: 'A', amount: 1 },
    [order('A', 50), ['shop/get_order', { order_id: 'A' }, undefined]],
    false,
    CALL_AGAIN,
  ],
  [
    'no such field',
    { order: 'A', amount: 1 },
    [['shop/get_order', { order_id: 'A' }, { sum: 3 }]],
    false,
    CALL_AGAIN,
  ],
  ['a list', { order: 'A', amount: 1 }, [order('A', [1, 2])], false, CALL_AGAIN],
  ['a text', { order: 'A', amount: 1 }, [order('A', '50')], false, 'no such overload'],
  ['redacted', { order: 'A', amount: 1 }, [order('A', null)], false, 'no such overload'],
  [
    'a number that rounds',
    { order: 'A', amount: 1 },
    [order('A', new ExactNumber('9007199254740993'))],
    false,
    'no double represents',
  ],
  [
    'an id of another type',
    { order: '5', amount: 1 },
    [['shop/get_order', { order_id: 5 }, { total: 9 }]],
    false,
    'call it first',
  ],
  [
    'an inherited name',
    { order: 'A', amount: 1 },
    [['shop/get_order', { order_id: 'A' }, JSON.parse('{"__proto__":{"total":99}}')]],
    false,
    CALL_AGAIN,
  ],
  [
    'a further argument',
    { order: 'A', amount: 1 },
    [['shop/get_order', { order_id: 'A', currency: 'JPY' }, { total: 9_000 }]],
    false,
    CALL_FIRST,
  ],
])('undecidable, so not allowed, and why: %s', (_, args, reads, isIncomplete, why) => {
  const decision = ask(TOTAL, args, reads, isIncomplete)
  expect(decision.action).toBe('deny')
  expect(decision.reason).toContain(why)
})

test.each([
  ['last("shop/*").a == 1', 'takes one tool here'],
  ['last(args.x).total > 1', 'takes one tool here'],
  ['last() == 1', 'is read as a whole'],
  ['last("shop/get_order", "a", args.a) == 1', 'is read as a whole'],
  ['has(last("shop/get_order").total)', '`has` takes one name'],
  ['last("shop/get_order", args.a).total > 1', 'takes names of arguments'],
  ['last("shop/get_order", args.a, 1).total > 1', 'takes names of arguments'],
  ['last("shop/get_order", "a", principal.id).total > 1', 'takes names of arguments'],
  ['last("shop/get_order", "a", null).total > 1', 'takes names of arguments'],
  ['last("shop/get_order", "a", 1, "a", 2).total > 1', 'takes names of arguments'],
])('%s is an error', (when, message) => {
  const text = JSON.stringify({
    version: 1,
    default: 'allow',
    guardrails: [{ name: 'g', when, action: 'deny' }],
  })
  expect(compile({ file: 'p', text }).problems[0]?.message).toContain(message)
})

test('a list of tools shows the tool before anything was read', () => {
  const policy = policyOf({ action: 'allow', when: TOTAL, otherwise: 'deny' })
  const call = { server: 'shop', name: 'refund', method: 'tools/call' }
  expect(isVisible(policy, call, sampleFacts(REFUND), NOW)).toBe(true)
})

test('the oldest answer is forgotten, and an hour is the end of all', () => {
  const many = Array.from({ length: 300 }, (_, at) => order(`O${at}`, at))
  expect(ask(TOTAL, { order: 'O0', amount: 0 }, many).reason).toContain('call it again')
  expect(ask(TOTAL, { order: 'O299', amount: 9 }, many).action).toBe('allow')
  const policy = policyOf({ action: 'allow', when: TOTAL, otherwise: 'deny' })
  const values = remember(policy, [order('A', 5)])
  const call = {
    server: 'shop',
    name: 'refund',
    method: 'tools/call',
    args: { order: 'A', amount: 1 },
  }
  const at = (wallMs: number) =>
    decide(policy, call, sampleFacts(REFUND, { session: { values } }), new MemoryCounters(), {
      wallMs,
      monotonicMs: 0,
    }).action
  expect([at(-1), at(0), at(3_600_000), at(3_600_001)]).toEqual(['deny', 'allow', 'allow', 'deny'])
})

test('what is stored is what was remembered', () => {
  const policy = policyOf({ action: 'allow', when: TOTAL, otherwise: 'deny' })
  const values = remember(policy, [
    order('A', new ExactNumber('12.10')),
    ['shop/get_order', { order_id: 'B' }, undefined],
  ])
  const stored = JSON.parse(JSON.stringify(values.toStored()))
  expect(SessionValues.fromStored(stored).toStored()).toEqual(values.toStored())
})

describe('a limit whose maximum is a field of an answer', () => {
  const policy = policyOf({
    action: 'allow',
    spend_limit: {
      amount: 'args.amount',
      max: `${ORDER}.total`,
      window: '366d',
      per: 'args.order',
    },
  })

  test('all refunds of an order together are no larger than the order', () => {
    let values = remember(policy, [order('A', 50)])
    const counters = new MemoryCounters()
    const refund = (amount: number, id = 'A') => {
      const call = {
        server: 'shop',
        name: 'refund',
        method: 'tools/call',
        args: { order: id, amount },
      }
      const decision = decide(
        policy,
        call,
        sampleFacts(REFUND, { session: { values } }),
        counters,
        NOW,
      )
      if (decision.action === 'allow') counters.consume(decision.limits, NOW)
      return `${decision.code} ${decision.reason}`
    }
    expect(refund(20)).toBe('ALLOWED ')
    expect(refund(40)).toBe(
      'SPEND_LIMITED the limit of 50, by last("shop/get_order", "order_id", args.order).total of args.amount in 366d per args.order, is reached, 30 left',
    )
    expect(refund(30)).toBe('ALLOWED ')
    expect(refund(0.01)).toMatch(/^SPEND_LIMITED/)
    expect(refund(1, 'B')).toContain('with order_id `args.order` and nothing else: call it first')
    values = remember(policy, [order('A', '70.5')])
    expect(refund(20.5)).toBe('ALLOWED ')
    for (const total of [-1, 'many', true, null]) {
      values = remember(policy, [order('A', total)])
      expect(refund(0)).toContain('which is the maximum, is not a plain decimal')
    }
  })

  test.each(['args.x', 'last("a/b")', 'last("a/b").c + 1', 'ten'])('%s is none', (max) => {
    const spend_limit = { amount: 'args.amount', max, window: '1d' }
    const tools = { 'shop/refund': { action: 'allow', spend_limit } }
    const text = JSON.stringify({ version: 1, default: 'deny', tools })
    expect(compile({ file: 'p', text }).problems).toHaveLength(1)
  })
})

describe('a price for each call', () => {
  const priced = (amount: string) =>
    compile({
      file: 'p',
      text: `version: 1\ndefault: deny\ntools:\n  shop/refund: { action: allow, spend_limit: { amount: ${amount}, max: 10, window: 1d } }\n`,
    })

  test.each([
    ['0.04', 250],
    ['"0.04"', 250],
    ['4', 2],
  ])('%s', (amount, calls) => {
    const { policy, problems } = priced(amount)
    expect(problems).toEqual([])
    const counters = new MemoryCounters()
    const call = { server: 'shop', name: 'refund', method: 'tools/call', args: {} }
    let passed = 0
    for (; passed < 300; passed++) {
      const decision = decide(policy as CompiledPolicy, call, sampleFacts(REFUND), counters, NOW)
      if (decision.action !== 'allow') break
      counters.consume(decision.limits, NOW)
    }
    expect(passed).toBe(calls)
  })

  test.each(['0', '-1', '"0"', '"2 * 3"', '.inf', '1e3', 'true'])('%s is none', (amount) => {
    const [problem, ...others] = priced(amount).problems
    expect(others).toEqual([])
    expect(problem?.message).toMatch(/is not an amount|amount/)
  })
})

test('a rule reads how often a call came in a row, and how much was read', () => {
  const policy = policyOf({
    action: 'allow',
    when: 'session.repeats < 3 && session.tokens < 1000',
    otherwise: 'deny',
  })
  const call = { server: 'shop', name: 'refund', method: 'tools/call', args: {} }
  const at = (repeats: number, tokens: number) =>
    decide(
      policy,
      call,
      sampleFacts(REFUND, { session: { repeats, tokens } }),
      new MemoryCounters(),
      NOW,
    ).action
  expect([at(2, 10), at(3, 10), at(0, 1_000)]).toEqual(['allow', 'deny', 'deny'])
})

test.each(['session.repeats < 3', 'session.tokens < 1000'])(
  '%s cannot be decided where the session does not count, so it is not allowed',
  (when) => {
    const policy = policyOf({ action: 'allow', when, otherwise: 'deny' })
    const call = { server: 'shop', name: 'refund', method: 'tools/call', args: {} }
    const facts = sampleFacts(REFUND)
    const session = { ...facts.session, repeats: undefined, tokens: undefined }
    const { action, reason } = decide(
      policy,
      call,
      { ...facts, session },
      new MemoryCounters(),
      NOW,
    )
    expect(action).toBe('deny')
    expect(reason).toContain('its condition cannot be decided')
  },
)

test('which call would settle it stands beside the reason of the rule', () => {
  const policy = policyOf({ action: 'allow', when: TOTAL, otherwise: 'deny', reason: 'too much' })
  const args = { order: 'A', amount: 1 }
  const call = { server: 'shop', name: 'refund', method: 'tools/call', args }
  const facts = sampleFacts(REFUND, { session: { values: remember(policy, []) } })
  const { reason } = decide(policy, call, facts, new MemoryCounters(), NOW)
  expect(reason).toMatch(/^too much; this session has not called .*: call it first$/)
})
