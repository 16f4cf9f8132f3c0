import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import { isInsideDirectory, parsePolicyPath } from './path.ts'
import { UndecidableError } from './undecidable-error.ts'

type Answer = boolean | 'undecided'

function ask(text: string, dir: string): Answer {
  try {
    return isInsideDirectory(parsePolicyPath(text), dir)
  } catch (error) {
    if (error instanceof UndecidableError) return 'undecided'
    throw error
  }
}

const DECIDED: readonly [text: string, dir: string, answer: boolean][] = [
  ['/srv', '/srv', true],
  ['/srv/', '/srv', true],
  ['/srv/data/a.txt', '/srv', true],
  ['/srv/data/a.txt', '/srv/', true],
  ['/srv/data/a.txt', '/srv/./data//', true],
  ['/srv/./data//a', '/srv/data', true],
  ['/srv/x/../y', '/srv', true],
  ['/other/../srv/y', '/srv', true],
  ['/../../srv/y', '/srv', true],
  ['/anything', '/', true],
  ['/srvx', '/srv', false],
  ['/srv-old/a', '/srv', false],
  ['/', '/srv', false],
  ['/etc/passwd', '/srv', false],
  ['/srv/../etc/passwd', '/srv', false],
  ['/srv/data/../../etc/passwd', '/srv/data', false],
  ['/a/srv/x', '/srv', false],
  ['/constructor/__proto__', '/srv', false],
  ['/srv/50% off', '/srv', true],
  ['/srv/100%zz', '/srv', true],
  ['/srv/100%', '/srv', true],
  ['/srv/%2', '/srv', true],
  ['/srv/a%20b', '/srv', true],
  ['/srv/%25zz', '/srv', true],
  ['/srv/a%2fb', '/srv', true],
  ['/etc/a%20b', '/srv', false],
  ['/srv/a\\b', '/srv', true],
  ['/etc/a\\b', '/srv', false],
  ['/srv/name. ', '/srv', true],
  ['/srv/10:30.log', '/srv', true],
  ['/srv/Grüße/日本語.txt', '/srv', true],
  ['/srv/Grüße/a', '/srv/Grüße', true],
  ['/srv/.git/..a/a..b', '/srv', true],
  ['/proc/cpuinfo', '/proc', true],
  ['/dev/null', '/srv', false],
  ['/srv/proc/fd/root', '/srv', true],
  ['data/a', 'data', true],
  ['./data/a', 'data', true],
  ['a/../data', './data', true],
  ['a', '.', true],
  ['.', '.', true],
  ['database', 'data', false],
  ['data/../other', 'data', false],
  ['C:\\data\\a', 'C:\\data', true],
  ['c:/data/a', 'C:\\data', true],
  ['C:\\data/../x', 'C:/data', false],
  ['C:\\..\\data', 'C:\\data', true],
  ['D:\\work', 'C:\\data', false],
  ['file:///srv/x', '/srv', true],
  ['FILE:///srv/my%20x', '/srv', true],
  ['file:///', '/', true],
  ['file:///etc/passwd', '/srv', false],
  ['file:///C:/data/x', 'c:/data', true],
]

