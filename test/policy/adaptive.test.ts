// Attacks that adapt to `protect`: a few of each class, with their controls. `npm run eval -- adaptive` plays more, and
// searches.

import { expect, test } from 'vitest'
import {
  generateAddresses,
  generateAttacks,
  generateHosts,
  isGivenUp,
} from '../cases/adaptive/generate.ts'
import { passes, passesAsked, passesEgress, passesPlainly, search } from '../cases/adaptive/play.ts'

const SEED = 20_261_117
const attacks = generateAttacks(SEED, 30)

test('strict lets none pass', () => {
  expect(attacks.length).toBeGreaterThanOrEqual(9 * 30)
  const through = attacks.filter((attack) => passes(attack, 'strict'))
  expect(through.filter((attack) => !isGivenUp(attack)).map(({ choice }) => choice)).toEqual([])
  expect(through.filter(isGivenUp)).toEqual(attacks.filter(isGivenUp))
})

test.each(['strict', 'balanced'] as const)(
  '%s holds an order in clear, and not what the user asks for',
  (level) => {
    for (const attack of attacks) {
      expect(passesPlainly(attack, level), JSON.stringify(attack.goal)).toBe(false)
      expect(passesAsked(attack, level), JSON.stringify(attack.choice)).toBe(true)
    }
  },
)

test('balanced lets fewer than a quarter pass, and the search finds those', () => {
  const through = attacks.filter((attack) => passes(attack, 'balanced'))
  expect(through.length).toBeLessThan(attacks.length / 4)
  expect(through.length).toBeGreaterThan(0)
  const held = attacks.find((attack) => attack.class === 'form' && !passes(attack, 'balanced'))
  const found = held && search(held, 'balanced', SEED)
  expect(found !== undefined && passes(found, 'balanced')).toBe(true)
})

test('no host passes `egress`', () => {
  expect(generateHosts(SEED, 60).filter(passesEgress)).toEqual([])
  expect(generateAddresses(SEED, 60).filter(passesEgress)).toEqual([])
})
