import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { Files } from './files.ts'
import { compileGlob } from './glob.ts'
import { normalisePath } from './paths.ts'
import { compilePattern } from './pattern.ts'
import type { Limits } from './protocol.ts'
import { utf8Bytes } from './text.ts'
import { WorkBudget } from './work-budget.ts'

const LIMITS = { fileBytesMax: 100, totalBytesMax: 250, filesMax: 4 } as Limits

describe('paths', () => {
  test.each([
    ['./b.txt', 'b.txt'],
    ['/src/fetch.ts', 'src/fetch.ts'],
    ['v1..v2.txt', 'v1..v2.txt'],
    ['a//b/../c.txt', 'a/c.txt'],
    ['...', '...'],
    ['.hidden', '.hidden'],
    ['a/./b', 'a/b'],
  ])('%s is %s', (given, path) => {
    expect(normalisePath(given)).toBe(path)
  })

  test.each([
    '..',
    '../a',
    'a/../../b',
    '/',
    '.',
    '',
    'a/',
    'a\0b',
    'a/..',
    '\ud800',
    'x'.repeat(1_025),
  ])('traversal and nonsense: %j is refused', (given) => {
    expect(() => normalisePath(given)).toThrow()
  })

  test.each([undefined, null, 7, {}, []])('%j is no path', (given) => {
    expect(() => normalisePath(given)).toThrow(/a path is a text/)
  })

  test('a normalised path stays itself and has no dots that mean something', () => {
    const part = fc.constantFrom('a', 'b.txt', '.', '..', '', 'v1..v2')
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        let path: string
        try {
          path = normalisePath(parts.join('/'))
        } catch {
          return
        }
        expect(normalisePath(path)).toBe(path)
        expect(path.split('/')).not.toContain('..')
      }),
    )
  })
})

describe('limits', () => {
  test('hold for a file, for all files, and for their number, also by edit', () => {
    const files = new Files()
    files.put('a', 'x'.repeat(100), 1, LIMITS)
    expect(() => files.put('b', 'x'.repeat(101), 1, LIMITS)).toThrow(/at most 100/)
    const edit = { path: 'a', old_string: 'x'.repeat(100), new_string: 'x'.repeat(101) }
    expect(() => files.edit(edit, 1, LIMITS, new WorkBudget())).toThrow(/at most 100/)
    files.put('b', 'x'.repeat(100), 1, LIMITS)
    expect(() => files.put('c', 'x'.repeat(51), 1, LIMITS)).toThrow(/at most 250/)
    files.put('c', 'é'.repeat(25), 1, LIMITS)
    expect(files.totalBytes).toBe(250)
    files.put('a', '', 1, LIMITS)
    files.put('d', '', 1, LIMITS)
    expect(() => files.put('e', '', 1, LIMITS)).toThrow(/no more/)
    files.put('./d', 'y', 2, LIMITS)
    files.delete('/d')
    expect(files.count).toBe(3)
  })

  test('what a program wrote is merged whole or not at all', () => {
    const files = new Files()
    files.put('keep', '1', 1, LIMITS)
    const write = [
      { path: 'new', text: '2' },
      { path: 'big', text: 'x'.repeat(200) },
    ]
    expect(files.merge(write, ['keep'], undefined, 2, LIMITS)?.code).toBe('AGENT_LIMIT')
    expect(files.facts().map(({ path }) => path)).toEqual(['keep'])
    expect(files.totalBytes).toBe(1)
    expect(files.merge(write.slice(0, 1), ['keep', 'gone'], undefined, 2, LIMITS)).toBeUndefined()
    expect(files.facts().map(({ path }) => path)).toEqual(['new'])
  })

  test('bytes are counted as UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text))
      }),
    )
  })
})

describe('reading and editing', () => {
  test('pages until the end', () => {
    const files = new Files()
    const limits = { fileBytesMax: 1e6, totalBytesMax: 1e6, filesMax: 10 } as Limits
    const lines = Array.from({ length: 25 }, (_, at) => `line ${at}`)
    files.put('a', lines.join('\n'), 1, limits)
    const read: string[] = []
    for (let offset: number | null = 0; offset !== null; ) {
      const page = files.read('a', offset, 10, new WorkBudget()) as {
        content: string
        nextOffset: number | null
      }
      read.push(...page.content.split('\n'))
      offset = page.nextOffset
    }
    expect(read).toEqual(lines)
  })

  test('an ambiguous or empty old_string is an error', () => {
    const files = new Files()
    files.put('a', 'one two one', 1, LIMITS)
    const edit = (old_string: string, more = {}) =>
      files.edit({ path: 'a', old_string, new_string: '$&', ...more }, 2, LIMITS, new WorkBudget())
    expect(() => edit('')).toThrow(/empty/)
    expect(() => edit('one')).toThrow(/2 times/)
    expect(() => edit('three')).toThrow(/not in/)
    expect(edit('two')).toMatchObject({ replaced: 1 })
    expect(edit('one', { replace_all: true })).toMatchObject({ replaced: 2 })
    expect(files.get('a').content).toBe('$& $& $&')
  })
})

