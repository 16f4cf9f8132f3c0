import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../../test/support/scratch.ts'
import { changeFile } from './change-file.ts'

test.each([-60, 365 * 86_400])(
  'a lock whose program has ended keeps nobody out, %i s ahead of the clock',
  async (aheadS) => {
    const file = join(scratchDirectory(), '.claude.json')
    writeFileSync(file, '{}')
    mkdirSync(`${file}.lock`)
    const time = Date.now() / 1_000 + aheadS
    utimesSync(`${file}.lock`, time, time)
    expect(await changeFile(file, () => '{"a":1}')).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}')
  },
)
