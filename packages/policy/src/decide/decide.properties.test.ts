// Properties of every document, call and history, at the entry points: compile, decide, isVisible.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  action,
  args,
  asked,
  compiled,
  type DocumentText,
  document,
  type GuardrailText,
  guardrail,
  type SampleRequest,
  TOOLS,
  usage,
} from '../../../../test/support/arbitrary-policies.ts'
import { runs } from '../../../../test/support/runs.ts'
import { ACTIONS, type Action } from '../calls/actions.ts'
import type { LimitUsage } from '../calls/counters.ts'
import type { Decision } from '../calls/decision.ts'
import type { KnownTool } from '../calls/tools.ts'
import { sampleFacts } from '../cases/sample-facts.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { decide, isVisible } from './decide.ts'

const NOW = { wallMs: 1_770_000_000_000, monotonicMs: 5 }
const strength = (word: Action): number => ACTIONS.indexOf(word)

function ask(policy: CompiledPolicy, { call, facts }: SampleRequest, used: LimitUsage): Decision {
  return decide(policy, call, facts, used, NOW)
}

/** A decision that names guardrails instead of locating them. */
function summarize(decision: Decision, { guardrails }: DocumentText): unknown {
  const named = (pointer: string) =>
    pointer.replace(/^\/guardrails\/(\d+)$/, (_, index) => `guardrail ${guardrails[index]?.name}`)
  return {
    ...decision,
    rule: named(decision.rule),
    guardrails: decision.guardrails.map((match) => ({ ...match, rule: named(match.rule) })),
    approvals: decision.approvals.map((one) => ({ ...one, rule: named(one.rule) })),
    shadow: decision.shadow.map((one) => ({ ...one, rule: named(one.rule) })),
  }
}

describe('order', () => {
  const orders = fc.array(fc.nat({ max: 1_000 }), { minLength: 8, maxLength: 8 })

  /** The keys of every mapping, and the list of guardrails, in another order. */
  function shuffled(value: unknown, order: readonly number[], list = false): unknown {
    const mix = <T>(items: T[]) =>
      items
        .map((item, index) => ({ item, by: (order[index % order.length] ?? 0) * (index + 7) }))
        .sort((a, b) => (a.by % 101) - (b.by % 101))
        .map(({ item }) => item)
    if (Array.isArray(value)) return list ? mix(value.map((item) => shuffled(item, order))) : value
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, inner]) => [
      key,
      shuffled(inner, order, key === 'guardrails'),
    ])
    return Object.fromEntries(mix(entries))
  }

  test('never matters', () => {
    const property = fc.property(document, orders, asked, usage, (text, order, one, used) => {
      const other = shuffled(text, order) as DocumentText
      const [first, second] = [compiled(text), compiled(other)]
      expect(summarize(ask(second, one, used), other)).toEqual(
        summarize(ask(first, one, used), text),
      )
      expect(isVisible(second, one.call, one.facts, NOW)).toBe(
        isVisible(first, one.call, one.facts, NOW),
      )
    })
    fc.assert(property, runs(50))
  })
})

describe('precedence', () => {
  /** Two chains from narrow to wide: one glob covers another if it is as wide in both parts. */
  const SERVERS = ['a', '?', '*']
  const PARTS = ['get_x', 'get_?', 'get_*', '*']
  const globs = SERVERS.flatMap((server, s) =>
    PARTS.map((part, p) => ({ key: `${server}/${part}`, s, p })),
  ).slice(1)

  test('the strongest wins; only an exact name, a narrower glob or `over` loosens', () => {
    const property = fc.property(
      fc.uniqueArray(
        fc.record({ glob: fc.constantFrom(...globs), word: action, over: fc.boolean() }),
        {
          selector: ({ glob }) => glob.key,
          maxLength: 5,
        },
      ),
      fc.option(action),
      fc.option(action),
      fc.array(fc.constantFrom('deny', 'hide', 'require_approval') as fc.Arbitrary<Action>, {
        maxLength: 2,
      }),
      action,
      (rules, exact, category, guards, fallback) => {
        const policy = compiled({
          version: 1,
          default: fallback,
          ...(category ? { categories: { Read: category } } : {}),
          tools: {
            ...(exact ? { 'a/get_x': exact } : {}),
            ...Object.fromEntries(
              rules.map(({ glob, word, over }) => [
                glob.key,
                { action: word, ...(over ? { over: ['Read'] } : {}) },
              ]),
            ),
          },
          guardrails: guards.map((word, index) => ({ name: `g${index}`, action: word })),
        })
        const narrowest = rules.filter(
          ({ glob }) =>
            !rules.some(
              (other) => other.glob !== glob && other.glob.s <= glob.s && other.glob.p <= glob.p,
            ),
        )
        const lifted = narrowest.some(({ over }) => over)
        const words = narrowest.map(({ word }) => word)
        if (category && !lifted) words.push(category)
        const counting = exact ? [exact] : words.length > 0 ? words : [fallback]
        const expected = [...counting, ...guards].sort((a, b) => strength(b) - strength(a))[0]
        const decision = ask(policy, call('a/get_x'), OPEN)
        expect(decision.action).toBe(expected)
      },
    )
    fc.assert(property, runs(150))
  })

  test('adding a guardrail never loosens', () => {
    const property = fc.property(document, guardrail, asked, usage, (text, more, one, used) => {
      const guardrails = [{ ...more, name: 'the new one' }, ...text.guardrails]
      const before = ask(compiled(text), one, used)
      const after = ask(compiled({ ...text, guardrails }), one, used)
      expect(strength(after.action)).toBeGreaterThanOrEqual(strength(before.action))
    })
    fc.assert(property, runs(60))
  })
})

