// A guess is not a category: decisions for a tool whose category is unknown.

import { expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import type { KnownTool } from '../calls/tools.ts'
import { type Property, readProperties } from '../cases/properties.ts'
import { prove } from '../cases/prove.ts'
import { sampleFacts } from '../cases/sample-facts.ts'
import { getTypicalAction } from '../cases/typical-action.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { decide, isVisible } from './decide.ts'
import type { TraceStep } from './trace.ts'

const NOW = { wallMs: 0, monotonicMs: 0 }
const CALL = { server: 'a', name: 'x', method: 'tools/call', args: {} }
const tool = (category: KnownTool['category'], unknown = true): KnownTool => ({
  definition: { server: 'a', name: 'x', inputSchema: { type: 'object' } },
  category,
  risk: 'low',
  unknown,
})

function ask(policy: CompiledPolicy, of: KnownTool, trace?: TraceStep[]) {
  return decide(policy, CALL, sampleFacts(of), new MemoryCounters(), NOW, trace)
}

const policyOf = (document: object) => compiled({ version: 1, default: 'deny', ...document })

test.each<[string, object, KnownTool['category'], string]>([
  [
    'the doubt is stricter',
    { categories: { Read: 'allow', Execute: 'require_approval' } },
    'Read',
    'require_approval',
  ],
  [
    'the guess is stricter',
    { categories: { Financial: 'deny', Execute: 'allow' } },
    'Financial',
    'deny',
  ],
  ['no rule speaks of Execute', { categories: { Read: 'allow' } }, 'Read', 'deny'],
  ['an exact name settles it', { tools: { 'a/x': 'allow' } }, 'Read', 'allow'],
  [
    'the document settles it',
    { classify: { 'a/x': 'Read' }, categories: { Read: 'allow' } },
    'Write',
    'allow',
  ],
  [
    'a guardrail is for Execute',
    {
      default: 'allow',
      guardrails: [{ name: 'g', match: { categories: ['Execute'] }, action: 'hide' }],
    },
    'Read',
    'hide',
  ],
])('of a tool that is unknown, where %s', (_name, document, category, action) => {
  expect(ask(policyOf(document), tool(category)).action).toBe(action)
})

test('a certain category is not doubted', () => {
  const policy = policyOf({ categories: { Read: 'allow', Execute: 'deny' } })
  expect(ask(policy, tool('Read', false)).action).toBe('allow')
})

test.each<[string, object, KnownTool['category'], KnownTool['category'], string]>([
  [
    'is worse',
    { categories: { Read: 'allow', Destructive: 'require_approval' } },
    'Read',
    'Destructive',
    'require_approval',
  ],
  [
    'is worse, and no rule speaks of it',
    { categories: { Read: 'allow' } },
    'Read',
    'Write',
    'deny',
  ],
  [
    'is milder',
    { categories: { Read: 'allow', Execute: 'require_approval' } },
    'Execute',
    'Read',
    'require_approval',
  ],
  ['an exact name settles', { tools: { 'a/x': 'allow' } }, 'Read', 'Destructive', 'allow'],
  [
    'the document settles',
    { classify: { 'a/x': 'Read' }, categories: { Read: 'allow' } },
    'Read',
    'Destructive',
    'allow',
  ],
])('of a call whose own class %s', (_name, document, category, callCategory, action) => {
  const facts = { ...sampleFacts(tool(category, false)), callCategory }
  const trace: TraceStep[] = []
  const decision = decide(policyOf(document), CALL, facts, new MemoryCounters(), NOW, trace)
  expect(decision.action).toBe(action)
  const isEvaluated = category === 'Read' && !('classify' in document)
  expect(trace.some(({ step }) => step === 'call')).toBe(isEvaluated)
})

test('if both allow, the limits of both apply', () => {
  const limited = (max: number) => ({ action: 'allow', rate_limit: { max, window: 60 } })
  const policy = policyOf({ categories: { Read: limited(7), Execute: limited(3) } })
  expect(ask(policy, tool('Read')).limits.map(({ max }) => Number(max.units))).toEqual([7, 3])
})

test('if both require approval, both requirements apply', () => {
  const policy = policyOf({
    categories: { Read: 'require_approval', Execute: { action: 'require_approval', reason: 'r' } },
  })
  expect(ask(policy, tool('Read')).approvals.map(({ rule }) => rule)).toEqual([
    '/categories/Read',
    '/categories/Execute',
  ])
})

test('a document in shadow records the stricter action, and each shadow rule once', () => {
  const whole = policyOf({ mode: 'shadow', categories: { Read: 'allow', Execute: 'deny' } })
  const { action, shadow } = ask(whole, tool('Read'))
  expect([action, shadow.map((one) => one.action)]).toEqual(['allow', ['deny']])
  const rules = policyOf({
    default: 'allow',
    categories: {
      Read: { action: 'deny', mode: 'shadow' },
      Execute: { action: 'deny', mode: 'shadow' },
    },
    guardrails: [
      { name: 'g', action: 'hide', mode: 'shadow', when: 'tool.category == "Execute"' },
      { name: 'h', action: 'hide', mode: 'shadow' },
    ],
  })
  expect(ask(rules, tool('Read')).shadow.map(({ rule }) => rule)).toEqual([
    '/categories/Read',
    '/guardrails/1',
    '/categories/Execute',
    '/guardrails/0',
  ])
})

test('the trace shows the decision as Execute; a list hides what that hides', () => {
  const policy = policyOf({ categories: { Read: 'allow', Execute: 'hide' } })
  const trace: TraceStep[] = []
  ask(policy, tool('Read'), trace)
  expect(trace.find(({ step }) => step === 'unknown')).toEqual({
    step: 'unknown',
    category: 'Execute',
    action: 'hide',
    rule: '/categories/Execute',
  })
  expect(isVisible(policy, CALL, sampleFacts(tool('Read')), NOW)).toBe(false)
})

test('a condition that applies as Execute is a condition of the tool', () => {
  const policy = policyOf({
    categories: { Read: 'allow', Execute: { action: 'allow', when: 'session.calls < 3' } },
  })
  expect(getTypicalAction(policy, tool('Read'))).toBe('depends')
})

test('a proof treats it as any category', () => {
  const text = 'properties: [{ never: { category: Destructive, action: allow } }]'
  const [property] = readProperties({ file: 'p', text }).properties ?? []
  const result = (document: object) =>
    prove(policyOf(document), property as Property, [tool('Read')]).result
  expect(result({ categories: { Read: 'allow', Execute: 'allow' } })).toBe('refuted')
  expect(result({ categories: { Read: 'allow', Execute: 'deny' } })).toBe('proved')
  expect(result({ classify: { 'a/x': 'Read' }, categories: { Read: 'allow' } })).toBe('proved')
})
