// Whatever the strict reader accepts, JSON.parse accepts with the same value, numbers rounded; what
// JSON.parse refuses, it refuses; and what only it refuses is not reported as a syntax error.

import { ExactNumber, type JsonValue } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { JSON_LIMITS } from './limits.ts'
import { JsonReader, type JsonReading, readJson } from './read-json.ts'
import { skipValue } from './skip-json.ts'

describe('agrees with JSON.parse', () => {
  const pieces = ['"', '\\', '{', '}', '[', ']', ',', ':', '0', '1', '-', '.', 'e', 'E', '+', '\\u']
  const more = [
    ' ',
    '\n',
    '\0',
    '\\ud83d',
    '\\ude00',
    '\ud83d',
    '\ude00',
    '\ufeff',
    '"a":',
    '1e400',
    'null',
    'true',
  ]
  const piece = fc.constantFrom(...pieces, ...more)

  test('on every JSON value, compact or indented', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.nat(3), (value, indent) => {
        expectAgreement(JSON.stringify(value, null, indent), true)
      }),
      runs(2_000),
    )
  })

  test('on long texts, in which quotes are searched for otherwise', () => {
    for (const filler of ['x', 'é', '漢', '\u0122'])
      for (const text of ['a\\"b', '\\\\', '', '\\n"', '"', '\n', '\\u0022'])
        expectAgreement(`{"${text}":["${filler.repeat(300_000)}","${text}"],"z":"${text}"}`, false)
  })

  test('on mutations of JSON', () => {
    const cut = fc.tuple(fc.nat(), fc.nat(3), piece)
    const seed = fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 })
    fc.assert(
      fc.property(seed, fc.array(cut, { minLength: 1, maxLength: 3 }), (value, cuts) => {
        let text = JSON.stringify(value)
        for (const [where, length, put] of cuts) {
          const at = where % (text.length + 1)
          text = text.slice(0, at) + put + text.slice(at + length)
        }
        expectAgreement(text, false)
      }),
      runs(3_000),
    )
  })

  test('on concatenations of its pieces', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
        expectAgreement(parts.join(''), false)
        expectAgreement(`"${parts.join('')}"`, false)
        expectAgreement(`[${parts.join('')}]`, false)
      }),
      runs(3_000),
    )
  })

  test('on numbers, and is exact if the digits are', () => {
    const digits = fc.stringMatching(/^\d{0,25}$/)
    const exponent = fc.option(fc.integer({ min: -345, max: 330 }))
    fc.assert(
      fc.property(fc.nat(9), digits, digits, exponent, (first, whole, fraction, power) => {
        const head = first === 0 ? '0' : `${first}${whole}`
        const text = `${head}${fraction && `.${fraction}`}${power === null ? '' : `e${power}`}`
        expectAgreement(text, Number.isFinite(Number(text)))
        const reading = readJson(text)
        if (!reading.ok) return
        const value = ratio(reading.value instanceof ExactNumber ? text : String(reading.value))
        const written = ratio(text)
        expect(value.over * written.under).toBe(written.over * value.under)
        const printed = ratio(String(Number(text)))
        const isSame = printed.over * written.under === written.over * printed.under
        expect(typeof reading.value === 'number').toBe(isSame)
      }),
      runs(2_000),
    )
  })
})

/** With the value skipped: refused at the same offset for the same reason, or not at all. */
function expectSkippedAlike(text: string, reading: JsonReading): void {
  const reader = new JsonReader(text, JSON_LIMITS)
  let refused: unknown
  try {
    reader.readText(() => skipValue(reader))
  } catch (error) {
    refused = error
  }
  if (reading.ok) expect(refused).toBeUndefined()
  else expect(refused).toMatchObject({ code: reading.code, offset: reading.offset })
}

function expectAgreement(text: string, mustAccept: boolean): void {
  const reading = readJson(text)
  expectSkippedAlike(text, reading)
  let parsed: { value: unknown } | undefined
  try {
    parsed = { value: JSON.parse(text) }
  } catch {}
  if (reading.ok) expect({ value: rounded(reading.value) }).toStrictEqual(parsed)
  else if (reading.code === 'WIRE_SYNTAX') expect(parsed).toBeUndefined()
  if (!reading.ok) {
    expect(reading.offset).toBeGreaterThanOrEqual(0)
    expect(reading.offset).toBeLessThanOrEqual(text.length)
  }
  // The generator's values can only be refused for a lone surrogate.
  if (mustAccept && !reading.ok) expect(reading.code).toBe('WIRE_LONE_SURROGATE')
}

function rounded(value: JsonValue): unknown {
  if (value instanceof ExactNumber) return Number(value.text)
  if (Array.isArray(value)) return value.map(rounded)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rounded(item)]))
}

/** The fraction that a decimal is, without its sign. */
function ratio(text: string): { over: bigint; under: bigint } {
  const [mantissa = '', power = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = Number(power) - fraction.length
  const over = BigInt(whole + fraction)
  return scale < 0
    ? { over, under: 10n ** BigInt(-scale) }
    : { over: over * 10n ** BigInt(scale), under: 1n }
}
