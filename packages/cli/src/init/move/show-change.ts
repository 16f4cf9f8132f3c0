// A change of a text as people read changes: the lines taken away and put there, with a few around.
// Pure; for `sluice init --dry-run`.

import { diff } from 'node:util'
import { CONTEXT_LINES } from '../files/limits.ts'

export interface ChangeLine {
  readonly kind: ' ' | '-' | '+' | '@'
  readonly text: string
}

/** What `diff` says of a line: it is in both texts, only in the first, or only in the second. */
const KINDS = { 0: ' ', 1: '-', [-1]: '+' } as const

/** Every line that differs. Equal lines between two changes keep them apart. */
export function listChangedLines(before: string, after: string): ChangeLine[] {
  const shown: ChangeLine[] = []
  let quiet: ChangeLine[] = []
  let line = 1
  let isFirst = true
  for (const [operation, text] of diff(linesOf(before), linesOf(after))) {
    const step: ChangeLine = { kind: KINDS[operation], text }
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
