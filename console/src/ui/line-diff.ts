// The diff of two texts, line by line: common lines at both ends are removed first, the middle is
// compared if it is short enough.

export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'came'
  readonly text: string
}

const COMPARED_MAX = 1_500

export function lineDiff(before: string, after: string): DiffLine[] {
  const old = before === '' ? [] : before.split('\n')
  const now = after === '' ? [] : after.split('\n')
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  const most = Math.min(old.length, now.length) - start
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ kind: 'same', text }))
  return [
    ...same(old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(old.slice(old.length - end)),
  ]
}

function middle(old: readonly string[], now: readonly string[]): DiffLine[] {
  if (old.length > COMPARED_MAX || now.length > COMPARED_MAX)
    return [
      ...old.map((text): DiffLine => ({ kind: 'gone', text })),
      ...now.map((text): DiffLine => ({ kind: 'came', text })),
    ]
  // The longest common subsequence of every two tails.
  const width = now.length + 1
  const longest = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      longest[i * width + j] =
        old[i] === now[j]
          ? (longest[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(longest[(i + 1) * width + j] ?? 0, longest[i * width + j + 1] ?? 0)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ kind: 'same', text: old[i] ?? '' })
      i++
      j++
    } else if (
      j >= now.length ||
      (i < old.length && (longest[(i + 1) * width + j] ?? 0) >= (longest[i * width + j + 1] ?? 0))
    )
      lines.push({ kind: 'gone', text: old[i++] ?? '' })
    else lines.push({ kind: 'came', text: now[j++] ?? '' })
  }
  return lines
}

/** Only what changed, with context lines; null marks what is left out. */
export function listHunks(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ kind }) => kind !== 'same'),
  )
  const shown: (DiffLine | null)[] = []
  for (const [at, line] of lines.entries()) {
    if (near[at]) shown.push(line)
    else if (shown.at(-1) !== null) shown.push(null)
  }
  return shown
}
