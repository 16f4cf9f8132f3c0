// The table of rules: everything in it is written as its reader takes it, and names what there is.

import { expect, test } from 'vitest'
import { OVER_READS, RULES } from './company-rules.ts'
import { NOUN_NAMES } from './nouns.ts'

const ALL = [...OVER_READS, ...RULES]
const rule = (feature: string) => ALL.filter((one) => one.feature === feature)

test('a pattern is the whole feature, unless it begins or ends with a mark', () => {
  const [tie] = rule('takes a tie away')
  expect(tie?.act).toEqual(/^(?:name|text)=(?:remove|kick|strip|exclude)$/)
  expect(tie?.with).toEqual(/^(?:name|text)\.act\+relation\.object$|^out of a holder$/)
  expect(tie?.without?.source).toMatch(/^\\\+access\\\.\|/)
  expect(rule('settles a matter')[0]?.act).toEqual(/^(?:name|text)=(?:un)?resolve$/)
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
