// The difference of two texts, and the part of it that is shown.

import { diffArrays } from 'diff'

export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'came'
  readonly text: string
}

export function lineDiff(before: string, after: string): DiffLine[] {
  const linesOf = (text: string) => (text === '' ? [] : text.split('\n'))
  return diffArrays(linesOf(before), linesOf(after)).flatMap(({ added, removed, value }) =>
    value.map((text) => ({ kind: added ? 'came' : removed ? 'gone' : 'same', text })),
  )
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