describe('globs', () => {
  test.each([
    ['**/*.ts', 'a/b/c.ts', true],
    ['**/*.ts', 'c.ts', true],
    ['src/**', 'src/a/b', true],
    ['src/*.ts', 'src/a/b.ts', false],
    ['*.{ts,js}', 'a.js', true],
    ['a?c', 'abc', true],
    ['*', 'a/b', false],
    ['/a', 'a', true],
    ['a*b*c', 'aXbXbc', true],
    ['[x]', '[x]', true],
  ])('%s on %s: %s', (glob, path, matches) => {
    expect(compileGlob(glob)(path)).toBe(matches)
  })

  test('exponential globs do not exist', () => {
    const glob = compileGlob(`${'*a'.repeat(60)}b`)
    expect(glob('a'.repeat(1_000))).toBe(false)
    expect(compileGlob(`${'**/'.repeat(60)}x`)(`${'a/'.repeat(200)}y`)).toBe(false)
  })

  test('a glob that is slow on each of many names is refused: other agents wait for it', () => {
    const slow = compileGlob(`${'*a'.repeat(200)}b`)
    const names = Array.from({ length: 900 }, (_, at) => `${'a'.repeat(1_000)}${at}`)
    expect(() => names.filter(slow)).toThrow(/more steps/)
    const plain = compileGlob('**/src/*.{ts,js}')
    expect(Array.from({ length: 1_000 }, (_, at) => `a/src/${at}.ts`).every(plain)).toBe(true)
  })
})

describe('patterns', () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\d',
    '(a|b)',
    '(?:ab)',
    '^',
    '$',
    'é',
  )
  const piece = fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,3}', '{2}', '*?'))
  const source = fc
    .array(
      piece.map(([a, q]) => (a === '^' || a === '$' ? a : a + q)),
      { minLength: 1, maxLength: 6 },
    )
    .map((parts) => parts.join(''))
    .filter((text) => !/\$.*\^/.test(text))

  test('match what JavaScript matches', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', 'é', ' '), maxLength: 12 })
    fc.assert(
      fc.property(source, line, fc.boolean(), (text, input, ignoreCase) => {
        const expected = new RegExp(text, ignoreCase ? 'i' : '').test(input)
        expect(compilePattern(text, ignoreCase).test(input)).toBe(expected)
      }),
      runs(2_000),
    )
  })

  test('catastrophic backtracking: (a+)+$ over 50,000 letters ends', () => {
    expect(compilePattern('(a+)+$', false).test(`${'a'.repeat(50_000)}b`)).toBe(false)
    expect(compilePattern('(a|a)*b', false).test('a'.repeat(50_000))).toBe(false)
  })

  test('an automaton that never finds its states again is refused', () => {
    let state = 1
    const random = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return state
    }
    const text = Array.from({ length: 100_000 }, () => 'ab'[(random() >> 16) & 1]).join('')
    const costly = compilePattern('(a|b)*a(a|b){60}c', false)
    expect(() => costly.test(text)).toThrow(/more steps/)
  })

  test('a grep that ends before the files do says where to go on, and misses nothing', () => {
    const files = new Files()
    const limits = { fileBytesMax: 4e6, totalBytesMax: 1e7, filesMax: 10 } as Limits
    const line = (at: number) => (at % 97 === 0 ? `hit ${at}` : 'x'.repeat(at % 60))
    for (const name of ['a', 'b', 'c'])
      files.put(name, Array.from({ length: 9_000 }, (_, at) => line(at)).join('\n'), 1, limits)
    const found: string[] = []
    type GrepAnswer = {
      matches: { path: string; line: number }[]
      goOnAfter: string
      goOnLine: number
    }
    let calls = 0
    for (let more: object | null = {}; more !== null; calls += 1) {
      const answer = files.grep({ pattern: 'h[i]t', ...more }, new WorkBudget()) as GrepAnswer
      found.push(...answer.matches.map(({ path, line: at }) => `${path}${at}`))
      const { goOnAfter: after, goOnLine } = answer
      more = after === null ? null : { after, ...(goOnLine ? { after_line: goOnLine } : {}) }
    }
    expect(calls).toBeGreaterThan(2)
    expect(new Set(found).size).toBe(found.length)
    expect(found).toHaveLength(3 * Math.ceil(9_000 / 97))
  })

  test.each(['(', ')', '[', 'a{2,1}', '*a', 'a\\', '(?=a)', '\\1', 'a{999}', '('.repeat(300)])(
    '%s is refused with a reason',
    (text) => {
      expect(() => compilePattern(text, false)).toThrow(/cannot be used|characters/)
    },
  )
})
