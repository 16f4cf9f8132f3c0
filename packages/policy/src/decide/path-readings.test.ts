// The guardrail over the gate's files against parser differentials: whichever way a server reads a
// spelling (as written, decoded, with backslashes as separators), a path that leads to a protected
// file is denied.

import { posix } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonValue } from '../core/json.ts'
import { NORMALIZED_CHARS_MAX, PATH_LENGTH_MAX, PATH_READINGS_MAX } from '../language/limits.ts'
import { shortPaths } from './path-readings.ts'
import { mentionsProtectedFile } from './protected-files.ts'

const OWN = ['/desk/gate/policy.yaml', '/desk/gate/.sluice', '/desk/jos\u00e9 b/rules']
const BASE = '/desk'
const isNamed = (value: JsonValue) => mentionsProtectedFile(value, OWN, { bases: [BASE] })

test.each([
  '/desk/a%2fb/../gate/policy.yaml',
  '/desk/a%5cb/../gate/policy.yaml',
  '/desk/a\\b/../gate/policy.yaml',
  'a\\b/../gate/policy.yaml',
  'a%2Fb/../gate/policy.yaml',
  'a%252fb/../gate/policy.yaml',
  'a%25252fb%2fc/../../gate/policy.yaml',
  'file:///desk/a%5cb/../gate/policy.yaml',
  'cat /desk/a\\b/../gate/policy.yaml',
  'cat a%2fb/../gate/policy.yaml | sh',
  // Resolved before decoding, as URL parsers do.
  'file:///desk/a%2fb/%2e%2e/gate/policy.yaml',
  'file:///desk/a%2fb/../%67ate/policy.yaml',
  'curl file:///desk/a%2fb/../gate/%70olicy.yaml',
  'file:///desk/ga\nte/x/../policy.yaml',
  // A directory with the name of a home or a variable.
  '~/../gate/policy.yaml',
  '$x/../gate/policy.yaml',
  'file:/../gate/policy.yaml',
  '/DESK/gate/policy.yaml?x',
])('F1: each reading of `%s` is resolved by itself', (text) => {
  expect(isNamed({ text })).toBe(true)
  expect(isNamed(text)).toBe(true)
})

test.each(['a%2fb/gate/policy.yaml', 'a\\b/c.txt', '100%25 of a/../b', 'C:\\x\\..\\y', '%%%2e%2e'])(
  'F1: and `%s` passes',
  (text) => {
    expect(isNamed({ text })).toBe(false)
  },
)

test('F1: a path with more readings than are checked is denied', () => {
  const many = `a\\b%${'25'.repeat(PATH_READINGS_MAX / 2)}2fc/../../x/policy.yaml`
  expect(isNamed({ many })).toBe(true)
})

test('F2: padding does not hide a path, and a long text is not a path', () => {
  const lookup = (path: string) => (path === '/desk/link' ? OWN[0] : undefined)
  const place = { bases: [BASE], startLookups: () => lookup }
  for (const padding of ['./'.repeat(2_100), 'sub/../'.repeat(700), '.\\'.repeat(2_100)]) {
    expect(isNamed(`${padding}gate/policy.yaml`)).toBe(true)
    expect(isNamed(`cat ${padding}gate/policy.yaml`)).toBe(true)
    expect(mentionsProtectedFile(`${padding}link`, OWN, place)).toBe(true)
    expect(mentionsProtectedFile(`${padding}other`, OWN, place)).toBe(false)
  }
  const long = 'a/b.'.repeat(PATH_LENGTH_MAX)
  expect(mentionsProtectedFile(long, OWN, place)).toBe(false)
  expect(isNamed(`${long}/policy.yaml`)).toBe(true)
  expect(isNamed(`${'ab/c'.repeat(PATH_LENGTH_MAX)}rules`)).toBe(false)
})

test('F3: composed and decomposed letters are the same name', () => {
  for (const path of [
    '/desk/jos\u00e9 b/rules',
    'jos\u00e9 b/rules',
    'see /desk/jos\u00e9 b/rules',
  ])
    for (const form of ['NFC', 'NFD'] as const)
      for (const text of [path.normalize(form), encodeURI(path.normalize(form))])
        expect(isNamed({ text })).toBe(true)
  const decomposed = OWN.map((path) => path.normalize('NFD'))
  expect(mentionsProtectedFile('/desk/jos\u00e9 b/x/../rules', decomposed)).toBe(true)
  expect(isNamed('gate/\uff50olicy.yaml')).toBe(true)
  expect(isNamed('jose b/rules')).toBe(false)
  expect(isNamed('\u0e01\u0e33 \u6587\u5b57')).toBe(false)
})

