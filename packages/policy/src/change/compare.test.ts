// What counts as tightening: by typical examples, and soundness for every document: if nothing is
// reported as looser, the engine never decides on a weaker action or a wider limit.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  action,
  asked,
  compiled,
  type DocumentText,
  document,
  guardrail,
  type RuleText,
  type SampleRequest,
  usage,
} from '../../../../test/support/arbitrary-policies.ts'
import { rounds, runs } from '../../../../test/support/runs.ts'
import { ACTIONS } from '../calls/actions.ts'
import type { Decision } from '../calls/decision.ts'
import { decide } from '../decide/decide.ts'
import type { Rule } from '../model/rule.ts'
import { compareDecimal } from '../values/decimal.ts'
import { loosenings } from './compare.ts'
import { isAtLeastAsStrict, withoutTest } from './compare-rules.ts'

const NOW = { wallMs: 1_770_000_000_000, monotonicMs: 5 }

const BASE = {
  version: 1,
  default: 'deny',
  categories: { Read: 'allow', Write: { action: 'allow', rate_limit: { max: 30, window: 60 } } },
  tools: {
    'a/get_x': 'allow',
    'a/set_x': { action: 'allow', when: 'args.n <= 50 && args.s != ""' },
    'b/*': { action: 'require_approval', approval: { approvers: ['ops'] } },
    '*/del_*': 'hide',
  },
  guardrails: [
    { name: 'large', when: 'args.n > 100', action: 'deny' },
    { name: 'all', rate_limit: { max: 600, window: 60, per: 'everyone' } },
  ],
}

type Base = typeof BASE
const tools = (more: object) => ({ ...BASE, tools: { ...BASE.tools, ...more } })
const large = (more: object) => ({
  ...BASE,
  guardrails: [{ ...BASE.guardrails[0], ...more }, BASE.guardrails[1]],
})

