// `npm run eval -- threats`: which holes of past reviews the search of `sluice threats` finds in the policies of that time.
// `--data FILE --sets DIR` writes twenty sets of published servers for somebody who judges each path.

import type { RunOptions } from '../dispatch.ts'
import { searchKnownHoles } from './threats/known-holes.ts'
import { writeSets } from './threats/sets.ts'

export async function run({ data, sets }: RunOptions): Promise<number> {
  if (sets === undefined && data === undefined) return searchKnownHoles() ? 0 : 1
  if (typeof sets !== 'string' || typeof data !== 'string') {
    console.error('usage: npm run eval -- threats [--data FILE --sets DIR]')
    return 2
  }
  await writeSets(data, sets)
  return 0
}
