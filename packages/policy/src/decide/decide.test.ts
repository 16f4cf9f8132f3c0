// Decisions that cases as data (test/cases/policies) cannot express: shadow decisions, approvals,
// the base policy, the trace, methods outside the rules, and arguments that YAML cannot represent.

import { describe, expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { LimitUsage } from '../calls/counters.ts'
import type { KnownTool } from '../calls/tools.ts'
import { type SampleFacts, sampleFacts } from '../cases/sample-facts.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import type { JsonObject } from '../values/json.ts'
import { decide, isHidden, isVisible } from './decide.ts'
import type { TraceStep } from './trace.ts'

const NOW = { wallMs: 0, monotonicMs: 0 }
const TOOL: KnownTool = {
  definition: {
    server: 'a',
    name: 'put',
    inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  },
  category: 'Write',
  risk: 'medium',
}

interface Asking {
  readonly args?: JsonObject
  readonly facts?: SampleFacts
  readonly usage?: LimitUsage
  readonly method?: string
  readonly trace?: TraceStep[]
}

function ask(policy: CompiledPolicy, { args = {}, facts, usage, method, trace }: Asking = {}) {
  const call = { server: 'a', name: 'put', method: method ?? 'tools/call', args }
  const known = sampleFacts(method === undefined ? TOOL : undefined, facts)
  return decide(policy, call, known, usage ?? new MemoryCounters(), NOW, trace)
}

const withRule = (rule: object | string) =>
  compiled({ version: 1, default: 'deny', tools: { 'a/put': rule } })

test.each([
  ['hide', true],
  ['deny', false],
  ['allow', false],
])('a tool under `%s` is answered as if nobody had it: %s', (action, expected) => {
  const call = { server: 'a', name: 'put', method: 'tools/call' }
  expect(isHidden(withRule(action), call, sampleFacts(TOOL), NOW)).toBe(expected)
})

describe('outside the rules', () => {
  const open = compiled({ version: 1, default: 'allow' })
  const closed = compiled({
    version: 1,
    default: 'hide',
    guardrails: [{ name: 'g', action: 'deny' }],
  })

  test.each(['initialize', 'ping', 'tools/list', 'notifications/cancelled'])(
    'plumbing passes, whatever the document says: %s',
    (method) => {
      expect(ask(closed, { method })).toMatchObject({ action: 'allow', code: 'ALLOWED', rule: '' })
    },
  )

  test.each(['tools/Call', 'TOOLS/CALL', 'tasks/get', '', '__proto__', 'constructor'])(
    'a method nobody knows is denied: `%s`',
    (method) => {
      const decision = ask(open, { method })
      expect(decision).toMatchObject({ action: 'deny', code: 'DENIED' })
      expect(decision.reason).toContain('is not a method the gate knows')
    },
  )

  test('a tool that no server has is answered as if it were hidden', () => {
    const decision = ask(open, { method: 'tools/call' })
    expect(decision).toMatchObject({ action: 'hide', reason: 'no server has `a/put`' })
    const call = { server: 'a', name: 'put', method: 'tools/call' }
    expect(isVisible(open, call, sampleFacts(undefined), NOW)).toBe(false)
    expect(isVisible(open, { ...call, method: 'ping' }, sampleFacts(undefined), NOW)).toBe(true)
  })
})

describe('approvals', () => {
  test('every requirement is listed, each with its terms', () => {
    const approval = {
      timeout: '1m',
      wait: '5s',
      approvers: ['ops'],
      quorum: 2,
      channels: ['email'],
      separate_duties: true,
      edit_args: true,
    }
    const policy = compiled({
      version: 1,
      default: 'deny',
      tools: { 'a/put': { action: 'require_approval', reason: 'big', approval } },
      guardrails: [{ name: 'g', action: 'require_approval' }],
    })
    expect(ask(policy).approvals).toEqual([
      {
        rule: '/tools/a~1put',
        reason: 'big',
        timeoutMs: 60_000,
        waitMs: 5_000,
        approvers: ['ops'],
        quorum: 2,
        channels: ['email'],
        separateDuties: true,
        editArgs: true,
        says: expect.stringContaining('"big"'),
      },
      {
        rule: '/guardrails/0',
        reason: '',
        timeoutMs: 600_000,
        waitMs: 25_000,
        approvers: [],
        quorum: 1,
        channels: ['console', 'terminal', 'webhook', 'email'],
        separateDuties: false,
        editArgs: false,
        says: expect.stringContaining('"g"'),
      },
    ])
    expect(ask(withRule('allow')).approvals).toEqual([])
    const byDefault = ask(compiled({ version: 1, default: 'require_approval' })).approvals
    expect(byDefault).toMatchObject([{ rule: '/default', quorum: 1, waitMs: 25_000 }])
  })

  test('limits are peeked at and returned, to be consumed when the call is forwarded', () => {
    const policy = withRule({ action: 'require_approval', rate_limit: { max: 1, window: 60 } })
    const usage = new MemoryCounters()
    const { limits } = ask(policy, { usage })
    expect(limits).toHaveLength(1)
    usage.consume(limits, NOW)
    expect(ask(policy, { usage })).toMatchObject({
      action: 'deny',
      code: 'RATE_LIMITED',
      limits: [],
      retryAfterMs: 60_000,
    })
  })
})

describe('shadow', () => {
  const limit = { rate_limit: { max: 1, window: 60 } }

  test('each rule is evaluated alone, with its own counters', () => {
    const policy = compiled({
      version: 1,
      default: 'allow',
      categories: { Write: { action: 'require_approval', mode: 'shadow', reason: 'r' } },
      tools: {
        'a/*': { action: 'allow', mode: 'shadow', ...limit },
        'a/put': { action: 'deny', when: 'session.calls > 5', otherwise: 'hide', mode: 'shadow' },
      },
      guardrails: [
        { name: 'limits', mode: 'shadow', ...limit },
        { name: 'lies', mode: 'shadow', action: 'deny', when: 'principal.claims.x == 1' },
        { name: 'does not', mode: 'shadow', action: 'deny', when: 'session.calls > 5' },
      ],
    })
    const usage = new MemoryCounters()
    const { shadow, limits, guardrails, rule } = ask(policy, { usage })
    expect({ limits, guardrails, rule }).toEqual({ limits: [], guardrails: [], rule: '/default' })
    const plain = shadow.map(({ rule: by, action, code }) => [by, action, code])
    expect(plain).toEqual([
      ['/categories/Write', 'require_approval', 'APPROVAL_REQUIRED'],
      ['/tools/a~1*', 'allow', 'ALLOWED'],
      ['/tools/a~1put', 'hide', 'DENIED'],
      ['/guardrails/1', 'deny', 'DENIED'],
      ['/guardrails/0', 'allow', 'ALLOWED'],
    ])
    for (const verdict of shadow) usage.consume(verdict.limits, NOW)
    const codes = ask(policy, { usage }).shadow.map(({ code }) => code)
    expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(2)
  })

  test('a base policy in shadow only records its guardrails', () => {
    const house = (mode: object) =>
      compiled(
        { version: 1, default: 'deny', guardrails: [{ name: 'g', action: 'deny' }], ...mode },
        { name: 'house' },
      )
    const under = (mode: object) =>
      ask(compiled({ version: 1, default: 'allow' }, { base: house(mode) }))
    expect(under({})).toMatchObject({ action: 'deny', rule: 'house:/guardrails/0', shadow: [] })
    expect(under({ mode: 'shadow' })).toMatchObject({
      action: 'allow',
      shadow: [{ rule: 'house:/guardrails/0', action: 'deny' }],
    })
  })

  test('a list of a document in shadow shows what it would hide', () => {
    const policy = compiled({ version: 1, default: 'hide', mode: 'shadow' })
    expect(
      isVisible(policy, { server: 'a', name: 'put', method: 'tools/call' }, sampleFacts(TOOL), NOW),
    ).toBe(true)
  })
})

describe('the trace', () => {
  test('lists every step in order, and changes nothing', () => {
    const policy = compiled({
      version: 1,
      default: 'deny',
      categories: { Write: 'allow', Read: 'deny' },
      classify: { 'a/put': 'Write' },
      tools: {
        '*/*': 'deny',
        'a/*': {
          action: 'allow',
          when: 'session.calls < 9',
          over: ['Write'],
          rate_limit: { max: 2, window: 60 },
        },
        '*/put': { action: 'allow', when: 'args.n > 1', otherwise: 'require_approval' },
        'b/*': 'hide',
      },
      guardrails: [
        { name: 'never', action: 'deny', when: 'session.calls > 9' },
        { name: 'limits', rate_limit: { max: 5, window: 60 } },
        { name: 'tried', action: 'deny', mode: 'shadow' },
      ],
    })
    const trace: TraceStep[] = []
    const decision = ask(policy, { trace })
    expect(decision).toEqual(ask(policy))
    expect(trace).toMatchObject([
      { step: 'category', category: 'Write', by: 'document' },
      { step: 'aside', rule: '/tools/*~1*', why: '`a/*` is narrower and matches too' },
      { step: 'aside', rule: '/categories/Write', why: 'lifted by `over` of `a/*`' },
      {
        step: 'rule',
        rule: '/tools/*~1put',
        when: 'args.n > 1',
        result: 'undecidable',
        action: 'require_approval',
      },
      { step: 'rule', rule: '/tools/a~1*', result: 'true', action: 'allow' },
      { step: 'guardrail', name: 'limits', matched: true },
      { step: 'guardrail', name: 'never', matched: false, result: 'false', action: 'deny' },
      {
        step: 'limit',
        rule: '/tools/a~1*',
        limit: '2 in 60s per session',
        amount: '1',
        remaining: '2',
        passes: true,
      },
      { step: 'limit', rule: '/guardrails/1', passes: true },
      { step: 'shadow', rule: '/guardrails/2', action: 'deny' },
      {
        step: 'decision',
        action: 'require_approval',
        code: 'APPROVAL_REQUIRED',
        rule: '/tools/*~1put',
      },
    ])
  })

  test('of an exact name lists what it overrides; of a method, that it is one', () => {
    const trace: TraceStep[] = []
    ask(
      compiled({
        version: 1,
        default: 'deny',
        categories: { Write: 'deny' },
        tools: { 'a/put': 'allow', 'a/*': 'deny' },
      }),
      { trace },
    )
    ask(compiled({ version: 1, default: 'deny' }), { trace, method: 'prompts/get' })
    expect(trace).toMatchObject([
      { step: 'category', by: 'catalogue' },
      { step: 'aside', rule: '/tools/a~1*', why: 'the exact name overrides it' },
      { step: 'aside', rule: '/categories/Write', why: 'the exact name overrides it' },
      { step: 'rule', rule: '/tools/a~1put' },
      { step: 'decision' },
      { step: 'category', by: 'method' },
      { step: 'default' },
      { step: 'decision' },
    ])
  })
})

describe('call and definition', () => {
  test('a definition of another tool than the call is a fault, not a decision', () => {
    const open = compiled({ version: 1, default: 'allow' })
    const call = { server: 'a', name: 'drop', method: 'tools/call', args: {} }
    const decision = decide(open, call, sampleFacts(TOOL), new MemoryCounters(), NOW)
    expect(decision).toMatchObject({ action: 'deny', code: 'POLICY_FAULT' })
  })

  test('no document reclassifies a tool out of reach of the base policy', () => {
    const guardrail = { name: 'no writes', match: { categories: ['Write'] }, action: 'deny' }
    const house = compiled({ version: 1, default: 'allow', guardrails: [guardrail] })
    const document = { version: 1, default: 'allow', classify: { 'a/put': 'Read' } }
    expect(ask({ ...compiled(document), base: house })).toMatchObject({
      action: 'deny',
      rule: 'house:/guardrails/0',
    })
  })

  test("a resource that is one of the gate's files is denied", () => {
    const open = compiled({ version: 1, default: 'allow' })
    const call = { server: 'a', name: 'file:///x/.sluice/', method: 'resources/read', args: {} }
    const facts = { ...sampleFacts(undefined), ownPaths: ['/x/.sluice'] }
    const decision = decide(open, call, facts, new MemoryCounters(), NOW)
    expect(decision).toMatchObject({ action: 'deny', rule: 'built-in' })
  })
})

describe('quiet: reads', () => {
  const quiet = { version: 1, default: 'deny', quiet: 'reads' }
  const allowing = { ...quiet, tools: { 'a/put': 'allow' } }
  const guarded = (guardrail: object) => ({
    ...allowing,
    guardrails: [{ name: 'g', action: 'deny', ...guardrail }],
  })
  const isQuiet = (document: object, base?: object) => {
    const options = base === undefined ? {} : { base: compiled(base) }
    return ask(compiled(document, options)).quiet === true
  }

  test.each([
    ['a rule that allows', allowing],
    ['a rule that asks', { ...quiet, tools: { 'a/put': 'require_approval' } }],
    ['a default that asks', { ...quiet, default: 'require_approval' }],
    ['a guardrail that does not apply', guarded({ when: 'session.calls > 1' })],
    [
      'a guardrail in shadow mode that does not apply',
      guarded({ when: 'session.calls > 1', mode: 'shadow' }),
    ],
  ])('lets the gate answer by %s', (_what, document) => {
    expect(isQuiet(document)).toBe(true)
  })

  test.each([
    ['without the word', { ...allowing, quiet: undefined }],
    ['by the default', { ...quiet, default: 'allow', tools: { 'b/x': 'allow' } }],
    ['for a denial', { ...allowing, tools: { 'a/put': 'deny', 'b/x': 'allow' } }],
    [
      'if a guardrail is undecided',
      guarded({ action: 'require_approval', when: 'args.other > 1' }),
    ],
    ['if a guardrail in shadow mode objects', guarded({ mode: 'shadow' })],
    ['if one in shadow mode would ask', guarded({ action: 'require_approval', mode: 'shadow' })],
  ])('does not %s', (_what, document) => {
    expect(isQuiet(JSON.parse(JSON.stringify(document)))).toBe(false)
  })

  test('needs the base policy to say it too', () => {
    expect(isQuiet(allowing, { version: 1, default: 'allow' })).toBe(false)
    expect(isQuiet(allowing, { ...allowing, default: 'allow' })).toBe(true)
  })

  test('holds for a tool of unknown class only if both decisions do', () => {
    const document = { ...quiet, categories: { Read: 'allow' }, default: 'allow' }
    const facts = sampleFacts({ ...TOOL, category: 'Read', unknown: true })
    const call = { server: 'a', method: 'tools/call', name: 'put', args: {} }
    const known = sampleFacts({ ...TOOL, category: 'Read' })
    const decided = (of: typeof facts) =>
      decide(compiled(document), call, of, new MemoryCounters(), NOW).quiet
    expect([decided(known), decided(facts)]).toEqual([true, undefined])
  })
})

test('session.mode is what the client said, and empty if no hook said one', () => {
  const policy = compiled({
    version: 1,
    default: 'allow',
    guardrails: [{ name: 'plan', action: 'deny', when: 'session.mode == "plan"' }],
  })
  const decided = (session: object) => ask(policy, { facts: { session } }).action
  expect([decided({ mode: 'plan' }), decided({ mode: 'default' }), decided({})]).toEqual([
    'deny',
    'allow',
    'allow',
  ])
})
