// `npm run soak -- slow-inputs`: searches the slowest text for every reader of foreign text, at full
// size, and prints a table. `--seconds 20` a reader, `--chars 16777216` at most, `--only guard` those
// whose name has it, `--seed 1`. Ends with 1 where something grows faster than its text.

import type { RunOptions } from '../../scripts/dispatch.ts'
import { seededRandom } from '../policy/reference/random.ts'
import { TEXT_READERS } from '../slow-inputs/readers.ts'
import { confirm, EXPONENT_MAX, findSlowInput } from '../slow-inputs/search.ts'
import { rowOf, TABLE_HEAD } from '../slow-inputs/table.ts'

export function run(options: RunOptions): number {
  const only = typeof options.only === 'string' ? options.only : ''
  const search = {
    secondsMax: Number(options.seconds ?? 20),
    runMicrosMax: 500_000,
    charsMax: Number(options.chars ?? 16 * 1_048_576),
    random: seededRandom(Number(options.seed ?? 1)),
  }
  let steep = 0
  console.log(TABLE_HEAD)
  for (const reader of TEXT_READERS.filter(({ name }) => name.includes(only))) {
    const found = findSlowInput(reader, search)
    const again = found.exponent > EXPONENT_MAX ? confirm(reader, found, search) : found
    if (again.exponent > EXPONENT_MAX) steep++
    console.log(rowOf(again))
  }
  console.log(`${steep} of ${TEXT_READERS.length} grow faster than their text`)
  return steep === 0 ? 0 : 1
}
