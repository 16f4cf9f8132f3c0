// The counters of limits: which calls share one, and that no principal gets more than sessions x
// max. Keys depend on what `per` names and on nothing else.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import { runs } from '../../../../test/support/runs.ts'
import type { KnownTool } from '../calls/tools.ts'
import { sampleFacts } from '../cases/sample-facts.ts'
import { MemoryCounters } from '../counters/memory-counters.ts'
import { ExactNumber, type JsonValue } from '../values/json.ts'
import { decide } from './decide.ts'

const NOW = { wallMs: 0, monotonicMs: 0 }
const inputSchema = { type: 'object', properties: { x: {}, y: {}, i: { type: 'integer' } } }

interface Caller {
  readonly session: string
  readonly principal: string
  readonly agent: string | null
  readonly server: string
  readonly tool: string
  readonly x: JsonValue
  readonly y: JsonValue
}

const PLAIN: Caller = {
  session: 's',
  principal: 'p',
  agent: null,
  server: 'a',
  tool: 't',
  x: 'x',
  y: 'y',
}

const known = new Map<string, KnownTool>()

/** The keys of the counters that this call charges, or the denial. */
function keysOf(rule: object, caller: Partial<Caller>, options: { name?: string } = {}): string[] {
  const { session, principal, agent, server, tool, x, y } = { ...PLAIN, ...caller }
  const policy = compiled({ version: 1, default: 'deny', tools: { '*/*': rule } }, options)
  const definition = { server, name: tool, inputSchema }
  const accepted = known.get(`${server}/${tool}`) ?? { definition, category: 'Read', risk: 'low' }
  known.set(`${server}/${tool}`, accepted)
  const facts = sampleFacts(accepted, {
    session: { id: session },
    principal: { id: principal },
    ...(agent === null ? {} : { agent: { id: agent } }),
  })
  const call = { server, name: tool, method: 'tools/call', args: { x, y } }
  const decision = decide(policy, call, facts, new MemoryCounters(), NOW)
  return decision.limits.length > 0 ? decision.limits.map(({ key }) => key) : [decision.reason]
}

const limited = (per: unknown, more: object = {}) => ({
  action: 'allow',
  rate_limit: { max: 5, window: 60, per },
  ...more,
})

