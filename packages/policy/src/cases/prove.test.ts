// Proofs: proved, refuted with a call that the engine decides that way, or not proved with the
// branch named. Soundness: no call refutes what is reported as proved.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  asked,
  compiled,
  document,
  guardrail,
  TOOLS,
} from '../../../../test/support/arbitrary-policies.ts'
import { runs } from '../../../../test/support/runs.ts'
import { ACTIONS, type Action } from '../calls/actions.ts'
import { CATEGORIES, type KnownTool } from '../calls/tools.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { decide } from '../decide/decide.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { type Property, readProperties } from './properties.ts'
import { type PropertyProof, prove, type ToolProof } from './prove.ts'
import { sampleFacts } from './sample-facts.ts'

const tool = (id: string, properties: object, category: KnownTool['category']): KnownTool => {
  const [server = '', name = ''] = id.split('/')
  return {
    definition: { server, name, inputSchema: { type: 'object', properties: properties as never } },
    category,
    risk: category === 'Read' ? 'low' : 'critical',
  }
}
const REFUND = tool(
  'shop/refund',
  {
    amount: { type: 'number' },
    to: { type: 'string' },
    tags: { type: 'array' },
    deep: { type: 'object', properties: { fast: { type: 'boolean' } } },
  },
  'Financial',
)
const READ = tool('shop/get', { id: { type: 'string' } }, 'Read')
const DROP = tool('db/drop', {}, 'Destructive')
const KNOWN = [REFUND, READ, DROP]

function proofOf(document: object, claim: string, house?: object): PropertyProof {
  const { properties } = readProperties({ file: 'p', text: `properties: [{ ${claim} }]` })
  const over = house && compiled({ version: 1, default: 'deny', ...house }, { name: 'house' })
  const policy = compiled({ version: 1, default: 'deny', ...document }, over ? { base: over } : {})
  const proof = prove(policy, properties?.[0] as Property, KNOWN)
  for (const one of proof.tools) expectReproduced(policy, one, KNOWN)
  return proof
}

/** A refutation is a call that the engine itself decides that way, on fresh counters. */
function expectReproduced(
  policy: CompiledPolicy,
  proof: ToolProof,
  tools: readonly KnownTool[],
): void {
  if (proof.result !== 'refuted') return
  const found = tools.find(({ definition: { server, name } }) => `${server}/${name}` === proof.tool)
  const { server, name } = (found as KnownTool).definition
  const { args, facts, nowMs } = proof.sample
  const call = { server, name, method: 'tools/call', args }
  const now = { wallMs: nowMs, monotonicMs: 0 }
  const decision = decide(policy, call, sampleFacts(found, facts), new MemoryCounters(), now)
  expect(decision).toMatchObject({ action: proof.action, rule: proof.rule })
}

const rule = (more: object) => ({ tools: { 'shop/refund': { action: 'allow', ...more } } })

describe('proved', () => {
  test.each([
    [
      'nothing destructive runs without a person',
      { categories: { Destructive: 'require_approval' } },
      'never: { category: Destructive, action: allow }',
    ],
    [
      'whatever a condition comes to',
      rule({ when: 'args.amount < 5.0', otherwise: 'require_approval' }),
      'always: { tool: shop/refund, action: [allow, require_approval] }',
    ],
    [
      'a condition that does not fit is never true',
      rule({ when: 'args.to > 5' }),
      'never: { tool: shop/refund, action: allow }',
    ],
    [
      'by risk and server',
      { categories: { Read: 'allow' } },
      'never: { risk: critical, server: "s*", action: allow }',
    ],
    [
      'a document in shadow allows everything',
      { mode: 'shadow', categories: { Read: 'hide' } },
      'always: { action: allow }',
    ],
    ['of no tool at all', { default: 'allow' }, 'never: { server: nobody, action: allow }'],
  ])('%s', (_what, text, claim) => {
    expect(proofOf(text, claim).result).toBe('proved')
  })

  test('the base policy applies where the document allows', () => {
    const claim = 'never: { category: Destructive, action: allow }'
    const house = {
      guardrails: [{ name: 'g', match: { categories: ['Destructive'] }, action: 'deny' }],
    }
    expect(proofOf({ default: 'allow' }, claim).result).toBe('refuted')
    expect(proofOf({ default: 'allow' }, claim, house).result).toBe('proved')
  })

  test('after `classify`, like the rules', () => {
    const text = { categories: { Read: 'allow' }, classify: { 'shop/get': 'Destructive' } }
    expect(proofOf(text, 'never: { category: Destructive, action: allow }').tools).toEqual([
      { tool: 'shop/get', result: 'proved' },
      { tool: 'db/drop', result: 'proved' },
    ])
  })
})

