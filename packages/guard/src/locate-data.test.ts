import { DATA_KINDS, type DataKind } from '@sluice/policy/calls/data-kinds'
import { ExactNumber } from '@sluice/policy/values/json'
import { expect, test } from 'vitest'
import {
  DETECTOR_FILES,
  locateData,
  readTexts,
  scoreDetectors,
} from '../../../test/support/score-detectors.ts'
import { holdsSecret } from './inspect-answer.ts'
import { canHoldData, holdsData } from './locate-data.ts'
import { cardDigits } from './number-checks.ts'
import { findMaskedSpans } from './secrets.ts'

const ALL = new Set(DATA_KINDS)
const CARD = '4111 1111 1111 1111'
const IBAN = 'DE89 3704 0044 0532 0130 00'
const KEY = `AK${'IA'}QZXW2RTY7UIOPLKJ`

test('false alarms of kinds that may deny are at most 1 %, and recall holds by kind', () => {
  const { recall, harmless } = scoreDetectors(DETECTOR_FILES)
  expect(harmless.map(({ of }) => of)).toEqual([2060, 700, 2760])
  expect(harmless.every(({ bound }) => bound <= 0.01)).toBe(true)
  expect(recall.reduce((sum, { of }) => sum + of, 0)).toBeGreaterThanOrEqual(500)
  for (const { kind, found, of } of recall) expect([kind, found / of > 0.75]).toEqual([kind, true])
})

test('each kind is located where it stands, and nothing beside it', () => {
  const cases: readonly (readonly [DataKind, string])[] = [
    ['card', CARD],
    ['card', '5555-5555-5555-4444'],
    ['card', '5555.5555.5555.4444'],
    ['card', '5555\xa05555\xa05555\xa04444'],
    ['card', '5555\u20115555\u20115555\u20114444'],
    ['iban', IBAN],
    ['iban', 'GB82WEST12345698765432'],
    ['secret', KEY],
    ['ssn', '219-09-9999'],
    ['email', 'ann.lee+x@mail.example.org'],
    ['phone', '+49 170 1234567'],
    ['phone', '(415) 555-2671'],
  ]
  for (const [kind, written] of cases) {
    const text = `see ${written} there`
    const [found, ...more] = locateData(text, ALL) ?? []
    expect([written, found?.group, more]).toEqual([written, kind, []])
    expect(text.slice(found?.start, found?.end)).toBe(written)
  }
  const password = locateData('password=hunter2 ok', ALL) ?? []
  expect(password.map(({ start, end }) => 'password=hunter2 ok'.slice(start, end))).toEqual([
    'hunter2',
  ])
})

test('a value with exponentially many readings as a name is read once', { timeout: 2_000 }, () => {
  const value = `a${'.aAbcAbcAbc'.repeat(13)}1`
  expect(locateData(`password=${value}`, ALL)).toMatchObject([{ start: 9, end: 9 + value.length }])
})

test('a card as a number: too long for a double, or as a float of a table', () => {
  const long = new ExactNumber('4123450000678901233')
  expect(holdsData({ card: long }, 'card')).toBe(true)
  expect(locateData('card 4111111111111111.0', ALL)).toMatchObject([{ start: 5, end: 21 }])
  expect(
    ['4111111111111111.0', '4.111111111111111e15', '4.111111111111111E+15'].map(cardDigits),
  ).toEqual(Array(3).fill('4111111111111111'))
  expect(['4111111111111111.5', '-4111111111111111', '4.1e99', '1.5'].map(cardDigits)).toEqual(
    Array(4).fill(undefined),
  )
})

test.each([
  'order 4539578763621486 is on its way',
  '1234 5678 9012 3456',
  'DE88 3704 0044 0532 0130 00',
  'EAN 4006381333931',
  'tokens: 1,111,111,111,111,111',
  'password: string',
  '2026-11-15 10:20:30.123456',
])('%s is nothing', (text) => {
  expect(locateData(text, ALL)).toEqual([])
})

test('an escaped value is located as the word it stands in', () => {
  const escaped = [...CARD].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')
  const text = `see q=${escaped} there`
  const [found] = locateData(text, ALL) ?? []
  expect(text.slice(found?.start, found?.end)).toBe(`q=${escaped}`)
  const base64 = Buffer.from(`card ${CARD}`).toString('base64')
  expect(locateData(`see ${base64} there`, ALL)?.[0]?.group).toBe('card')
  // No word holds it, so nothing of the text is shown.
  const wide = `AK&#73;A QZXW`.replace(' QZXW', `&NewLine;`)
  expect(locateData(wide, ALL)).toEqual([])
})

