import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../test/support/scratch.ts'
import { ROOT, runStep } from './run-step.ts'

const HANGS = 'setInterval(() => {}, 1000)'

test.each([
  ['ends well', '', true],
  ['fails', 'process.exitCode = 1', false],
  ['sends that it passed, and fails at the end', 'process.send(true); process.exitCode = 1', false],
  ['hangs', HANGS, false],
  ['hangs after it passed', `process.send(true); ${HANGS}`, true],
  ['hangs after it failed', `process.send(false); ${HANGS}`, false],
])('a step that %s', async (name, code, passed) => {
  const file = join(scratchDirectory(), 'step.js')
  writeFileSync(file, code)
  // Only what hangs reaches a limit, so that a slow machine changes nothing.
  const limits = {
    stepMs: name === 'hangs' ? 500 : 60_000,
    endMs: code.includes(HANGS) ? 100 : 60_000,
  }
  expect((await runStep(name, [relative(ROOT, file)], limits)).passed).toBe(passed)
})
