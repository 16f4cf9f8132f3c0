// The change from one text to another as a patch that `git apply` takes: one hunk, from the first line
// that differs to the last. Pure.

const CONTEXT = 3

export function patchOf(file: string, before: string, after: string): string {
  if (before === after) return ''
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  const most = Math.min(old.length, now.length) - start
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const from = Math.max(0, start - CONTEXT)
  const tail = Math.max(0, end - CONTEXT)
  const lead = old.slice(from, start)
  const gone = old.slice(start, old.length - end)
  const came = now.slice(start, now.length - end)
  const trail = old.slice(old.length - end, old.length - tail)
  const count = (changed: readonly string[]) => lead.length + changed.length + trail.length
  const place = (lines: number) => `${lines === 0 ? from : from + 1},${lines}`
  return [
    `--- a/${file}\n`,
    `+++ b/${file}\n`,
    `@@ -${place(count(gone))} +${place(count(came))} @@\n`,
    ...lead.map((line) => marked(' ', line)),
    ...gone.map((line) => marked('-', line)),
    ...came.map((line) => marked('+', line)),
    ...trail.map((line) => marked(' ', line)),
  ].join('')
}

/** Each with its line end, where it has one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function marked(sign: string, line: string): string {
  return line.endsWith('\n') ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`
}