describe('typical changes', () => {
  test.each<[string, object]>([
    ['nothing', BASE],
    ['a stronger default', { ...BASE, default: 'hide' }],
    [
      'another guardrail',
      { ...BASE, guardrails: [...BASE.guardrails, { name: 'x', action: 'deny' }] },
    ],
    ['a tool denied that was allowed', tools({ 'a/get_x': 'deny' })],
    ['a tool denied by a rule of its own', tools({ 'c/get_x': 'deny' })],
    ['a tool hidden that a glob hides', tools({ 'a/del_y': 'hide' })],
    ['an allowed tool held', tools({ 'a/get_x': 'require_approval' })],
    [
      'a smaller limit',
      {
        ...BASE,
        categories: {
          ...BASE.categories,
          Write: { action: 'allow', rate_limit: { max: 3, window: 60 } },
        },
      },
    ],
    ['a limit more', tools({ 'a/get_x': { action: 'allow', rate_limit: { max: 3, window: 60 } } })],
    [
      'a condition more',
      tools({
        'a/set_x': { action: 'allow', when: 'args.n <= 50 && args.s != "" && session.calls < 9' },
      }),
    ],
    [
      'a smaller bound',
      tools({ 'a/set_x': { action: 'allow', when: 'args.n <= 49 && args.s != ""' } }),
    ],
    ['a guardrail that begins earlier', large({ when: 'args.n > 90' })],
    ['a guardrail without its condition', large({ when: undefined })],
    ['a stronger guardrail', large({ action: 'hide', when: undefined })],
    ['another reason', tools({ 'a/get_x': { action: 'deny', reason: 'no' } })],
    ['a rule in shadow', tools({ 'c/get_x': { action: 'allow', mode: 'shadow' } })],
  ])('tightens: %s', (_what, changed) => {
    expect(loosenings(compiled(BASE), compiled(JSON.parse(JSON.stringify(changed))))).toEqual([])
  })

  const without = (key: keyof Base['tools']) => {
    const { [key]: _, ...rest } = BASE.tools
    return { ...BASE, tools: rest }
  }

  test.each<[string, object, string]>([
    ['a weaker default', { ...BASE, default: 'allow' }, '/default'],
    ['a tool allowed', tools({ 'c/set_x': 'allow' }), '/tools/c~1set_x'],
    ['a tool shown that a glob hid', tools({ 'a/del_y': 'deny' }), '/tools/a~1del_y'],
    [
      'an exact name in place of a limit',
      tools({ 'c/set_x': { action: 'allow', rate_limit: { max: 1, window: 1 } } }),
      '/tools/c~1set_x',
    ],
    ['a glob gone', without('*/del_*'), '/tools/*~1del_*'],
    ['a condition gone', tools({ 'a/set_x': 'allow' }), '/tools/a~1set_x'],
    [
      'a larger bound',
      tools({ 'a/set_x': { action: 'allow', when: 'args.n <= 51 && args.s != ""' } }),
      '/tools/a~1set_x',
    ],
    [
      'a test less',
      tools({ 'a/set_x': { action: 'allow', when: 'args.n <= 50' } }),
      '/tools/a~1set_x',
    ],
    [
      'a larger limit',
      {
        ...BASE,
        categories: {
          ...BASE.categories,
          Write: { action: 'allow', rate_limit: { max: 31, window: 60 } },
        },
      },
      '/categories/Write',
    ],
    [
      'a fresh counter',
      {
        ...BASE,
        categories: {
          ...BASE.categories,
          Write: { action: 'allow', rate_limit: { max: 1, window: 90 } },
        },
      },
      '/categories/Write',
    ],
    ['a guardrail gone', { ...BASE, guardrails: [BASE.guardrails[0]] }, 'guardrail all'],
    ['a guardrail in shadow', large({ mode: 'shadow' }), 'guardrail large'],
    ['a guardrail that begins later', large({ when: 'args.n > 110' }), 'guardrail large'],
    ['a guardrail for fewer', large({ match: { servers: ['a'] } }), 'guardrail large'],
    [
      'other approvers',
      tools({ 'b/*': { action: 'require_approval', approval: { approvers: ['x'] } } }),
      '/tools/b~1*',
    ],
    ['a label', { ...BASE, labels: { 'a/*': ['private'] } }, '/labels'],
    ['questions that are answered', { ...BASE, quiet: 'reads' }, '/quiet'],
    ['whose labels', { ...BASE, label_scope: 'principal' }, '/label_scope'],
    ['what arguments are', { ...BASE, destinations: { 'a/x': { to: 'none' } } }, '/destinations'],
    ['another class', { ...BASE, classify: { 'a/x': 'Read' } }, '/classify'],
    ['all of it in shadow', { ...BASE, mode: 'shadow' }, '/mode'],
  ])('loosens: %s', (_what, changed, where) => {
    const found = loosenings(compiled(BASE), compiled(JSON.parse(JSON.stringify(changed))))
    expect(found.map((one) => one.where)).toContain(where)
  })

  test('an allowed name that falls to the default loosens nothing, one that falls to a glob does', () => {
    const { categories: _, ...rest } = BASE
    const old = { ...rest, tools: { 'a/get_x': 'allow' }, guardrails: [] }
    expect(loosenings(compiled(old), compiled({ ...old, tools: {} }))).toEqual([])
    const denied = { ...old, tools: { 'a/get_x': 'deny', 'a/*': 'allow' } }
    expect(loosenings(compiled(denied), compiled({ ...old, tools: { 'a/*': 'allow' } }))).toEqual([
      { where: '/tools/a~1get_x', what: 'it is gone' },
    ])
  })

  test('the base policy counts too', () => {
    const house = compiled({ version: 1, default: 'deny', guardrails: BASE.guardrails })
    const under = compiled(BASE, { base: house })
    expect(loosenings(compiled(BASE), under)).toEqual([])
    expect(loosenings(under, compiled(BASE)).map(({ where }) => where)).toEqual([
      'house:guardrail all',
      'house:guardrail large',
    ])
  })

  test.each([
    ['labels', { 'a/*': ['internal'] }],
    ['destinations', { 'a/x': { to: 'none' } }],
  ])('what the base policy says of tools in `%s` counts too', (part, said) => {
    const base = { version: 1, default: 'deny', protect: 'balanced' }
    const under = (house: object) => compiled(BASE, { base: compiled(house) })
    const found = loosenings(under(base), under({ ...base, [part]: said }))
    expect(found.map(({ where }) => where)).toEqual([`house:/${part}`])
  })
})

