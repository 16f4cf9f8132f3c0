// The difference of two texts, and the part of it that is shown.

import { type DiffLine, diffLines } from '../../../packages/sluice/src/init/move/line-diff.ts'

export function lineDiff(before: string, after: string): DiffLine[] {
  const linesOf = (text: string) => (text === '' ? [] : text.split('\n'))
  return diffLines(linesOf(before), linesOf(after))
}

const AROUND = 3

/** Only what changed, with context lines; null marks what is left out. */
export function listHunks(lines: readonly DiffLine[]): (DiffLine | null)[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== 'same'),
  )
  const shown: (DiffLine | null)[] = []
  for (const [at, line] of lines.entries()) {
    if (near[at]) shown.push(line)
    else if (shown.at(-1) !== null) shown.push(null)
  }
  return shown
}
