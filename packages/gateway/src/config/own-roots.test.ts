// Roots of a client that lie within the gate's own files, on a real disk.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { objectToRoots } from './own-roots.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-roots-')))
const data = join(top, 'gate', '.sluice')
const workDirectory = join(data, 'servers', 'plain')
mkdirSync(workDirectory, { recursive: true })
symlinkSync(join(top, 'gate'), join(top, 'link'))
afterAll(() => rmSync(top, { recursive: true, force: true }))

const place = { own: [data], cwd: workDirectory, workDirectory }

test('F4: a root within the gate’s own files is not passed on', () => {
  const within = [
    data,
    `file://${data}/x`,
    join(top, 'link', '.sluice'),
    '../..',
    `file://${data.replace('.', '%2e')}`,
  ]
  for (const root of within)
    expect(objectToRoots(['https://elsewhere.example/', root], place)).toContain(
      "lies within the gate's own files",
    )
})

test('others are, and so is the directory of the server', () => {
  expect(objectToRoots([top, `file://${top}`, workDirectory, '.', 'https://x/'], place)).toBe(
    undefined,
  )
})