describe('sound', () => {
  type Change = (document: DocumentText) => void
  const section = fc.constantFrom('categories', 'tools', 'resources', 'methods') as fc.Arbitrary<
    'categories' | 'tools' | 'resources' | 'methods'
  >
  const pick = <T>(items: readonly T[], at: number): T | undefined => items[at % items.length]

  /** One possible edit of a document. */
  const change: fc.Arbitrary<Change> = fc.oneof(
    action.map((word) => (it: DocumentText) => {
      it.default = word
    }),
    fc
      .tuple(section, fc.nat(20), action, fc.boolean())
      .map(([of, at, word, other]) => (it: DocumentText) => {
        const rule = pick(Object.values(it[of]), at)
        if (rule === undefined) return
        if (other && rule.when !== undefined) rule.otherwise = word
        else rule.action = word
      }),
    fc.tuple(section, fc.nat(20)).map(([of, at]) => (it: DocumentText) => {
      const key = pick(Object.keys(it[of]), at)
      if (key !== undefined) delete it[of][key]
    }),
    fc.tuple(section, document, fc.nat(20)).map(([of, from, at]) => (it: DocumentText) => {
      const key = pick(Object.keys(from[of]), at)
      if (key !== undefined) it[of][key] = from[of][key] as RuleText
    }),
    fc
      .tuple(section, fc.nat(20), fc.constantFrom(1, 2, 5, 9))
      .map(([of, at, max]) => (it: DocumentText) => {
        const rule = pick(Object.values(it[of]), at)
        if (rule?.rate_limit !== undefined) rule.rate_limit = { ...rule.rate_limit, max }
      }),
    fc
      .tuple(section, fc.nat(20), fc.constantFrom(' && session.calls < 5', ' || session.calls < 5'))
      .map(([of, at, more]) => (it: DocumentText) => {
        const rule = pick(Object.values(it[of]), at)
        if (rule?.when !== undefined && !rule.when.includes('||')) rule.when += more
      }),
    fc.tuple(section, fc.nat(20), fc.nat(20)).map(([of, at, bound]) => (it: DocumentText) => {
      const rule = pick(Object.values(it[of]), at)
      if (rule?.when !== undefined)
        rule.when = rule.when.replace(/(args\.n|session\.calls) ([<>]) \d+/, `$1 $2 ${bound}`)
    }),
    guardrail.map((one) => (it: DocumentText) => {
      it.guardrails = [...it.guardrails.filter(({ name }) => name !== one.name), one]
    }),
    fc.nat(5).map((at) => (it: DocumentText) => {
      it.guardrails.splice(at, 1)
    }),
    fc.tuple(section, fc.nat(20)).map(([of, at]) => (it: DocumentText) => {
      const rule = pick(Object.values(it[of]), at)
      if (rule?.over !== undefined) delete rule.over
    }),
    fc.tuple(section, fc.nat(20)).map(([of, at]) => (it: DocumentText) => {
      const rule = pick(Object.values(it[of]), at)
      if (rule === undefined) return
      if (rule.mode === undefined) rule.mode = 'shadow'
      else delete rule.mode
    }),
    fc.constant((it: DocumentText) => {
      if (it.mode === undefined) it.mode = 'shadow'
      else delete it.mode
    }),
  )

  const strength = ({ action: word }: Decision) => ACTIONS.indexOf(word)

  /** The old decision and the new, of which the new must be as strict. */
  function holds(old: Decision, now: Decision): void {
    expect(strength(now)).toBeGreaterThanOrEqual(strength(old))
    if (now.action !== old.action || now.action === 'deny' || now.action === 'hide') return
    for (const take of old.limits) {
      const same = now.limits.find(({ key }) => key === take.key)
      expect(same && compareDecimal(same.max, take.max)).toBeLessThanOrEqual(0)
    }
    // Every requirement must be met.
    expect(now.approvals.length).toBeGreaterThanOrEqual(old.approvals.length)
  }

  let tightened = 0

  test('what is not reported as looser is not, for any call and any history', () => {
    const changes = fc.array(change, { minLength: 1, maxLength: 3 })
    const calls = fc.array(asked, { minLength: 6, maxLength: 6 })
    const property = fc.property(document, changes, calls, usage, (before, made, asking, used) => {
      const after = structuredClone(before)
      for (const one of made) one(after)
      let now: ReturnType<typeof compiled>
      try {
        now = compiled(after)
      } catch {
        return
      }
      const old = compiled(before)
      if (loosenings(old, now).length > 0) return
      if (JSON.stringify(before) !== JSON.stringify(after)) tightened++
      for (const { call, facts } of asking as SampleRequest[])
        holds(decide(old, call, facts, used, NOW), decide(now, call, facts, used, NOW))
    })
    fc.assert(property, runs(200))
    // Otherwise nothing was tested.
    expect(tightened).toBeGreaterThan(rounds(20))
  })
})

test('one rule in place of several is compared with each, or with the default', () => {
  const ruleOf = (rule: object) =>
    compiled({ ...BASE, tools: { 'a/get_x': rule } }).tools.exact('a', 'get_x') as Rule
  const [open, shut] = [{ action: 'allow' }, { action: 'deny' }].map(ruleOf) as [Rule, Rule]
  const some = ruleOf({ action: 'allow', when: 'args.n <= 5 && call.category == "Read"' })
  expect(
    isAtLeastAsStrict(some, [open, ruleOf({ action: 'allow', when: 'args.n <= 5' })], 'deny'),
  ).toBe(true)
  expect(isAtLeastAsStrict(some, [open, shut], 'allow')).toBe(false)
  expect(isAtLeastAsStrict(some, [], 'allow')).toBe(true)
  expect(isAtLeastAsStrict(some, [], 'require_approval')).toBe(false)
  // In another class its test is false.
  const elsewhere = withoutTest(some, 'call.category == "Read"') as Rule
  expect(isAtLeastAsStrict(elsewhere, [shut], 'deny')).toBe(true)
  expect(withoutTest(some, 'call.category == "Write"')).toBeUndefined()
  expect(withoutTest(open, 'call.category == "Read"')).toBeUndefined()
})