test('F3: more text with other forms than is normalised is denied', () => {
  const isNamedTwice = (letter: string) => isNamed(letter.repeat(NORMALIZED_CHARS_MAX + 1))
  expect(isNamedTwice('\uff41')).toBe(true)
  expect(isNamedTwice('\u00e9')).toBe(false)
})

test('F3: a run of combining marks that would take long to sort is denied', () => {
  expect(isNamed('a\u0316\u0301'.repeat(1_000))).toBe(false)
  expect(isNamed(`a${'\u0301\u0316'.repeat(1_000)}`)).toBe(true)
})

test('F4: links are followed if the path has a newline', () => {
  const lookup = (path: string) => (path === '/desk/a\nb' ? OWN[0] : undefined)
  const place = { bases: [BASE], startLookups: () => lookup }
  for (const text of ['a\nb', '/desk/a\nb', 'file:///desk/a%0ab'])
    expect(mentionsProtectedFile({ text }, OWN, place)).toBe(true)
})

test('F5: equal texts of a list are looked up once', () => {
  let lookups = 0
  const lookup = () => void lookups++
  const place = { bases: [BASE], startLookups: () => lookup }
  expect(
    mentionsProtectedFile({ list: Array.from({ length: 20_000 }, () => 'work') }, OWN, place),
  ).toBe(false)
  expect(lookups).toBe(1)
})

test.each([
  'x y/sluice.yaml',
  'x%20y/sluice.yaml',
  'sluice.yaml/',
  'sluice.yaml/.',
  'file:sluice.yaml',
  'x/../sluice.yaml/x/..',
  ' ./Sluice.yaml ',
  'x\ny/../identity.key',
])('F10: `%s` is a name of the gate', (text) => {
  expect(mentionsProtectedFile({ text }, OWN, { bases: [] })).toBe(true)
})

const pieces = fc.constantFrom(
  'x/../',
  './',
  '/',
  'a%2fb/../',
  'a%5cb/../',
  'a\\b/../',
  'a%252fb/../',
  '%2e/',
  'x/%2e%2e/',
  'x\ny/../',
  '.\\',
  '~/../',
  'a%2fb/../../',
  'a\\b\\..\\..\\',
  '%2e%2e%2f',
  '../desk/',
)

test('F1: no mutation of a path passes that any reading resolves to the file', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...OWN),
      fc.array(pieces, { maxLength: 4 }),
      fc.array(fc.nat(5), { minLength: 4, maxLength: 4 }),
      fc.record({
        isRelative: fc.boolean(),
        isUpper: fc.boolean(),
        form: fc.constantFrom('NFC', 'NFD'),
        encoded: fc.nat(2),
        prefix: fc.constantFrom('', '', 'file:', 'file://', 'FILE://localhost'),
        suffix: fc.constantFrom('', '/', '/.', '//', '/x/..', '\\'),
      }),
      (own, inserted, places, how) => {
        const segments = own.split('/').slice(1)
        const start = how.isRelative ? 1 : 0
        inserted.forEach((piece, at) => {
          const place = start + ((places[at] as number) % (segments.length - start))
          segments[place] = piece + segments[place]
        })
        let text = segments.slice(start).join('/')
        if (!how.isRelative) text = `/${text}`
        if (how.isUpper) text = text.toUpperCase()
        text = text.normalize(how.form) + how.suffix
        for (let round = 0; round < how.encoded; round++) text = encodeURIComponent(text)
        text = how.prefix + text
        if (!leads(text, own)) return
        expect([text, isNamed({ text })]).toEqual([text, true])
      },
    ),
    { numRuns: 3_000 },
  )
})

/** What Node makes of the text, in the readings that servers use. */
function leads(text: string, own: string): boolean {
  const stripped = text.replace(/^file:(?:\/\/(?:localhost(?=\/))?)?/i, '')
  const once = decodeAll(stripped)
  const readings = [text, stripped, once, decodeAll(once), decodeAll(decodeAll(once))]
  return readings
    .flatMap((each) => [each, each.replaceAll('\\', '/')])
    .some((each) => fold(posix.resolve(BASE, each)) === fold(own))
}

function decodeAll(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

test('F5: climbs with one kind of separator are read once, not once a segment', () => {
  // Quadratic time at this length would exceed the test's timeout.
  const climbs = '\\..'.repeat(700_000)
  const budget = { stepsLeft: Number.MAX_SAFE_INTEGER }
  expect(shortPaths(climbs, budget)).toEqual(['/'])
  expect(shortPaths(`${'x\\..\\'.repeat(2_000)}a/b`, budget)).toContain('a/b')
})
