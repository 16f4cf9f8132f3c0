// A change of a text as people read changes: the lines taken away and put there, with a few around.
// Pure; for `sluice init --dry-run`.

import { CONTEXT_LINES } from '../files/limits.ts'

export interface ChangeLine {
  readonly kind: ' ' | '-' | '+' | '@'
  readonly text: string
}

/** Every line that differs. Equal lines between two changes keep them apart. */
export function listChangedLines(before: string, after: string): ChangeLine[] {
  const old = linesOf(before)
  const now = linesOf(after)
  const steps = compare(old, now)
  const shown: ChangeLine[] = []
  let quiet: ChangeLine[] = []
  let line = 1
  let isFirst = true
  for (const step of steps) {
    if (step.kind === ' ') {
      quiet.push(step)
      line++
      continue
    }
    const isNear = !isFirst && quiet.length <= 2 * CONTEXT_LINES
    if (isNear) shown.push(...quiet)
    else {
      if (!isFirst) shown.push(...quiet.slice(0, CONTEXT_LINES))
      const lead = quiet.slice(-CONTEXT_LINES)
      shown.push({ kind: '@', text: `line ${line - lead.length}` }, ...lead)
    }
    quiet = []
    isFirst = false
    shown.push(step)
    if (step.kind === '-') line++
  }
  if (!isFirst) shown.push(...quiet.slice(0, CONTEXT_LINES))
  return shown
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

/** What is equal at both ends goes first; what is left is compared by its longest common lines, or
 * taken as a whole where it is long. */
function compare(old: readonly string[], now: readonly string[]): ChangeLine[] {
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (
    tail < old.length - head &&
    tail < now.length - head &&
    old[old.length - 1 - tail] === now[now.length - 1 - tail]
  )
    tail++
  const same = (text: string): ChangeLine => ({ kind: ' ', text })
  return [
    ...old.slice(0, head).map(same),
    ...common(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map(same),
  ]
}

const TABLE_CELLS_MAX = 4_000_000

function common(old: readonly string[], now: readonly string[]): ChangeLine[] {
  const gone = (text: string): ChangeLine => ({ kind: '-', text })
  const come = (text: string): ChangeLine => ({ kind: '+', text })
  if (old.length * now.length > TABLE_CELLS_MAX) return [...old.map(gone), ...now.map(come)]
  const width = now.length + 1
  const table = new Uint32Array((old.length + 1) * width)
  const at = (row: number, column: number): number => table[row * width + column] as number
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--)
      table[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  const lines: ChangeLine[] = []
  let row = 0
  let column = 0
  while (row < old.length || column < now.length) {
    if (row < old.length && column < now.length && old[row] === now[column]) {
      lines.push({ kind: ' ', text: old[row] as string })
      row++
      column++
    } else if (
      column === now.length ||
      (row < old.length && at(row + 1, column) >= at(row, column + 1))
    )
      lines.push(gone(old[row++] as string))
    else lines.push(come(now[column++] as string))
  }
  return lines
}