const ATTACKS: readonly [name: string, text: string, dir: string][] = [
  ['an encoded climb', '/srv/%2e%2e/etc/passwd', '/srv'],
  ['an encoded climb, seen from elsewhere', '/a/%2e%2e/b', '/srv'],
  ['an encoded slash before a climb', '/srv/..%2fetc/passwd', '/srv'],
  ['a doubly encoded climb', '/srv/%252e%252e/etc', '/srv'],
  ['an encoding within an encoding', '/srv/%%32e%2%65/etc', '/srv'],
  ['nine rounds of encoding', `/srv/%${'25'.repeat(8)}41`, '/srv'],
  ['an encoded slash that makes the directory', '/srv%2fx', '/srv'],
  ['normalised before it is decoded', '/srv/x%2fy/../%2e%2e/z', '/srv'],
  ['normalised before backslashes are turned', '/srv/x\\y/../..\\z', '/srv'],
  ['a climb with backslashes', '/srv/..\\..\\etc', '/srv'],
  ['an encoded backslash', '/srv/..%5cetc', '/srv'],
  ['a backslash that makes the directory', '/srv\\x', '/srv'],
  ['a leading backslash', '\\srv\\x', '/srv'],
  ['a NUL', '/srv/a\0.png', '/srv'],
  ['an encoded NUL', '/srv/a%00.png', '/srv'],
  ['a line break', '/srv/a\n/etc', '/srv'],
  ['a C1 control character', '/srv/a\u0085', '/srv'],
  ['a line separator', '/srv/a\u2028', '/srv'],
  ['half a character', '/srv/a\ud800', '/srv'],
  ['a home directory', '~/x', '.'],
  ["another user's home directory", '~root/x', '/srv'],
  ['an encoded home directory', '%7e/x', '.'],
  ['a variable', '$HOME/x', '.'],
  ['a space in front', ' /srv/x', '.'],
  ['a no-break space in front', '\u00a0/etc', '.'],
  ['relative against absolute', 'srv/x', '/srv'],
  ['absolute against relative', '/srv/x', 'srv'],
  ['a relative climb', '../x', '.'],
  ['a relative climb from within', 'a/../../x', 'a'],
  ['an overlong dot', '/srv/%c0%ae%c0%ae/etc', '/srv'],
  ['an overlong slash', '/srv/..%c0%af', '/srv'],
  ['an encoded half character', '/srv/%ed%a0%80', '/srv'],
  ['Latin-1', '/srv/%e9', '/srv'],
  ['an encoding of IIS', '/srv/%u002e%u002e/etc', '/srv'],
  ['an encoding with fullwidth digits', '/srv/%２ｅ', '/srv'],
  ['a drive against a slash', 'C:\\srv\\x', '/srv'],
  ['a slash against a drive', '/data/x', 'C:\\data'],
  ['a path relative to a drive', 'C:work', 'C:\\data'],
  ['a drive alone', 'C:', 'C:/'],
  ['an encoded drive', 'C%3a/work', 'C:/data'],
  ['a drive after a slash', '/C:/data', '/'],
  ['a short name on a drive', 'C:\\PROGRA~1\\x', 'C:\\data'],
  ['UNC', '\\\\host\\share', '/srv'],
  ['UNC with slashes', '//srv/x', '/srv'],
  ['UNC, mixed', '/\\srv/x', '/srv'],
  ['UNC, encoded', '/%2fsrv/x', '/srv'],
  ['a device path', '\\\\?\\C:\\data', 'C:\\data'],
  ['a file URL with a host', 'file://host/srv/x', '/srv'],
  ['a file URL with one slash', 'file:/srv/x', '/srv'],
  ['a file URL with four slashes', 'file:////srv/x', '/srv'],
  ['a file URL with a climb', 'file:///../srv/x', '/srv'],
  ['a file URL with a query', 'file:///srv?/x', '/srv'],
  ['a file URL with a fragment', 'file:///srv/x#y', '/srv'],
  ['a file URL with the old spelling of a drive', 'file:///C|/x', 'C:/'],
  ['an encoded file URL', 'file%3a///srv/x', '.'],
  ['another URL', 'https://example.com/x', '.'],
  ['a stream wrapper', 'php://filter/resource=x', '.'],
  ['a trailing dot on the directory', '/srv./x', '/srv'],
  ['a trailing space on the directory', '/srv /x', '/srv'],
  ['a trailing no-break space on the directory', '/srv\u00a0/x', '/srv'],
  ['a stream on the directory', '/srv::$INDEX_ALLOCATION/x', '/srv'],
  ['three dots', '/srv/.../x', '/srv'],
  ['a climb with a space', '/srv/.. /x', '/srv'],
  ['a climb with a plus', '/srv/..+/x', '/srv'],
  ['a climb with a stream', '/srv/..::$DATA/x', '/srv'],
  ['a climb around a joiner', '/srv/.\u200d./x', '/srv'],
  ['an ellipsis for a climb', '/srv/…/x', '/srv'],
  ['a name of spaces', '/srv/ /x', '/srv'],
  ['fullwidth dots', '/srv/．．/x', '/srv'],
  ['a two-dot leader', '/srv/‥/x', '/srv'],
  ['a one-dot leader', '/srv/\u2024\u2024/x', '/srv'],
  ['a fullwidth slash', '/srv／x', '/srv'],
  ['a division slash', '/srv\u2215x', '/srv'],
  ['a fullwidth backslash', '/srv/..＼x', '/srv'],
  ['a fullwidth percent sign', '/srv/％2e', '/srv'],
  ['a yen sign', '/srv/..¥x', '/srv'],
  ['an encoded fullwidth dot', '/srv/%ef%bc%8e', '/srv'],
  ['a character that normalises to a slash', '/srv/℀', '/srv'],
  ['another case', '/SRV/x', '/srv'],
  ['a long s', '/ſrv/x', '/srv'],
  ['another normal form', '/srv/Gru\u0308\u00dfe', '/srv/Gr\u00fc\u00dfe'],
  ['an ignored character', '/s\u200crv/x', '/srv'],
  ['a pile of combining marks', `/srv/a${'\u0301'.repeat(31)}`, '/srv'],
  ['the root behind /proc', '/proc/self/root/etc/passwd', '/etc'], // allowed: an attack, no path of ours
  ['the root behind /proc, left again', '/proc/self/root/../x', '/etc'], // allowed: an attack, no path of ours
  ['open files', '/dev/fd/3', '/srv'],
  ['nothing at all', '', '.'],
]

