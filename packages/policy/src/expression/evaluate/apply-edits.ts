// Replaces ranges of a text and maps offsets back: a problem that the checker reports in the
// rewritten expression is shown where the user wrote it.

import type { ExpressionEdit } from '../expression-variables.ts'

/** The text with the edits applied, and a function that maps its offsets back. */
export function applyEdits(
  text: string,
  edits: readonly ExpressionEdit[],
): { text: string; backTo: (at: number) => number } {
  let result = ''
  let done = 0
  const shifts: { from: number; by: number }[] = []
  for (const edit of edits) {
    if (edit.start < done) continue
    result += text.slice(done, edit.start)
    shifts.push({ from: result.length, by: edit.start - result.length })
    result += edit.text
    done = edit.end
    shifts.push({ from: result.length, by: done - result.length })
  }
  const backTo = (at: number) => at + (shifts.findLast((shift) => shift.from <= at)?.by ?? 0)
  return { text: result + text.slice(done), backTo }
}
