// Conditions, beyond what cases as data can express: what an expression may walk, and arguments and
// faults that YAML cannot represent.

import { describe, expect, test } from 'vitest'
import { compiled } from '../../../../../test/support/arbitrary-policies.ts'
import type { KnownTool } from '../../calls/tools.ts'
import { sampleFacts } from '../../cases/sample-facts.ts'
import { MemoryCounters } from '../../counters/memory-counters.ts'
import { decide } from '../../decide/decide.ts'
import type { CompiledPolicy } from '../../model/policy.ts'
import type { JsonObject } from '../../values/json.ts'

const TEXTS = { type: 'array', items: { type: 'string' } }
const TOOL: KnownTool = {
  definition: {
    server: 'a',
    name: 'put',
    inputSchema: {
      type: 'object',
      properties: {
        any: {},
        n: { type: 'integer' },
        d: { type: 'number' },
        s: { type: 'string' },
        t: { type: 'string' },
        list: TEXTS,
        more: TEXTS,
        map: { type: 'object', additionalProperties: true },
      },
    },
  },
  category: 'Write',
  risk: 'medium',
}

function ask(policy: CompiledPolicy, { args }: { args: JsonObject }) {
  const call = { server: 'a', name: 'put', method: 'tools/call', args }
  const now = { wallMs: 0, monotonicMs: 0 }
  return decide(policy, call, sampleFacts(TOOL), new MemoryCounters(), now)
}

const withRule = (rule: object) =>
  compiled({ version: 1, default: 'deny', tools: { 'a/put': rule } })

describe('what an expression may walk', () => {
  const long = (count: number) => Array.from({ length: count }, () => 'x')
  const cases: readonly [string, string, JsonObject, 'allow' | string][] = [
    ['1,000 entries', 'size(args.list) > 0', { list: long(1_000) }, 'allow'],
    ['1,001 entries', 'size(args.list) > 0', { list: long(1_001) }, '1001 entries'],
    [
      'entries once for each place',
      'size(args.list) > 0 && size(args.list) < 900',
      { list: long(600) },
      '1200 entries',
    ],
    ['65,536 characters', 'args.s != ""', { s: 'x'.repeat(65_536) }, 'allow'],
    ['65,537 characters', 'args.s != ""', { s: 'x'.repeat(65_537) }, '65537 characters'],
    [
      'characters of several together',
      'args.s != args.t',
      { s: 'x'.repeat(40_000), t: 'y'.repeat(40_000) },
      '80000 characters',
    ],
    [
      'a pattern counts eight times',
      'args.s.matches("^x*$")',
      { s: 'x'.repeat(8_193) },
      '65544 characters',
    ],
    [
      'names of an object count',
      'size(args.map) == 1',
      { map: { ['x'.repeat(70_000)]: 1 } },
      '70000 characters',
    ],
    [
      'a list in a macro over another, times its entries',
      'args.list.all(x, x in args.more)',
      { list: long(40), more: long(40) },
      '1680 entries',
    ],
    [
      'the same within the bound',
      'args.list.all(x, x in args.more)',
      { list: long(20), more: long(40) },
      'allow',
    ],
    [
      'text in a macro, times the entries',
      'args.list.exists(x, args.s.contains(x))',
      { list: long(100), s: 'x'.repeat(700) },
      '70200 characters',
    ],
    [
      'a macro over two lists together',
      '(args.list + args.more).all(x, x in args.more)',
      { list: long(5), more: long(5) },
      'allow',
    ],
    [
      'a macro over what the expression writes',
      '["a", "b"].exists(x, x == args.s)',
      { s: 'b' },
      'allow',
    ],
    [
      'a macro that reads no argument',
      '["a", "b"].exists(x, x == principal.id) || args.s == "b"',
      { s: 'b' },
      'allow',
    ],
    [
      'a macro over a list that is not there',
      'args.list.exists(x, args.s.contains(x)) || true',
      { s: 'x' },
      'allow',
    ],
    [
      'a macro over an object',
      'args.map.exists(k, k == args.s)',
      { map: { x: 1 }, s: 'x' },
      'allow',
    ],
    ['an object in an object, exact', 'args.map.a.b == 1.5', { map: { a: { b: 1.5 } } }, 'allow'],
  ]

  test.each(cases)('%s: %s', (_what, when, args, expected) => {
    const { action, reason } = ask(withRule({ action: 'allow', when }), { args })
    if (expected === 'allow') expect({ action, reason }).toEqual({ action: 'allow', reason: '' })
    else expect(reason).toContain(`it would walk ${expected}, the limit is`)
  })

  test('macros are bounded too: entries times the parts of the body', () => {
    const body = `x != "y" && ${Array.from({ length: 20 }, () => 1).join(' + ')} == 20`
    const policy = withRule({ action: 'allow', when: `args.list.all(x, ${body})` })
    expect(ask(policy, { args: { list: long(10) } }).action).toBe('allow')
    const { action, reason } = ask(policy, { args: { list: long(400) } })
    expect(action).toBe('deny')
    expect(reason).toMatch(/its macros would run \d+ parts, the limit is/)
  })
})

describe('conditions', () => {
  test.each<[string, string, unknown]>([
    ['neither true nor false', 'args.any', 5],
    ['text', 'args.any', 'true'],
    ['null', 'args.any', null],
  ])('one that comes to %s is not decided', (_what, when, any) => {
    const { action, reason } = ask(withRule({ action: 'allow', when }), { args: { any } as never })
    expect(action).toBe('deny')
    expect(reason).toMatch(/^its condition cannot be decided: /)
  })

  test.each<[string, unknown, string]>([
    ['an error that says nothing', {}, 'the expression failed'],
    [
      'an error that speaks like the library',
      new Error('Unknown variable: s99'),
      '`` is not there',
    ],
  ])('%s is not decided', (_what, thrown, why) => {
    const any = Object.defineProperty({}, 'x', {
      enumerable: true,
      get() {
        throw thrown
      },
    })
    const { reason } = ask(withRule({ action: 'allow', when: 'size(args.any) > 0' }), {
      args: { any } as never,
    })
    expect(reason).toBe(`its condition cannot be decided: ${why}`)
  })

  test('one that does not fit the declared types is never decided', () => {
    const policy = withRule({ action: 'allow', when: 'args.s > 5', otherwise: 'require_approval' })
    const decision = ask(policy, { args: { s: 'x' } })
    expect(decision.action).toBe('require_approval')
    expect(decision.reason).toMatch(/^its condition cannot be decided: /)
  })

  test('NaN compares false with everything, so it is not compared', () => {
    const policy = withRule({ action: 'deny', when: 'args.d > 100.0', otherwise: 'allow' })
    expect(ask(policy, { args: { d: 1 } }).action).toBe('allow')
    expect(ask(policy, { args: { d: Number.NaN } }).action).toBe('deny')
  })
})