describe('refuted, with a call', () => {
  test.each([
    ['no condition', { default: 'allow' }, { args: {} }],
    ['a comparison', rule({ when: 'args.amount <= 5000.0' }), { args: { amount: 5000 } }],
    [
      'its other side',
      rule({ action: 'deny', when: 'args.amount <= 5000.0', otherwise: 'allow' }),
      { args: { amount: 5001 } },
    ],
    ['text', rule({ when: 'args.to == "x@y"' }), { args: { to: 'x@y' } }],
    ['text that is not', rule({ when: 'args.to != "" && args.to != "x"' }), { args: { to: 'xx' } }],
    ['a list', rule({ when: '"vip" in args.tags' }), { args: { tags: ['vip'] } }],
    ['a nested argument', rule({ when: 'args.deep.fast' }), { args: { deep: { fast: true } } }],
    ['an argument that is not there', rule({ when: '!has(args.to)' }), { args: {} }],
    [
      'a label',
      rule({ when: 'session.saw.private && session.saw.untrusted' }),
      { facts: { session: { saw: ['private', 'untrusted'] } } },
    ],
    [
      'a number of calls',
      rule({ when: 'session.calls > 7' }),
      { facts: { session: { calls: 8 } } },
    ],
    ['a mode', rule({ when: 'session.mode == "plan"' }), { facts: { session: { mode: 'plan' } } }],
    ['a session', rule({ when: 'session.id == "one"' }), { facts: { session: { id: 'one' } } }],
    [
      'a group',
      rule({ when: '"ops" in principal.groups' }),
      { facts: { principal: { groups: ['ops'] } } },
    ],
    [
      'a claim',
      rule({ when: 'principal.claims.level > 3' }),
      { facts: { principal: { claims: { level: 4 } } } },
    ],
    [
      'a principal',
      rule({ when: 'principal.kind == "service"' }),
      { facts: { principal: { kind: 'service' } } },
    ],
    ['an agent', rule({ when: 'agent != null' }), { facts: { agent: {} } }],
    ['an agent of a depth', rule({ when: 'agent.depth == 3' }), { facts: { agent: { depth: 3 } } }],
    [
      'an agent of a template',
      rule({ when: 'agent.template == "ops"' }),
      { facts: { agent: { template: 'ops' } } },
    ],
    [
      'the class of the call',
      rule({ when: 'call.category == "Read"' }),
      { facts: { callCategory: 'Read' } },
    ],
    ['an hour', rule({ when: 'now.getHours() == 17' }), {}],
    [
      'an amount within its limit',
      rule({ spend_limit: { amount: 'args.amount', max: 10, window: 60 } }),
      { args: { amount: 1 } },
    ],
    ['a key', rule({ rate_limit: { max: 1, window: 60, per: 'args.to' } }), { args: { to: 'x' } }],
  ])('%s', (_what, text, sample) => {
    const proof = proofOf(text, 'never: { tool: shop/refund, action: allow }')
    expect(proof.result).toBe('refuted')
    expect(proof.tools).toMatchObject([
      { tool: 'shop/refund', result: 'refuted', action: 'allow', sample },
    ])
  })

  test('an amount that cannot be read is a denial: `always allow` is refuted', () => {
    const text = rule({ spend_limit: { amount: 'args.amount', max: 10, window: 60 } })
    const proof = proofOf(text, 'always: { tool: shop/refund, action: allow }')
    expect(proof.tools).toMatchObject([{ result: 'refuted', action: 'deny' }])
  })

  test('no sample has an amount that alone exceeds the limit', () => {
    const text = rule({
      when: 'args.amount >= 5000.0',
      spend_limit: { amount: 'args.amount', max: 100, window: 60 },
    })
    const proof = proofOf(text, 'never: { tool: shop/refund, action: allow }')
    expect(proof.tools).toMatchObject([{ result: 'not proved' }])
  })
})

