// The difference of two texts, line by line: equal lines at both ends are set aside, the rest is compared by its
// longest common subsequence, or taken as a whole if it is long. Pure; for the console and `sluice init`.

export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'came'
  readonly text: string
}

const TABLE_CELLS_MAX = 4_000_000

export function diffLines(old: readonly string[], now: readonly string[]): DiffLine[] {
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  const most = Math.min(old.length, now.length) - start
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  return [
    ...old.slice(0, start).map(toLine('same')),
    ...diffMiddle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(toLine('same')),
  ]
}

function toLine(kind: DiffLine['kind']): (text: string) => DiffLine {
  return (text) => ({ kind, text })
}

function diffMiddle(old: readonly string[], now: readonly string[]): DiffLine[] {
  if (old.length * now.length > TABLE_CELLS_MAX)
    return [...old.map(toLine('gone')), ...now.map(toLine('came'))]
  // The longest common subsequence of every two tails.
  const width = now.length + 1
  const longest = new Uint16Array((old.length + 1) * width)
  const at = (row: number, column: number): number => longest[row * width + column] as number
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--)
      longest[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  const lines: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < now.length) {
    const [gone, came] = [old[row], now[column]]
    if (gone !== undefined && gone === came) {
      lines.push({ kind: 'same', text: gone })
      row++
      column++
    } else if (
      gone !== undefined &&
      (came === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      lines.push({ kind: 'gone', text: gone })
      row++
    } else {
      lines.push({ kind: 'came', text: came as string })
      column++
    }
  }
  return lines
}
