// The README is run: files with a name in their fence are written, every `sh` fence is executed,
// and the `text` fence after it is what must be printed. The library example is run against the
// published layout.

import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT } from './rooms.ts'

interface Fence {
  language: string
  file: string | undefined
  text: string
}

const fences: Fence[] = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms),
].map(([, language = '', file, text = '']) => ({ language, file, text }))
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'))
  for (const { file, text } of fences)
    if (file !== undefined) writeFileSync(join(folder, file), text)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const stories = fences.flatMap((fence, index) => {
  const after = fences[index + 1]
  return fence.language === 'sh' && after?.language === 'text'
    ? [{ command: fence.text.trim(), output: after.text }]
    : []
})

test('the README tells a story of at least four commands', () => {
  expect(stories.length).toBeGreaterThanOrEqual(4)
})

test.each(stories)('$command', ({ command, output }) => {
  const script = `sluice() { "${process.execPath}" "${join(ROOT, 'bin', 'sluice.js')}" "$@"; }\n${command}`
  const { NO_COLOR: _, ...env } = process.env
  const { stdout } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8', env })
  expect(stdout).toBe(output)
})

test('the library example runs on the published layout', { timeout: 180_000 }, () => {
  if (!existsSync(join(ROOT, 'dist', 'policy', 'index.js')))
    execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules', 'sluice'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const stdout = execFileSync(process.execPath, ['library.ts'], { cwd: folder, encoding: 'utf8' })
  expect(stdout).toBe('allow /categories/Read\n')
})
