// No reader of foreign text costs more than its text is long: a short search for slow inputs over all
// of them. The long one, at full size, is `npm run soak -- slow-inputs`.

import { describe, expect, test } from 'vitest'
import { seededRandom } from '../policy/reference/random.ts'
import { forms } from '../support/runs.ts'
import { growthExponent } from './measure.ts'
import { TEXT_READERS } from './readers.ts'
import {
  confirm,
  EXPONENT_MAX,
  findSlowInput,
  type SearchOptions,
  type TextReader,
} from './search.ts'
import { rowOf } from './table.ts'

const search: SearchOptions = {
  secondsMax: 0.06,
  runMicrosMax: 20_000,
  charsMax: 65_536,
  random: seededRandom(Number(process.env.SLUICE_SEED ?? 20_261_115)),
}

/** There are many readers, and few grow at all. */
const short: SearchOptions = {
  ...search,
  secondsMax: 0.015,
  runMicrosMax: 6_000,
  charsMax: 32_768,
}

/** CPU for each search for a planted one. A short search that begins again finds more than one that goes on five times as
 * long from a bad beginning; how far one gets depends on the machine, and a busy one is given more time at last. */
const PLANTED_SECONDS = [0.3, 0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.6, 1.5, 1.5, 3, 6, 12, 24]

/** Undefined where it grows no faster than its text, also when it is measured again. */
function findSteep(reader: TextReader, options: SearchOptions): string | undefined {
  const found = findSlowInput(reader, options)
  if (found.exponent <= EXPONENT_MAX) return undefined
  // Longer texts and more runs: noise and what does not grow are less of those.
  const longer = { ...search, runMicrosMax: 40_000, charsMax: 262_144 }
  let again = confirm(reader, found, longer)
  if (again.exponent > EXPONENT_MAX) again = confirm(reader, found, longer)
  return again.exponent > EXPONENT_MAX ? rowOf(again) : undefined
}

describe('F9: every reader of foreign text', () => {
  test.each(TEXT_READERS.map((reader) => [reader.name, reader] as const))(
    '%s grows no faster than its text',
    (_name, reader) => expect(findSteep(reader, short)).toBeUndefined(),
  )
})

describe('the search', () => {
  const planted = forms<[how: string, run: (text: string) => unknown]>([
    ['a test of the whole text for each mark', marksTestWhole],
    ['an expression that reads on from every letter', (text) => /[a-z]+!/.test(text)],
  ])
  test.each(planted)('finds what is planted: %s', (how, run) => {
    const reader = { name: how, charsMax: 1_048_576, prepare: (text: string) => () => run(text) }
    const found = PLANTED_SECONDS.reduce(
      (row: string | undefined, secondsMax) => row ?? findSteep(reader, { ...search, secondsMax }),
      undefined,
    )
    expect(found).toContain(how)
  })

  test('takes a linear reader for one', () => {
    const prepare = (text: string) => () => text.toUpperCase().split(' ').join('_')
    expect(findSteep({ name: 'linear', charsMax: 1_048_576, prepare }, search)).toBeUndefined()
  })

  test('fits the exponent to what was measured', () => {
    const at = (micros: (chars: number) => number) =>
      growthExponent(
        [1_000, 2_000, 4_000, 8_000].map((chars) => ({ chars, micros: micros(chars) })),
      )
    expect(at((chars) => chars)).toBeCloseTo(1)
    expect(at((chars) => chars ** 2)).toBeCloseTo(2)
    expect(at(() => 10)).toBeUndefined()
  })
})

function marksTestWhole(text: string): number {
  let fine = 0
  for (const letter of text) if (letter === '\u200e' && /[א-ת]/.test(text)) fine++
  return fine
}
