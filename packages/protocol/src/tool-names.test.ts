// Joined and split names: unambiguous, within the length limit, and injective.

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import { joinName, splitToolName } from './tool-names.ts'

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url')

const server = fc.stringMatching(/^[a-z0-9-]{1,24}$/)
/** Short and long, many with a common prefix and many underscores. */
const name = fc
  .tuple(fc.stringMatching(/^_{0,3}[ab_]{0,6}$/), fc.nat(70), fc.stringMatching(/^[abc]{0,4}$/))
  .map(([head, fill, tail]) => head + '_'.repeat(fill % 7) + 'x'.repeat(fill) + tail)

describe('names', () => {
  test.each([
    ['github', 'get_file', 'github__get_file'],
    ['a', '_x', 'a___x'],
    ['a', '__x', 'a____x'],
    ['a-', '', 'a-__'],
    ['a', 'b__c', 'a__b__c'],
  ])('%s and %s: %s', (aServer, aName, joined) => {
    expect(joinName(aServer, aName, hash)).toBe(joined)
    expect(splitToolName(joined)).toEqual({ server: aServer, name: aName })
  })

  test('past 64 characters they keep their start and end in 8 characters of their hash', () => {
    const long = 'x'.repeat(62)
    expect(joinName('a', long.slice(1), hash)).toBe(`a__${long.slice(1)}`)
    const joined = joinName('a', long, hash)
    expect(joined).toBe(`a__${'x'.repeat(53)}${hash(`a__${long}`).slice(0, 8)}`)
    expect(splitToolName(joined)?.server).toBe('a')
  })

  test('truncation leaves no lone surrogate', () => {
    for (let fill = 48; fill < 60; fill++) {
      const joined = joinName('a', 'x'.repeat(fill) + '😀'.repeat(20), hash)
      expect(joined.length).toBeLessThanOrEqual(64)
      expect(joined).not.toMatch(/\p{Surrogate}/u)
    }
  })

  test.each(['', '__x', 'a_b__c', 'A__x', 'a', 'a_b', `${'a'.repeat(25)}__x`, 'a b__c', 'é__x'])(
    '%j names no server',
    (joined) => {
      expect(splitToolName(joined)).toBeUndefined()
    },
  )

  test.each(['', 'a_b', 'A', 'a__b', 'a'.repeat(25)])('%j is no server', (aServer) => {
    expect(() => joinName(aServer, 'x', hash)).toThrow('name of a server')
  })

  test('are never too long, split to their server, and differ if what they name differs', () => {
    const seen = new Map<string, string>()
    fc.assert(
      fc.property(server, name, (aServer, aName) => {
        const joined = joinName(aServer, aName, hash)
        expect(joined.length).toBeLessThanOrEqual(64)
        expect(splitToolName(joined)?.server).toBe(aServer)
        if (aServer.length + 2 + aName.length <= 64) expect(splitToolName(joined)?.name).toBe(aName)
        const meant = JSON.stringify([aServer, aName])
        expect(seen.get(joined) ?? meant).toBe(meant)
        seen.set(joined, meant)
      }),
      runs(20_000),
    )
    const tails = Array.from({ length: 20_000 }, (_, at) =>
      joinName('a', 'x'.repeat(60) + at, hash),
    )
    expect(new Set(tails).size).toBe(20_000)
  })
})
