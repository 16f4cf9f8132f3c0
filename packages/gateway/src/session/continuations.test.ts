// Calls that go on without being counted again: once each, not for ever, and not without bound.

import { expect, test } from 'vitest'
import { INPUT_HELD_MS } from '../shared/limits.ts'
import { Continuations } from './continuations.ts'
import { CONTINUATIONS_MAX } from './limits.ts'

test('each is good for one return, in time', () => {
  let nowMs = 0
  const continuations = new Continuations(() => nowMs)
  continuations.give('a')
  continuations.give('a')
  expect([
    continuations.take('a').continues,
    continuations.take('a').continues,
    continuations.take('b').continues,
  ]).toEqual([true, false, false])
  continuations.give('late')
  nowMs = INPUT_HELD_MS
  expect(continuations.take('late').continues).toBe(false)
})

test('the oldest makes room', () => {
  const continuations = new Continuations(() => 0)
  for (let at = 0; at <= CONTINUATIONS_MAX; at++) continuations.give(`${at}`)
  expect(continuations.take('0').continues).toBe(false)
  expect(continuations.take('1').continues).toBe(true)
  expect(continuations.take(`${CONTINUATIONS_MAX}`).continues).toBe(true)
})