const NOT_PLAIN = [
  '',
  '/srv/%2e',
  '/srv/..',
  '../x',
  '/srv\\x',
  '~',
  '//srv',
  'file:///srv',
  'C:',
  '/srv\0',
  '/srv.',
  '/srv /x',
  '/srv/a:b',
  '/srv/...',
  '/proc/self/root',
  '／srv', // allowed: an attack, no path of ours
]

describe('within', () => {
  test.each(DECIDED)('%j within %j: %j', (text, dir, answer) => {
    expect(ask(text, dir)).toBe(answer)
  })

  test.each(ATTACKS)('%s is not decided: %j', (_name, text, dir) => {
    expect(ask(text, dir)).toBe('undecided')
  })

  test.each(NOT_PLAIN)('a policy cannot name %j as a directory', (dir) => {
    expect(() => isInsideDirectory(parsePolicyPath('/srv'), dir)).toThrow(RangeError)
  })

  test('a path of more than 1,024 characters is not decided, nor named by a policy', () => {
    expect(ask(`/srv/${'x'.repeat(1_019)}`, '/srv')).toBe(true)
    expect(ask(`/srv/${'x'.repeat(1_020)}`, '/srv')).toBe('undecided')
    expect(() => ask('/srv', `/${'x'.repeat(1_024)}`)).toThrow(RangeError)
  })

  test('eight rounds of encoding are followed', () => {
    expect(ask(`/srv/%${'25'.repeat(7)}41`, '/srv')).toBe(true)
  })
})

const PIECES = [
  '..',
  '.',
  '...',
  'a',
  'srv',
  'etc',
  '/',
  '/',
  '\\',
  '//',
  ' ',
  ':',
  '~',
  'C:',
  'SRV',
  '%2e',
  '%2E%2e',
  '%2f',
  '%5c',
  '%252e',
  '%25',
  '%',
  '2e',
  '2f',
  '%%32%65',
  '%zz',
  '%c0%ae',
]
const tame = fc.constantFrom('/', '/..', '/srv', '/etc/', '/a', '\\', '%2f', '%2e', '%41', '.', 'b')
const wild = fc.constantFrom(...PIECES)
const mixed = fc
  .tuple(
    fc.constantFrom('/srv/', '/srv', '/etc/', '/'),
    fc.oneof(fc.array(tame, { maxLength: 8 }), fc.array(wild, { maxLength: 12 })),
  )
  .map(([start, pieces]) => start + pieces.join(''))

function decode(text: string): string {
  try {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => decodeURIComponent(run))
  } catch {
    return text
  }
}
function isUnder(text: string): boolean {
  const path = posix.normalize(text)
  return path === '/srv' || path.startsWith('/srv/')
}
/** What a server, or a proxy in front of it, may do to a path, in any order. */
const STEPS: readonly ((text: string) => string)[] = [
  decode,
  posix.normalize,
  (text) => text.replaceAll('\\', '/'),
  (text) => text.replace(/[. ]+(?=\/|$)/g, (dots) => (/^\.\.?$/.test(dots) ? dots : '')),
]
const journey = fc.array(fc.constantFrom(...STEPS), { maxLength: 8 })

describe('for every path', () => {
  test('a climb out of the directory, in any encoding, is never within', () => {
    const climbs = fc.property(mixed, (text) => {
      let decoded = text
      for (let next = decode(decoded); next !== decoded; next = decode(decoded)) decoded = next
      if (!isUnder(decoded)) expect(ask(text, '/srv')).not.toBe(true)
    })
    fc.assert(climbs, runs(3_000))
  })

  test('decoding, normalising and converting slashes in any order leads where the result says', () => {
    const decided: [number, number] = [0, 0]
    const arrives = fc.property(mixed, journey, (text, steps) => {
      const answer = ask(text, '/srv')
      const end = steps.reduce((at, step) => step(at), text)
      if (answer === 'undecided') return
      decided[answer ? 1 : 0]++
      expect(isUnder(end)).toBe(answer)
    })
    fc.assert(arrives, runs(3_000))
    expect(Math.min(...decided)).toBeGreaterThan(100)
  })

  test('any text has a result or is undecidable', () => {
    const total = fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect([true, false, 'undecided']).toContain(ask(text, '/srv'))
    })
    fc.assert(total, runs(2_000))
  })

  test('the longest and most encoded paths are read or undecidable', () => {
    const worst = ['..', '. ', '%2525252525252541', '\u0301a', '\ufdfa', 'a/'].map((unit) =>
      `/srv/${unit.repeat(4_000)}`.slice(0, 2_048),
    )
    for (const text of worst)
      expect([true, false, 'undecided'], text.slice(0, 20)).toContain(ask(text, '/srv'))
  })
})
