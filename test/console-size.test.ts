// What a browser loads before the console can be used: the built page without the editor of policies,
// which comes when somebody opens it.

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ensureConsole } from '../scripts/build-console.ts'
import { ROOT } from './rooms.ts'

const LOAD_BYTES_MAX = 250_000

test('everything but the editor is under 250 kB, compressed', async () => {
  expect(await ensureConsole()).toBe(true)
  const files = globSync('dist/console/**/*.{js,css,html,svg}', { cwd: ROOT })
  const sizes = files
    .filter((file) => !basename(file).startsWith('editor-'))
    .map((file) => gzipSync(readFileSync(join(ROOT, file))).length)
  expect(files.some((file) => basename(file).startsWith('editor-'))).toBe(true)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LOAD_BYTES_MAX)
})

test('the page has no script or style of its own inside', () => {
  const html = readFileSync(join(ROOT, 'dist', 'console', 'index.html'), 'utf8')
  expect(html).not.toMatch(/<style|<script(?![^>]* src="\/assets\/)|\son\w+=|https?:/)
})
