// Every fault denies: counters that throw, facts that cannot be read, arguments of every hostile
// shape. Nothing here throws, and nothing passes that valid input would not.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  asked,
  compiled,
  document,
  plainDocument,
  type SampleRequest,
  usage,
} from '../../../../test/support/arbitrary-policies.ts'
import { runs } from '../../../../test/support/runs.ts'
import { ACTIONS, type Action } from '../calls/actions.ts'
import type { LimitUsage } from '../calls/counters.ts'
import type { Decision } from '../calls/decision.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { decide, isVisible } from './decide.ts'

const NOW = { wallMs: 1_770_000_000_000, monotonicMs: 5 }
const strength = (word: Action): number => ACTIONS.indexOf(word)
/** No limit is reached. */
const OPEN: LimitUsage = { look: ({ max }) => ({ passes: true, remaining: max, retryAfterMs: 0 }) }

function ask(policy: CompiledPolicy, { call, facts }: SampleRequest, used: LimitUsage): Decision {
  return decide(policy, call, facts, used, NOW)
}

describe('faults', () => {
  /** Created for each run: reading some of them consumes them. */
  const HOSTILE: Record<string, () => unknown> = {
    'nesting a hundred thousand deep': () => nested(100_000),
    'nesting as deep as JSON may be': () => nested(500),
    'a cycle': () => {
      const cycle: unknown[] = []
      cycle.push(cycle)
      return cycle
    },
    'a proxy that throws': () => trap(new Error('trapped')),
    'a proxy that throws nothing': () => trap(undefined),
    'an object whose getter throws': () =>
      Object.defineProperty({}, 'x', { enumerable: true, get: fail }),
    'a huge list': () => new Array(1_000_000).fill(0),
    'a huge object': () =>
      Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, n])),
    'a key `__proto__`': () => JSON.parse('{ "__proto__": { "n": 1 }, "constructor": 1 }'),
    'not a number': () => Number.NaN,
    infinite: () => Number.POSITIVE_INFINITY,
    'a symbol': () => Symbol('x'),
    'a function': () => fail,
    'a big integer': () => 5n,
    'a date': () => new Date(0),
    'a boxed number': () => Object(4),
    'an object that converts itself': () => ({ valueOf: () => 4, toString: () => 'x' }),
  }
  const hostile = fc.constantFrom(...Object.keys(HOSTILE))

  function nested(depth: number): unknown {
    let value: unknown = 1
    for (let n = 0; n < depth; n++) value = n % 2 === 0 ? [value] : { n: value }
    return value
  }
  function fail(): never {
    throw new Error('poisoned')
  }
  function trap(thrown: unknown): object {
    const every = () => {
      throw thrown
    }
    return new Proxy(
      {},
      {
        get: every,
        has: every,
        ownKeys: every,
        getOwnPropertyDescriptor: every,
        getPrototypeOf: every,
      },
    )
  }
  /** A fault may turn `hide` into `deny`, but never allows more. */
  const expectNoLooser = (faulty: Decision, sound: Decision) =>
    expect(strength(faulty.action)).toBeGreaterThanOrEqual(Math.min(strength(sound.action), 2))

  test('hostile arguments never throw, and never pass if valid ones do not', () => {
    const name = fc.constantFrom('n', 'd', 's')
    const sound = { n: 1, d: 0.5, s: 'ab' }
    const property = fc.property(
      document,
      asked,
      usage,
      name,
      hostile,
      (text, one, used, at, kind) => {
        const policy = compiled(text)
        const withArgs = (given: object) => ({
          ...one,
          call: { ...one.call, args: given as never },
        })
        const faulty = ask(policy, withArgs({ ...sound, [at]: HOSTILE[kind]?.() }), used)
        expectNoLooser(faulty, ask(policy, withArgs(sound), used))
      },
    )
    fc.assert(property, runs(50))
  })

  test('any junk as the arguments ends in a decision', () => {
    const junk = fc.oneof(
      hostile,
      fc.anything().map((value) => () => value),
      fc.json().map((text) => () => JSON.parse(text)),
    )
    const property = fc.property(document, asked, usage, junk, (text, one, used, make) => {
      const given = typeof make === 'string' ? HOSTILE[make]?.() : make()
      const asking = { ...one, call: { ...one.call, args: given as never } }
      const decision = ask(compiled(text), asking, used)
      expect(ACTIONS).toContain(decision.action)
      expect(typeof decision.reason).toBe('string')
    })
    fc.assert(property, runs(50))
  })

  test('facts that cannot be read never allow more', () => {
    const place = fc.constantFrom(
      'principal',
      'session',
      'agent',
      'transport',
      'callCategory',
      'holdsSecret',
      'ownPaths',
    )
    const inner = fc.constantFrom('id', 'calls', 'saw', 'groups', 'claims', 'depth', undefined)
    const property = fc.property(plainDocument, asked, place, inner, (text, one, at, below) => {
      const poisoned = below === undefined ? at : below
      const base = below === undefined ? one.facts : (one.facts[at as 'session'] ?? {})
      const broken = Object.defineProperty({ ...(base as object) }, poisoned, {
        enumerable: true,
        get: fail,
      })
      const facts = below === undefined ? broken : { ...one.facts, [at]: broken }
      const policy = compiled(text)
      const faulty = ask(policy, { ...one, facts: facts as never }, OPEN)
      if (at === 'agent' && one.facts.agent === null) return
      expectNoLooser(faulty, ask(policy, one, OPEN))
      expect(typeof isVisible(policy, one.call, facts as never, NOW)).toBe('boolean')
    })
    fc.assert(property, runs(50))
  })

  test('counters that fail deny every call that has a limit', () => {
    const thrown = fc.constantFrom(new Error('gone'), undefined, null, 'text', 'a proxy')
    const property = fc.property(document, asked, thrown, (text, one, error) => {
      const policy = compiled(text)
      let looked = 0
      const counted: LimitUsage = {
        look(take) {
          looked++
          return OPEN.look(take, NOW)
        },
      }
      const broken: LimitUsage = {
        look() {
          throw error === 'a proxy' ? trap('x') : error
        },
      }
      const sound = ask(policy, one, counted)
      const faulty = ask(policy, one, broken)
      if (looked === 0) expect(faulty).toEqual(sound)
      else expect(faulty).toMatchObject({ action: 'deny', code: 'POLICY_FAULT', limits: [] })
    })
    fc.assert(property, runs(50))
  })

  test('a list that cannot be built is empty', () => {
    const policy = compiled({ version: 1, default: 'allow' })
    const target = { server: 'a', name: 'get_x', method: 'tools/call' }
    expect(isVisible(policy, target, null as never, NOW)).toBe(false)
  })
})
