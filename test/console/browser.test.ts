// How the tests come by Chromium, on machines that do not have it: an apt-get of the test stands in the
// PATH, a program like any other, and writes down what it was asked for.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Machine } from '../support/programs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { findChromium, HOW, named } from './browser.ts'

const INSTALL = HOW.replace('apt-get ', '')

/** `script` is what its apt-get does; `$bin` is the folder that programs are installed in. */
function machine(script: string, more: Partial<Machine> = {}, env: Machine['env'] = {}) {
  const folder = scratchDirectory()
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const log = join(folder, 'asked')
  writeFileSync(log, '')
  const lines = ['#!/bin/sh', `bin='${bin}'`, `echo "$*" >> '${log}'`, script]
  writeFileSync(join(bin, 'apt-get'), `${lines.join('\n')}\n`, { mode: 0o755 })
  const printed: string[] = []
  const made: Machine = {
    isRoot: true,
    isDebian: true,
    say: (text) => void printed.push(text),
    ...more,
    env: { PATH: bin, ...env },
  }
  const asked = () => readFileSync(log, 'utf8').trim().split('\n').filter(Boolean)
  return { made, printed, asked, chromium: join(bin, 'chromium') }
}

const PUTS = `printf '#!/bin/sh\\n' > "$bin/chromium"; /bin/chmod 755 "$bin/chromium"`

test('Debian’s is installed, as root on Debian, and said before', () => {
  const { made, printed, asked, chromium } = machine(PUTS)
  expect(findChromium(made)).toBe(chromium)
  expect(asked()).toEqual([INSTALL])
  expect(printed).toEqual([`the console's tests need Chromium: ${HOW}\n`])
  // And found from then on.
  expect(findChromium(made)).toBe(chromium)
  expect(asked()).toHaveLength(1)
})

test('a fresh image has no lists: they are fetched, and it is tried once more', () => {
  const { made, asked, chromium } = machine(
    `if [ "$1" = update ]; then : > "$bin/lists"; elif [ -e "$bin/lists" ]; then ${PUTS}; else exit 100; fi`,
  )
  expect(findChromium(made)).toBe(chromium)
  expect(asked()).toEqual([INSTALL, 'update', INSTALL])
})

test('where it cannot be installed that is printed, and a failure with CI set', () => {
  const { made, printed } = machine('exit 100')
  expect(findChromium(made)).toBeUndefined()
  expect(printed.at(-1)).toContain('Chromium was not installed')
  const inCi = { ...made, env: { ...made.env, CI: 'true' } }
  expect(() => findChromium(inCi)).toThrow(HOW)
})

test('nothing is installed where that is forbidden, as another user, or elsewhere', () => {
  for (const { made, asked } of [
    machine(PUTS, {}, { SLUICE_TEST_INSTALL: '0' }),
    machine(PUTS, { isRoot: false }),
    machine(PUTS, { isDebian: false }),
  ]) {
    expect(findChromium(made)).toBeUndefined()
    expect(asked()).toEqual([])
    expect(() => findChromium({ ...made, env: { ...made.env, CI: '1' } })).toThrow(HOW)
  }
})

test('one that is named is taken; a suite without one says in its name what would bring it', () => {
  const { made } = machine('exit 1', {}, { SLUICE_TEST_CHROMIUM: '/opt/chrome' })
  expect(findChromium(made)).toBe('/opt/chrome')
  expect(named('the console', '/opt/chrome')).toBe('the console')
  expect(named('the console', undefined)).toBe(
    `the console (not run: it needs Chromium; apt-get install -y --no-install-recommends chromium)`,
  )
})
