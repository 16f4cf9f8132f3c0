// Small changes to a text that leave every other character alone: replacements and deletions by
// offset. A deletion takes the line along if nothing else is on it. Pure; used by both formats.

export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Deletions may touch or overlap each other, replacements nothing. */
export function applyEdits(source: string, edits: readonly Edit[]): string {
  const sorted = [...edits].sort((a, b) => a.start - b.start || a.end - b.end)
  let result = ''
  let at = 0
  for (const { start, end, text } of sorted) {
    if (start > at) result += source.slice(at, start)
    result += text
    at = Math.max(at, end)
  }
  return result + source.slice(at)
}

/** Takes away a span, with its line where only spaces and what `gone` says are left there. */
export function deletion(
  source: string,
  start: number,
  end: number,
  gone: (offset: number) => boolean = () => false,
): Edit {
  let from = start
  while (from > 0 && isBlank(source[from - 1])) from--
  const opens = from === 0 || source[from - 1] === '\n'
  let to = end
  while (to < source.length && (isBlank(source[to]) || gone(to))) to++
  if (source[to] === '\r') to++
  const closes = to === source.length || source[to] === '\n'
  if (opens && closes) return { start: from, end: Math.min(to + 1, source.length), text: '' }
  return { start: opens ? start : from, end, text: '' }
}

/** What stands before `offset` on its line, if that is only white space. */
export function indentAt(source: string, offset: number): string | undefined {
  const line = source.lastIndexOf('\n', offset - 1) + 1
  const before = source.slice(line, offset)
  return /^[ \t]*$/.test(before) ? before : undefined
}

export function lineBreakOf(source: string): string {
  return source.includes('\r\n') ? '\r\n' : '\n'
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
