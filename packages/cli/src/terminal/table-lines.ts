// Rows as a table for a terminal: columns as wide as their content, up to a limit, with names from
// files and agents made printable. Used by the ledger commands.

import { printable } from './output.ts'

const CELL_WIDTH_MAX = 60

export function tableLines(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const shown = [columns, ...rows].map((row) => row.map((value) => ellipsize(printable(value))))
  const widths = columns.map((_, at) => Math.max(...shown.map((row) => row[at]?.length ?? 0)))
  const lines = shown.map((row) =>
    row
      .map((value, at) => value.padEnd(widths[at] as number))
      .join('  ')
      .trimEnd(),
  )
  return lines.toSpliced(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
}

function ellipsize(text: string): string {
  return text.length <= CELL_WIDTH_MAX ? text : `${text.slice(0, CELL_WIDTH_MAX - 1)}…`
}
