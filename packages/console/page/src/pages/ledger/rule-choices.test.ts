// Which rules a recorded call offers.

import { expect, test } from 'vitest'
import { ruleChoices } from './rule-choices.ts'

const CALL = { method: 'tools/call', rule: '/tools/a', word: 'deny', unknown: false } as const

test('a tool of a known class can be allowed, asked for and denied', () => {
  expect(ruleChoices(CALL)).toBe('all')
  // Hidden by a rule: that rule can be changed.
  expect(ruleChoices({ ...CALL, word: 'hide' })).toBe('all')
})

test('a tool whose class is a guess is not allowed for good', () => {
  expect(ruleChoices({ ...CALL, unknown: true })).toBe('guess')
})

test('a tool that no server has, and what is not a tool, get no rule', () => {
  expect(ruleChoices({ ...CALL, rule: 'built-in', word: 'hide', unknown: true })).toBe('none')
  expect(ruleChoices({ ...CALL, method: 'resources/read' })).toBe('none')
})