test('values in numbers, names and pieces of arguments', () => {
  expect(holdsData({ n: 4111111111111111 }, 'card')).toBe(true)
  expect(holdsData({ [`x ${CARD}`]: 1 }, 'card')).toBe(true)
  expect(holdsData({ cardNumber: '4539578763621486' }, 'card')).toBe(true)
  expect(holdsData({ order: '4539578763621486' }, 'card')).toBe(false)
  expect(holdsData({ db_password: 'abcd' }, 'password')).toBe(true)
  expect(holdsData({ a: 'DE89 3704 0044', b: ' 0532 0130 00' }, 'iban')).toBe(true)
  expect(holdsData({ a: 1, b: [null, true] }, 'iban')).toBe(false)
  expect(holdsSecret({ a: KEY.slice(0, 9), b: KEY.slice(9) })).toBe(true)
  expect(holdsSecret([KEY.slice(0, 5), KEY.slice(5, 10), KEY.slice(10, 15), KEY.slice(15)])).toBe(
    true,
  )
  expect(holdsSecret({ a: 'plain', b: 'words' })).toBe(false)
  let deep: unknown = 'x'
  for (let level = 0; level < 80; level++) deep = [deep]
  expect(holdsData(deep as never, 'card')).toBe(true)
})

test('approvers see the last four digits of a card, and IBANs whole', () => {
  const text = `pay ${CARD} to ${IBAN}`
  const spans = findMaskedSpans(text)
  expect(spans.map(({ start, end }) => text.slice(start, end))).toEqual(['4111 1111 1111 '])
})

test('a seed phrase is twelve or more words of the list in a row', () => {
  const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
  const text = `Keep it safe: ${phrase}.`
  const [found] = locateData(text, ALL) ?? []
  expect(text.slice(found?.start, found?.end)).toBe(phrase)
  expect(found?.kind).toBe('seed phrase')
  const long = `${'zoo '.repeat(23)}vote`
  expect(locateData(long, ALL)?.[0]?.end).toBe(long.length)
  // Eleven of the list and another word, in any place.
  for (const word of phrase.split(' '))
    expect(locateData(phrase.replace(word, 'these'), ALL)).toEqual([])
  expect(locateData('zoo '.repeat(180), ALL)).toHaveLength(1)
  // However many words that are no secret stand before it.
  for (const count of [1, 190, 195, 400]) {
    const behind = `${'which words '.repeat(count)}and ${phrase}`
    expect([count, locateData(behind, ALL)?.at(-1)?.end]).toEqual([count, behind.length])
  }
  expect(locateData(`${phrase}s`, ALL)).toHaveLength(1)
  expect(locateData(`X${phrase}`, ALL)).toEqual([])
  expect(locateData(phrase.replace(' ', ',\n  '), ALL)).toEqual([])
})

test('a message that cannot hold data is settled without being parsed, and no other is', () => {
  const json = (value: unknown) => JSON.stringify({ result: { content: [{ text: value }] } })
  const plain = new Set(DATA_KINDS.filter((kind) => kind !== 'phone'))
  for (const text of ['all is well', 'line one\nline "two"', 'größe: 12 €', 'id 42 of 99'])
    expect([text, canHoldData(json(text), plain)]).toEqual([text, false])
  const base64 = Buffer.from(`card ${CARD}`).toString('base64')
  const escaped = [...CARD].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')
  const odd = [
    CARD,
    IBAN,
    KEY,
    `x\n${KEY}`,
    base64,
    escaped,
    `AK\u200bIA`,
    'a@b.example',
    'pwd=hunter2',
  ]
  for (const text of odd) expect([text, canHoldData(json(text), plain)]).toEqual([text, true])
  expect(canHoldData('{"passphrase":"abcd efgh"}', plain)).toBe(true)
  for (const { text, group } of readTexts(DETECTOR_FILES.sensitive)) {
    const isFound = (locateData(text, new Set([group as DataKind])) ?? [1]).length > 0
    if (isFound) expect([text, canHoldData(json(text), ALL)]).toEqual([text, true])
  }
})

test('what the budget does not allow is not located', () => {
  expect(locateData('x'.repeat(100), ALL, { charsLeft: 50 })).toBeUndefined()
  expect(locateData('%41%42 '.repeat(100), ALL, { charsLeft: 6_000 })).toBeUndefined()
})

test('long texts of escapes are not unfolded past the budget', () => {
  // Half a million at most, whatever the text is long.
  expect(locateData('a \u200e'.repeat(200_000), new Set(['iban'] as const))).toEqual([])
  expect(locateData('a \u200e'.repeat(600_000), new Set(['iban'] as const))).toBeUndefined()
})
