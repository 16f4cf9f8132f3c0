// Relative paths to the gate's files, from every directory a server may resolve them in.

import { expect, test } from 'vitest'
import { CLIMB_CHARS_MAX } from '../language/limits.ts'
import { mentionsProtectedFile } from './protected-files.ts'

const OWN = [
  '/srv/gate/sluice.yaml',
  '/srv/gate/.sluice',
  '/srv/gate/rules.yaml',
  '/srv/gate/sluice.env',
]
const WORK = '/srv/gate/.sluice/servers/s'

const names = (value: string, bases: string[], workDirectory?: string) =>
  mentionsProtectedFile(
    { value },
    OWN,
    workDirectory === undefined ? { bases } : { bases, workDirectory },
  )

test.each([
  ['rules.yaml', '/srv/gate'],
  ['./RULES.yaml', '/srv/gate'],
  ['gate/rules.yaml', '/srv'],
  ['x/../.sluice/anything', '/srv/gate'],
  ['%2e/rules%2Eyaml', '/srv/gate'],
  ['.\\rules.yaml', '/srv/gate'],
  ['../gate/.sluice', '/srv/other'],
  ['../../../../../srv/gate/rules.yaml', '/'],
  ['file:rules.yaml', '/srv/gate'],
  ['cat "rules.yaml" | nc', '/srv/gate'],
  ['tar cf - --file=rules.yaml', '/srv/gate'],
  ['~/gate/rules.yaml', '/srv'],
  ['$PWD/rules.yaml', '/srv/gate'],
  // By name alone: the working directory of this server is unknown.
  ['identity.key', '/elsewhere'],
  ['deep/sluice.env', '/elsewhere'],
  // Everything in this directory is the gate's.
  ['x', '/srv/gate/.sluice'],
])('F4: `%s` is found from %s', (text, base) => {
  expect(names(text, [base])).toBe(true)
})

test.each([
  ['rules.yaml', '/srv/project'],
  ['see rules.yaml...', '/srv/project'],
  ['wait... and sluice.yaml of another', '/srv/project'],
  ['/srv/project/rules.yaml', '/srv/gate'],
  ['', '/srv/gate'],
  ['src/rules', '/srv/gate'],
])('and `%s` is not from %s', (text, base) => {
  expect(names(text, [base])).toBe(false)
})

test('F4: a server may use the directory the gate created for it, and not leave it', () => {
  expect(names('notes.txt', [WORK], WORK)).toBe(false)
  expect(names('./a/../b', [WORK], WORK)).toBe(false)
  for (const text of ['..', '../other', '../../gate.db', 'cd ../..', 'a/../../x'])
    expect(names(text, [WORK], WORK)).toBe(true)
})

test('F4: links are followed for a text that is a path', () => {
  const realPath = (path: string) => (path === '/srv/gate/harmless' ? '/srv/gate/rules.yaml' : path)
  const place = { bases: ['/srv/gate'], startLookups: () => realPath }
  expect(mentionsProtectedFile('harmless', OWN, place)).toBe(true)
  expect(mentionsProtectedFile('other', OWN, place)).toBe(false)
  expect(mentionsProtectedFile('one\ntwo', OWN, place)).toBe(false)
})

test('more paths than can be resolved count as naming them', () => {
  const place = { bases: [WORK], workDirectory: WORK }
  expect(mentionsProtectedFile('a/../x '.repeat(4_500), OWN, place)).toBe(false)
  expect(mentionsProtectedFile('a/../x '.repeat(5_500), OWN, place)).toBe(true)
  // Long paths count by their length.
  expect(mentionsProtectedFile(`${'a/../'.repeat(500)}x `.repeat(300), OWN, place)).toBe(true)
  // No climb leads from another directory to a file whose name does not appear.
  expect(mentionsProtectedFile('../x '.repeat(11_000), OWN, { bases: ['/srv/a'] })).toBe(false)
})

test('a token of a long text is found at any position', () => {
  const names = (text: string) => mentionsProtectedFile(text, OWN, { bases: ['/srv/gate'] })
  const words = 'hello\u2003rules.yam '.repeat(1_000)
  expect(names(words)).toBe(false)
  expect(names(`${words}RULES.yaml ${words}`)).toBe(true)
  expect(names(`${words}x/rules.yaml\u2003rules.yaml`)).toBe(true)
  // If case is ignored, this is an `s`.
  expect(names(`${words}.\\rule\u017f.yaml`)).toBe(true)
  // Servers resolve the climb before they open the path.
  expect(names(`${words}${'a'.repeat(5_000)}/../rules.yaml`)).toBe(true)
})

test('F9: a text too long to be searched for climbs counts as one, if a climb matters', () => {
  const text = `${'a'.repeat(CLIMB_CHARS_MAX)} ..x`
  expect(mentionsProtectedFile(text, OWN, { bases: [WORK], workDirectory: WORK })).toBe(true)
  expect(mentionsProtectedFile(text, OWN, { bases: ['/srv/a'] })).toBe(false)
  expect(
    mentionsProtectedFile(text.slice(0, -3), OWN, { bases: [WORK], workDirectory: WORK }),
  ).toBe(false)
})

test('every kind of white space ends a path', () => {
  const all = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code))
  const spaces = all.filter((character) => /\s/.test(character))
  expect(spaces.length).toBe(25)
  for (const space of spaces)
    expect([space, names(`cat${space}../gate/rules.yaml${space}x`, ['/srv/other'])]).toEqual([
      space,
      true,
    ])
})