describe('lists', () => {
  test('a list and a call cannot disagree', () => {
    const property = fc.property(
      document,
      asked,
      fc.array(args, { minLength: 1, maxLength: 6 }),
      (text, one, several) => {
        const policy = compiled(text)
        const shown = isVisible(policy, one.call, one.facts, NOW)
        const words = several.map(
          (given) => ask(policy, { ...one, call: { ...one.call, args: given } }, OPEN).action,
        )
        if (!shown)
          expect(words.filter((word) => word === 'allow' || word === 'require_approval')).toEqual(
            [],
          )
        if (words.includes('hide')) expect(new Set(words)).toEqual(new Set(['hide']))
        if (words.includes('hide')) expect(shown).toBe(false)
      },
    )
    fc.assert(property, runs(60))
  })
})

describe('memory', () => {
  test('a decision does not depend on those before it', () => {
    const past = fc.array(asked, { maxLength: 10 })
    const property = fc.property(document, past, asked, usage, (text, before, one, used) => {
      const policy = compiled(text)
      for (const other of before) ask(policy, other, used)
      expect(ask(policy, one, used)).toEqual(ask(compiled(text), one, used))
      expect(ask(policy, one, used)).toEqual(ask(policy, one, used))
    })
    fc.assert(property, runs(60))
  })
})

describe('shadow', () => {
  const isShadow = (rule: { mode?: string }) => rule.mode === 'shadow'
  const without = (text: DocumentText): DocumentText => {
    const kept = <T extends { mode?: 'shadow' }>(rules: Record<string, T>) =>
      Object.fromEntries(Object.entries(rules).filter(([, rule]) => !isShadow(rule)))
    const [categories, tools] = [kept(text.categories), kept(text.tools)]
    const [methods, resources] = [kept(text.methods), kept(text.resources)]
    const guardrails = text.guardrails.filter((one: GuardrailText) => !isShadow(one))
    return { ...text, categories, tools, methods, resources, guardrails }
  }

  test('rules in shadow change nothing', () => {
    const property = fc.property(document, asked, usage, (text, one, used) => {
      const bare = without(text)
      const [all, less] = [compiled(text), compiled(bare)]
      const { shadow: _, ...decision } = ask(all, one, used)
      expect(summarize({ ...decision, shadow: [] }, text)).toEqual(
        summarize(ask(less, one, used), bare),
      )
      expect(isVisible(all, one.call, one.facts, NOW)).toBe(
        isVisible(less, one.call, one.facts, NOW),
      )
    })
    fc.assert(property, runs(50))
  })

  test('a document in shadow allows, and records what it would have decided', () => {
    const property = fc.property(document, asked, usage, (text, one, used) => {
      const enforced = ask(compiled(text), one, used)
      const decision = ask(compiled({ ...text, mode: 'shadow' }), one, used)
      expect(decision).toMatchObject({ action: 'allow', rule: '/mode', guardrails: [], limits: [] })
      const { action: word, code, rule, reason } = enforced
      expect(decision.shadow.at(-1)).toMatchObject({ action: word, code, rule, reason })
      const keys = decision.shadow.flatMap(({ limits }) => limits.map(({ key }) => key))
      expect(enforced.limits.filter(({ key }) => keys.includes(key))).toEqual([])
    })
    fc.assert(property, runs(50))
  })
})

describe('the base policy', () => {
  test('only tightens, applies over a document in shadow, and has its own counters', () => {
    const laws = fc.uniqueArray(guardrail, {
      selector: ({ name }) => name,
      minLength: 1,
      maxLength: 3,
    })
    const property = fc.property(
      document,
      laws,
      fc.boolean(),
      asked,
      usage,
      (text, guardrails, shadow, one, used) => {
        const document = shadow ? { ...text, mode: 'shadow' } : text
        const house = compiled({ ...ALLOWING, guardrails }, { name: 'house' })
        const alone = ask(compiled(document), one, used)
        const both = ask(compiled(document, { base: house }), one, used)
        expect(strength(both.action)).toBeGreaterThanOrEqual(strength(alone.action))
        const own = ask(compiled({ ...ALLOWING, classify: text.classify, guardrails }), one, used)
        const laid = own.guardrails.map(({ name }) => name)
        const ofBase = both.guardrails.filter(({ rule }) => rule.startsWith('house:'))
        // Matched by the accepted category as well, so possibly more of them.
        expect(ofBase.map(({ name }) => name)).toEqual(expect.arrayContaining(laid))
        const keys = both.limits.map(({ key }) => key)
        expect(new Set(keys).size).toBe(keys.length)
        const foreign = keys.filter((key) => !alone.limits.some((take) => take.key === key))
        for (const key of foreign) expect(key).toMatch(/^house\//)
      },
    )
    fc.assert(property, runs(50))
  })
})

const ALLOWING = { version: 1, default: 'allow' }
/** No limit is reached. */
const OPEN: LimitUsage = { look: ({ max }) => ({ passes: true, remaining: max, retryAfterMs: 0 }) }

function call(id: string): SampleRequest {
  const tool = TOOLS.find(({ definition }) => `${definition.server}/${definition.name}` === id)
  const { server, name } = (tool as KnownTool).definition
  return { call: { server, name, method: 'tools/call', args: {} }, facts: sampleFacts(tool) }
}
