// The rules of combined signals: what their builders make, and that they name what there is.

import { expect, test } from 'vitest'
import { ACT_RULES, READ_RULES } from './combined-rules.ts'
import { either, says, speaksOf, takes } from './feature-patterns.ts'
import { MONEY_RULES } from './money-rules.ts'
import { NOUN_NAMES } from './nouns.ts'
import { toRules } from './rule-list.ts'

const ALL = [READ_RULES, ACT_RULES, MONEY_RULES].flatMap(toRules)
const rule = (feature: string) => ALL.filter((one) => one.feature === feature)

test('a pattern is the whole feature, unless it begins or ends with a mark', () => {
  const [tie] = rule('takes a tie away')
  expect(tie?.act).toEqual(/^(?:name|text)=(?:remove|kick|strip|exclude)$/)
  expect(tie?.with).toEqual(/^(?:name|text)\.act\+relation\.object$|^out of a holder$/)
  expect(tie?.without?.source).toMatch(/^\\\+access\\\.\|/)
  expect(rule('settles a matter')[0]?.act).toEqual(/^(?:name|text)=(?:resolve|unresolve)$/)
  expect(rule('keeps books')[0]?.act).toEqual(/^(?:name|text):(?:make|change|keep|settle|send)$/)
  expect(rule('makes or changes a booking')[0]?.and?.test('arg.deep:buyer')).toBe(true)
  expect(rule('saves what it reads')[0]?.act.test('text=audit')).toBe(true)
  expect(rule('places a call')[0]?.with?.test('call:name')).toBe(true)
  expect(rule('changes a trade')[0]?.without?.test('text=resolve')).toBe(true)
})

test('a feature may have several rules', () => {
  expect(rule('changes a subscription')).toHaveLength(4)
})

test('every noun of a rule is one', () => {
  const named = ALL.flatMap(({ act, with: beside, and, without, ...one }) => [
    ...[act, beside, and, without].flatMap((pattern) =>
      [...(pattern?.source ?? '').matchAll(/\\\+(?:\(\?:([^)]*)\)|(\w+))/g)].flatMap(
        ([, many, noun]) => (many ?? noun ?? '').split('|'),
      ),
    ),
    ...[one.in, one.notIn, one.server].filter((noun) => noun !== undefined),
  ])
  expect(named.length).toBeGreaterThan(150)
  expect(named.filter((noun) => !NOUN_NAMES.includes(noun as never))).toEqual([])
})

test('a word that no table has does not compile', () => {
  const builders = () => [
    // @ts-expect-error: merge
    either.verb('mrege'),
    // @ts-expect-error: logout
    either.verb('logut'),
    // @ts-expect-error: trigger
    either.verb('triger'),
    // @ts-expect-error: change
    either.family('chagne'),
    // @ts-expect-error: access
    speaksOf('acess'),
    // @ts-expect-error: missing
    says('makes what is mising'),
    // @ts-expect-error: query
    takes('querry'),
  ]
  expect(builders()).toHaveLength(7)
})
