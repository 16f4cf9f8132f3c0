// The README is run: files with a name in their fence are written, every `sh` fence is executed,
// and the `text` fence after it is what must be printed. Its library example is run by package.test.ts,
// against the published layout.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { SLUICE } from '../support/start-gate.ts'

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
  const script = `sluice() { "${process.execPath}" "${SLUICE}" "$@"; }\n${command}`
  const { NO_COLOR: _, ...env } = process.env
  const { stdout } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8', env })
  expect(stdout).toBe(output)
})
