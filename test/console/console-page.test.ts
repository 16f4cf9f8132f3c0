// What the console is made of: how much a browser loads before it can be used (without the editor of
// policies and the calendar, which come when somebody opens them), and what its sources may not do.

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ensureConsole } from '../../scripts/build-console.ts'
import { ROOT } from '../support/modules.ts'

const LOAD_BYTES_MAX = 250_000

/** Loaded when somebody opens them: the editor of policies, and the calendar with the fields of times. */
const LATER = ['editor-', 'days-']

test('everything but the editor and the calendar is under 250 kB, compressed', async () => {
  expect(await ensureConsole()).toBe(true)
  const files = globSync('dist/sluice/dist/console/**/*.{js,css,html,svg}', { cwd: ROOT })
  const sizes = files
    .filter((file) => !LATER.some((name) => basename(file).startsWith(name)))
    .map((file) => gzipSync(readFileSync(join(ROOT, file))).length)
  for (const name of LATER)
    expect(
      files.some((file) => basename(file).startsWith(name)),
      name,
    ).toBe(true)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LOAD_BYTES_MAX)
})

test('the page has no script or style of its own inside', () => {
  const html = readFileSync(join(ROOT, 'dist/sluice/dist/console/index.html'), 'utf8')
  expect(html).not.toMatch(/<style|<script(?![^>]* src="\/assets\/)|\son\w+=|https?:/)
})

const sources = globSync('packages/console/page/src/**/*.{ts,tsx}', { cwd: ROOT })
  .filter((file) => !file.includes('.test.'))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))

/** Of other packages, beside the policy package: pure files that need nothing else. */
const PURE =
  /^@sluice\/(?:policy\/.+|guard\/show\/hidden-characters|access\/(?:identity\/grant-fields|approvals\/(?:describe-bound|request-text))|ledger\/records\/(?:call-title|outcome-label|event-title)|protocol\/sse)$/

test('of other packages and the API it imports the types of the contract and a few pure files alone', () => {
  const wrong = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/^(?:import|export)[^'"]*?from '([^']+)'/gms)]
      .filter(([, from = '']) => from.includes('/src/') || from.startsWith('@sluice/'))
      .filter(
        ([line, from = '']) =>
          !PURE.test(from) &&
          (!/^import type/.test(line) || !from.endsWith('/src/contract/contract.ts')),
      )
      .map(([line]) => `${file}: ${line}`),
  )
  expect(sources.length).toBeGreaterThan(30)
  expect(wrong).toEqual([])
})

test('nothing in it makes HTML from text', () => {
  const maker =
    /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function\(/
  expect(sources.filter(({ text }) => maker.test(text)).map(({ file }) => file)).toEqual([])
})