describe('not proved, with the branch', () => {
  test.each([
    [
      'no arguments were found',
      rule({ when: 'args.to.matches("^[0-9]{7}$")' }),
      '/tools/shop~1refund true gives allow',
    ],
    [
      'of several conditions',
      {
        ...rule({ when: 'args.to.matches("^[0-9]{7}$")' }),
        guardrails: [{ name: 'g', action: 'deny', when: 'args.amount > 1.0' }],
      },
      '/tools/shop~1refund true, /guardrails/0 false gives allow',
    ],
    [
      'a fact nothing is tried for',
      rule({ when: 'server.transport == "http"' }),
      '/tools/shop~1refund true gives allow',
    ],
  ])('%s', (_what, text, branch) => {
    const proof = proofOf(text, 'never: { tool: shop/refund, action: allow }')
    expect(proof).toMatchObject({ result: 'not proved', tools: [{ tool: 'shop/refund', branch }] })
  })

  test('one refuted tool is worse than one not proved', () => {
    const text = {
      tools: {
        'shop/refund': { action: 'allow', when: 'args.to.matches("^[0-9]{7}$")' },
        'db/drop': 'allow',
      },
    }
    const proof = proofOf(text, 'never: { action: allow }')
    expect(proof.tools.map(({ result }) => result)).toEqual(['not proved', 'proved', 'refuted'])
    expect(proof.result).toBe('refuted')
  })

  test('too many conditions are reported as too many', () => {
    const guardrails = Array.from({ length: 13 }, (_, n) => ({
      name: `g${n}`,
      action: 'deny',
      when: `session.calls != ${n + 100}`,
    }))
    const proof = proofOf(
      { default: 'allow', guardrails },
      'never: { tool: db/drop, action: allow }',
    )
    expect(proof.tools).toMatchObject([
      { result: 'not proved', branch: '8192 combinations of 13 conditions, more than 4096' },
    ])
  })

  test('the search for a call terminates', () => {
    const many = Array.from({ length: 12 }, (_, n) => `args.to != "${n}"`).join(' && ')
    const facts = '"x" in principal.groups && session.id != "s" && principal.id != "p"'
    const text = rule({ when: `${many} && ${facts} && args.to.matches("^[0-9]{7}$")` })
    const proof = proofOf(text, 'never: { tool: shop/refund, action: allow }')
    expect(proof.result).toBe('not proved')
  })

  test('a limit by an unreadable argument', () => {
    const text = {
      tools: {
        'shop/refund': { action: 'allow', rate_limit: { max: 1, window: 60, per: 'args.to' } },
      },
    }
    const proof = proofOf(text, 'never: { tool: shop/refund, action: deny }')
    expect(proof.tools).toMatchObject([{ result: 'refuted', action: 'deny', sample: { args: {} } }])
  })
})

describe('for every document', () => {
  const property = fc
    .record({
      kind: fc.constantFrom('never', 'always') as fc.Arbitrary<Property['kind']>,
      actions: fc.uniqueArray(fc.constantFrom<Action>(...ACTIONS), { minLength: 1, maxLength: 3 }),
      categories: fc.option(fc.uniqueArray(fc.constantFrom(...CATEGORIES), { minLength: 1 }), {
        nil: undefined,
      }),
    })
    .map(
      ({ categories, ...rest }): Property => ({
        name: '',
        line: 1,
        ...rest,
        ...(categories ? { categories } : {}),
      }),
    )
  const house = fc.option(
    fc.uniqueArray(guardrail, { selector: ({ name }) => name, minLength: 1, maxLength: 2 }),
  )

  test('no call refutes what is proved, and its sample refutes what is refuted', () => {
    const many = fc.array(asked, { minLength: 15, maxLength: 15 })
    const honest = fc.property(document, house, property, many, (text, laws, claim, calls) => {
      const over =
        laws && compiled({ version: 1, default: 'allow', guardrails: laws }, { name: 'house' })
      const policy = compiled(text, over ? { base: over } : {})
      const proof = prove(policy, claim, TOOLS)
      for (const one of proof.tools) expectReproduced(policy, one, TOOLS)
      for (const { call, facts } of calls) {
        const found = proof.tools.find(({ tool: id }) => id === `${call.server}/${call.name}`)
        if (facts.tool === undefined || found?.result !== 'proved') continue
        const now = { wallMs: 0, monotonicMs: 0 }
        const { action } = decide(policy, call, facts, new MemoryCounters(), now)
        expect(claim.actions.includes(action)).toBe(claim.kind === 'always')
      }
    })
    fc.assert(honest, runs(60))
  })
})
