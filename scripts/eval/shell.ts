// `npm run eval -- shell [--data FILE]`: command lines that are labelled `reads` or `changes`, and whether a careful
// developer wants to be asked (`ask`), by default those of test/cases/shell-lines.txt. Measures `shell()` and the pack
// `coding-agent`; `--seed N` reports two random halves, `--verbose` prints each line that is judged otherwise.

import { Random } from '../../test/fuzz/mutate.ts'
import {
  type JudgedLine,
  judgeLines,
  readLines,
  scoreLines,
} from '../../test/support/shell-lines.ts'
import type { RunOptions } from '../dispatch.ts'

export function run({ data, seed, verbose }: RunOptions): number {
  const judged = judgeLines(readLines(typeof data === 'string' ? data : undefined))
  report('all', judged)
  if (seed !== undefined) {
    const random = new Random(Number(seed))
    const mixed = judged
      .map((line) => ({ line, at: random.next(2 ** 30) }))
      .sort((one, other) => one.at - other.at)
      .map(({ line }) => line)
    const half = Math.ceil(mixed.length / 2)
    report('first half', mixed.slice(0, half))
    report('second half', mixed.slice(half))
  }
  if (verbose !== undefined)
    for (const { command, label, ask, uncertain, reads, action } of judged) {
      const isHeld = action !== 'allow'
      if (reads !== (label === 'reads')) console.log(`${label}, judged ${reads}: ${command}`)
      if (isHeld !== ask) console.log(`${ask ? 'ask' : 'do not ask'}, ${action}: ${command}`)
      if (uncertain !== undefined) console.log(`not certain (${uncertain}): ${command}`)
    }
  return 0
}

function report(name: string, lines: readonly JudgedLine[]): void {
  console.log(`${name}: ${lines.length} lines`)
  for (const { name, found, of } of Object.values(scoreLines(lines)))
    console.log(`  ${name}: ${found} of ${of} (${((100 * found) / of).toFixed(1)} %)`)
}