describe('counters', () => {
  /** Texts that would collide if parts were merely joined. */
  const text = fc.oneof(
    fc.constantFrom(
      '',
      '|',
      ':',
      '1',
      '1:',
      '|1:a',
      'a|1:a',
      'session s',
      'agent s',
      '"',
      'a',
      's',
    ),
    fc.string({ unit: fc.constantFrom('a', '|', ':', '1', '"'), maxLength: 5 }),
  )
  const value = fc.oneof(text, fc.constantFrom<JsonValue>(1, 1.5, true, false, 10, 0))
  const name = text.filter((part) => part !== '')
  const caller: fc.Arbitrary<Caller> = fc.record({
    session: text,
    principal: text,
    agent: fc.option(text),
    server: name.filter((part) => !part.includes('/')),
    tool: name,
    x: value,
    y: value,
  })
  const parts = fc.uniqueArray(
    fc.constantFrom('session', 'principal', 'agent', 'server', 'tool', 'args.x', 'args.y'),
    { minLength: 1, maxLength: 4 },
  )

  /** What a part names, so that equal means equal. */
  function named(part: string, one: Caller): unknown {
    switch (part) {
      case 'agent':
        return one.agent === null ? ['session', one.session] : ['agent', one.agent]
      case 'tool':
        return [one.server, one.tool]
      default:
        return one[part.replace('args.', '') as 'x']
    }
  }

  test('injective keys: two calls share one exactly if all that `per` names is equal', () => {
    const property = fc.property(parts, caller, caller, fc.nat(), (per, first, second, mix) => {
      // Mostly equal: otherwise nearly all pairs would differ in every part.
      const keys = Object.keys(first) as (keyof Caller)[]
      const other = { ...second }
      for (const [index, key] of keys.entries())
        if ((mix >> index) % 2 === 0) Object.assign(other, { [key]: first[key] })
      const same = per.every(
        (part) => JSON.stringify(named(part, first)) === JSON.stringify(named(part, other)),
      )
      const [one] = keysOf(limited(per), first)
      expect(keysOf(limited(per), other)[0] === one).toBe(same)
    })
    fc.assert(property, runs(300))
  })

  test('injective keys: no caller can spell a part into its neighbour', () => {
    const word = fc.string({ unit: fc.constantFrom('a', '1'), maxLength: 2 })
    const between = fc.constantFrom('|', '|"', ':', '|1:', '|2:"', '')
    const property = fc.property(word, word, word, between, (a, b, c, sign) => {
      const first = [`${a}${sign}${b}`, c] as const
      const second = [a, `${b}${sign}${c}`] as const
      const same = first[0] === second[0] && first[1] === second[1]
      const ofArgs = ([x, y]: readonly [string, string]) =>
        keysOf(limited(['args.x', 'args.y']), { x, y })[0]
      const ofFacts = ([principal, session]: readonly [string, string]) =>
        keysOf(limited(['principal', 'session']), { principal, session })[0]
      expect(ofArgs(first) === ofArgs(second)).toBe(same)
      expect(ofFacts(first) === ofFacts(second)).toBe(same)
    })
    fc.assert(property, runs(100))
  })

  test.each(['agent x', 'session x'])(
    'a session called `%s` counts apart from the agent `x` and the session `x`',
    (session) => {
      const rule = limited('agent')
      const keys = [{ session }, { agent: 'x' }, { session: 'x' }].flatMap((one) =>
        keysOf(rule, one),
      )
      expect(new Set(keys).size).toBe(3)
    },
  )

  test('`everyone` is one counter for all', () => {
    const property = fc.property(caller, (one) => {
      expect(keysOf(limited('everyone'), one)).toEqual(keysOf(limited('everyone'), {}))
    })
    fc.assert(property, runs(20))
  })

  test('depend neither on `max`, nor on the order of `per`, nor on reasons', () => {
    const orders = fc.tuple(parts, fc.nat({ max: 3 })).map(([per, by]) => ({
      per,
      turned: [...per.slice(by), ...per.slice(0, by)],
    }))
    const property = fc.property(orders, caller, ({ per, turned }, one) => {
      const changed = limited(turned, { reason: 'r', when: 'session.calls < 5' })
      changed.rate_limit.max = 7
      expect(keysOf(changed, one)).toEqual(keysOf(limited(per), one))
    })
    fc.assert(property, runs(60))
  })

  test('of two rules, windows, kinds, amounts and documents differ', () => {
    const spend = (amount: string) => ({
      action: 'allow',
      spend_limit: { amount, max: 99, window: 60 },
    })
    const all = [
      keysOf(limited('session'), {}),
      keysOf(limited('session'), {}, { name: 'other' }),
      keysOf({ action: 'allow', rate_limit: { max: 5, window: 61 } }, {}),
      keysOf(spend('args.x'), { x: 1 }),
      keysOf(spend('args.x * args.y'), { x: 1, y: 1 }),
    ].flat()
    expect(new Set(all).size).toBe(all.length)
  })

  test.each<[string, JsonValue, JsonValue, boolean]>([
    ['5 and 5.0 as written', 5, new ExactNumber('5.0'), true],
    ['5 and 5e0', 5, new ExactNumber('5e0'), true],
    ['5 and "5"', 5, '5', false],
    ['true and "true"', true, 'true', false],
    [
      'neighbours that one double would hold',
      new ExactNumber('9007199254740993'),
      9007199254740992,
      false,
    ],
    ['texts that look alike', 'é', 'e\u0301', false],
  ])('%s', (_what, x, other, same) => {
    const rule = limited('args.x')
    expect(keysOf(rule, { x })[0] === keysOf(rule, { x: other })[0]).toBe(same)
  })

  test.each<[string, JsonValue]>([
    ['null', null],
    ['a list', []],
    ['an object', {}],
    ['text of 257 characters', 'x'.repeat(257)],
    ['a number beyond all digits', new ExactNumber('1e999')],
    ['not a number', Number.NaN],
  ])('key flooding: %s is no key, and the call is denied', (_what, x) => {
    expect(keysOf(limited('args.x'), { x })).toEqual([
      'the limit needs `args.x` to be a plain value',
    ])
  })

  test('text of 256 characters is a key', () => {
    const x = 'x'.repeat(256)
    expect(keysOf(limited('args.x'), { x })[0]).toContain(x)
  })

  test('are stable while more of them are seen than are cached', () => {
    const policy = compiled({ version: 1, default: 'deny', tools: { 'a/t': limited('session') } })
    const tool = { definition: { server: 'a', name: 't' }, category: 'Read', risk: 'low' } as const
    const call = { server: 'a', name: 't', method: 'tools/call', args: {} }
    const key = (id: number) => {
      const facts = sampleFacts(tool, { session: { id: `${id}` } })
      return decide(policy, call, facts, new MemoryCounters(), NOW).limits[0]?.key
    }
    const first = key(0)
    const keys = new Set(Array.from({ length: 5_000 }, (_, id) => key(id)))
    expect(keys.size).toBe(5_000)
    expect(key(0)).toBe(first)
  })
})

describe('sessions', () => {
  test('no principal gets more than its sessions x max in any window', () => {
    const sessions = 3
    const step = fc.record({
      session: fc.nat({ max: sessions - 1 }),
      afterMs: fc.oneof(fc.nat({ max: 400 }), fc.constantFrom(-5_000, 0, 999, 1_000, 2_500)),
    })
    const tool = { definition: { server: 'a', name: 't' }, category: 'Read', risk: 'low' } as const
    const property = fc.property(
      fc.array(step, { maxLength: 120 }),
      fc.integer({ min: 1, max: 3 }),
      (steps, max) => {
        const rule = { action: 'allow', rate_limit: { max, window: 1, per: 'session' } }
        const policy = compiled({ version: 1, default: 'deny', tools: { 'a/*': rule } })
        const counters = new MemoryCounters()
        const allowed: number[] = []
        let monotonicMs = 10_000
        let latest = Number.NEGATIVE_INFINITY
        for (const { session, afterMs } of steps) {
          monotonicMs += afterMs
          latest = Math.max(latest, monotonicMs)
          const facts = sampleFacts(tool, { session: { id: `s${session}` } })
          const call = { server: 'a', name: 't', method: 'tools/call', args: {} }
          const now = { wallMs: 0, monotonicMs }
          const { action, limits } = decide(policy, call, facts, counters, now)
          if (action === 'allow' && counters.consume(limits, now).ok) allowed.push(latest)
        }
        for (const start of allowed) {
          const within = allowed.filter((at) => at >= start && at < start + 1_000)
          expect(within.length).toBeLessThanOrEqual(sessions * max)
        }
      },
    )
    fc.assert(property, runs(100))
  })
})
