// kill -9 at positions of the journal; all of them by `npm run soak -- agents-kill`.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forms } from '../support/runs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { effects, type KilledAt, live, prepare, repeated } from './kill.ts'

test('kill -9: each side effect at most once, and every run ends', {
  timeout: 180_000,
}, async () => {
  const scratch = scratchDirectory()
  const [directory, log] = [join(scratch, 'data'), join(scratch, 'log')]
  prepare(directory)
  // In a program's call, after a resume that follows a limit, and after a move; then between a call's start and its
  // result, and after a pause.
  const all: readonly KilledAt[] = [
    { position: 12, when: 'before' },
    { position: 16, when: 'before', story: 'pause' },
    { position: 2, when: 'after', story: 'move' },
    { position: 9, when: 'before' },
    { position: 4, when: 'after', story: 'pause' },
  ]
  const positions = forms(all, 3)
  for (const each of positions)
    expect(await live(directory, log, each)).toMatchObject({ signal: 'SIGKILL' })
  const { output, signal } = await live(directory, log)
  expect(signal).toBeNull()
  const ends = JSON.parse(output) as { end: string }[]
  // The moved one is there twice.
  expect(ends).toHaveLength(positions.length + 1)
  expect(ends.map(({ end }) => end)).toEqual(ends.map(() => 'answered'))
  expect(repeated(log)).toEqual([])
  expect(effects(log).length).toBeGreaterThan(3)
})
