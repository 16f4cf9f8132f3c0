// Values by name or glob: the exact one, those that match, and which of them apply.

import { describe, expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import {
  type CompiledPolicy,
  longestWindowMs,
  NameMap,
  narrowest,
  parseRulePointer,
} from './policy.ts'

const map = new NameMap([
  ['a/b', 1],
  ['a/*', 2],
  ['*/*', 3],
  ['*/b', 4],
  ['a/b/c', 5],
])

describe('NameMap', () => {
  test('has a size and its values', () => {
    expect(map.size).toBe(5)
    expect(map.values().sort()).toEqual([1, 2, 3, 4, 5])
    expect(new NameMap([]).size).toBe(0)
  })

  test('lists its entries in one order, however they were written', () => {
    const sorted = [
      ['*/*', 3],
      ['*/b', 4],
      ['a/*', 2],
      ['a/b', 1],
      ['a/b/c', 5],
    ]
    expect(map.entries()).toEqual(sorted)
    expect(new NameMap(map.entries().reverse()).entries()).toEqual(sorted)
  })

  test.each([
    ['a', 'b', 1, [1, 2, 3, 4]],
    ['a', 'b/c', 5, [5, 2, 3]],
    ['c', 'b', undefined, [3, 4]],
    ['a', '__proto__', undefined, [2, 3]],
  ])('%s/%s', (server, name, exact, all) => {
    expect(map.exact(server, name)).toBe(exact)
    expect(map.all(server, name)).toEqual(all)
  })

  test('an empty map finds nothing', () => {
    expect(new NameMap<number>([]).exact('a', 'b')).toBeUndefined()
    expect(new NameMap<number>([]).all('a', 'b')).toEqual([])
  })

  test('a wider glob yields to a narrower one, which is reported', () => {
    const { count, wider } = narrowest(map.globs('a', 'b'))
    expect(count.map(({ glob }) => glob.key)).toEqual(['a/*', '*/b'])
    expect(wider.map(({ glob, than }) => [glob.glob.key, than.glob.key])).toEqual([['*/*', 'a/*']])
  })
})

test('the longest window of any limit is how far back history matters', () => {
  const text = `
version: 1
default: deny
categories: { Read: { action: allow, rate_limit: { max: 1, window: 5m } } }
tools: { a/b: { action: allow, spend_limit: { amount: args.x, max: 1, window: 2d } } }
guardrails: [{ name: g, rate_limit: [{ max: 1, window: 1h }, { max: 2, window: 60 }] }]
`
  const { policy } = compile({ file: 'p.yaml', text })
  expect(longestWindowMs(policy as CompiledPolicy)).toBe(2 * 86_400_000)
  const without = compile({ file: 'p.yaml', text: 'version: 1\ndefault: deny\n' }).policy
  expect(longestWindowMs(without as CompiledPolicy)).toBe(0)
  const under = { ...(without as CompiledPolicy), base: policy as CompiledPolicy }
  expect(longestWindowMs(under)).toBe(2 * 86_400_000)
})

test('the pointer of a decision says whether the base policy has the rule', () => {
  expect(parseRulePointer('house:/guardrails/0')).toEqual({
    isOfBase: true,
    pointer: '/guardrails/0',
  })
  expect(parseRulePointer('/default')).toEqual({ isOfBase: false, pointer: '/default' })
})
