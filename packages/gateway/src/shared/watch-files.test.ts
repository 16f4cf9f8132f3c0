// Files that change are seen by the system's notice, and each change once.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { watchFiles } from './watch-files.ts'

test('low: a changed file is seen without waiting for the next look, once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-watch-'))
  const file = join(folder, 'policy.yaml')
  writeFileSync(file, 'one')
  let changes = 0
  // So seldom that only a notice can bring it.
  const stop = watchFiles([file, join(folder, 'later.yaml')], () => changes++, 3_600_000)
  onTestFinished(() => {
    stop()
    rmSync(folder, { recursive: true })
  })
  writeFileSync(file, 'another text')
  await expect.poll(() => changes).toBe(1)
  writeFileSync(join(folder, 'next.yaml'), 'in its place')
  renameSync(join(folder, 'next.yaml'), file)
  await expect.poll(() => changes).toBe(2)
  writeFileSync(join(folder, 'later.yaml'), 'it came')
  await expect.poll(() => changes).toBe(3)
})