test.each<[string, object, object, boolean]>([
  ['more kinds are redacted', { redact: ['card'] }, { redact: ['card', 'iban', 'ssn'] }, true],
  ['fewer are', { redact: ['card', 'iban'] }, { redact: ['card'] }, false],
  ['a redacted kind is withheld', { redact: ['card'] }, { deny: ['card'] }, true],
  ['a withheld kind is redacted', { deny: ['card'] }, { redact: ['card'] }, false],
  ['a bound comes', { redact: ['card'] }, { redact: ['card'], max_bytes: 5_000 }, true],
  [
    'a bound is less',
    { max_bytes: 5_000, max_tokens: 900 },
    { max_bytes: 4_000, max_tokens: 900 },
    true,
  ],
  ['a bound is more', { max_tokens: 900 }, { max_tokens: 901 }, false],
  ['a bound goes', { max_tokens: 900, max_bytes: 5_000 }, { max_bytes: 5_000 }, false],
  ['links come', { redact: ['card'] }, { redact: ['card'], links: ['a.example'] }, true],
  [
    'links are fewer',
    { links: ['*.a.example', 'b.example'] },
    { links: ['*.x.a.example', 'y.a.example'] },
    true,
  ],
  ['a link is another', { links: ['*.a.example'] }, { links: ['a.example'] }, false],
  ['a link is wider', { links: ['x.a.example'] }, { links: ['*.a.example'] }, false],
  ['links go', { redact: ['card'], links: [] }, { redact: ['card'] }, false],
  ['a mark comes', { redact: ['card'] }, { redact: ['card'], mark: ['ssn'] }, false],
  ['a mark goes', { redact: ['card'], mark: ['ssn'] }, { redact: ['card'] }, false],
  ['a seal comes', { redact: ['secret'] }, { redact: ['secret'], seal: ['b/x'] }, false],
  [
    'a seal is narrower',
    { redact: ['secret'], seal: ['b/x', 'b/y'] },
    { redact: ['secret'], seal: ['b/y'] },
    true,
  ],
  [
    'a seal is wider',
    { redact: ['secret'], seal: ['b/x'] },
    { redact: ['secret'], seal: ['b/x', 'b/y'] },
    false,
  ],
  ['a seal goes', { redact: ['secret'], seal: ['b/x'] }, { redact: ['secret'] }, false],
])('answers: %s', (_, old, now, isTighter) => {
  const policy = (rule: object, more = {}) =>
    compiled({ version: 1, default: 'allow', answers: { 'a/*': rule, ...more } })
  expect(loosenings(policy(old), policy(now)).length === 0).toBe(isTighter)
  expect(loosenings(policy(old), policy(old))).toEqual([])
  // Another rule only adds up; taken away, its answers are open again.
  const other = policy(old, { '*/*': { redact: ['email'] } })
  expect(loosenings(policy(old), other)).toEqual([])
  expect(loosenings(other, policy(old)).map(({ where }) => where)).toEqual(['/answers/*~1*'])
  // Under `protect: strict` the same key has a second rule.
  const strict = compiled({
    version: 1,
    default: 'allow',
    protect: 'strict',
    answers: { '*/*': old },
  })
  expect(loosenings(strict, strict)).toEqual([])
})

test('answers, egress and canaries: only what was not there before tightens', () => {
  const bare = { version: 1, default: 'allow' }
  const where = (old: object, now: object) =>
    loosenings(compiled({ ...bare, ...old }), compiled({ ...bare, ...now })).map(
      (each) => each.where,
    )
  const egress = { egress: { 'a/*': ['x.example'] } }
  const answers = { answers: { 'a/*': { redact: ['secret'] } } }
  const canaries = { canaries: { key: 'ab12-cd34-ef56' } }
  for (const part of [egress, answers, canaries]) {
    expect(where({}, part)).toEqual([])
    expect(where(part, part)).toEqual([])
    const gone = part === answers ? '/answers/a~1*' : `/${Object.keys(part)[0]}`
    expect(where(part, {})).toEqual([gone])
  }
  const house = compiled({ ...bare, ...egress })
  const under = compiled(bare, { base: house })
  expect(loosenings(under, compiled(bare)).map((each) => each.where)).toEqual(['house:/egress'])
  expect(loosenings(under, under)).toEqual([])
})
