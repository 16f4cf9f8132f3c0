// The report of `sluice ci` as Markdown, for the summary of a job or a comment: what failed, and which
// decisions change. Names come from servers and files: nothing of them is read as Markdown. Pure.

import { printable } from '../terminal/output.ts'
import type { CiCheck, CiReport } from './ci-report.ts'
import type { ToolChange } from './compare-base.ts'
import { MARKDOWN_ROWS_MAX } from './limits.ts'

const MARKS = { passed: '✅', failed: '❌', skipped: '➖' } as const

export function writeMarkdown({ ok, steps, changes }: CiReport): string {
  const lines = [
    `## Policy: ${ok ? 'passed' : 'failed'}`,
    '',
    '| step | | |',
    '|---|---|---|',
    ...steps.map(
      ({ name, status, summary }) => `| ${name} | ${MARKS[status]} | ${cell(summary)} |`,
    ),
  ]
  const failed = steps.flatMap(({ checks }) => checks).filter(({ level }) => level === 'failed')
  if (failed.length > 0) lines.push('', '### Failed', '', ...limited(failed, toFailure))
  if (changes !== undefined) lines.push('', ...changeLines(changes))
  return `${lines.join('\n')}\n`
}

function toFailure({ name, file, line, message = '' }: CiCheck): string {
  return `- ${code(`${file}:${line}`)} ${cell(name)}: ${cell(message)}`
}

function changeLines({ base, tools, cases, looser }: NonNullable<CiReport['changes']>): string[] {
  const title = `### Decisions compared with ${code(base)}`
  if (tools.length + cases.length + looser.length === 0)
    return [title, '', 'No decision on a known tool or a case changes.']
  const lines = [title]
  if (tools.length > 0) lines.push('', ...table('tool', tools))
  if (cases.length > 0) lines.push('', ...table('case', cases))
  if (looser.length > 0)
    lines.push('', '**Looser, or not provably stricter:**', '', ...limited(looser, toLooser))
  return lines
}

function toLooser({ where, what }: { readonly where: string; readonly what: string }): string {
  return `- ${code(where)} ${cell(what)}`
}

function table(head: string, changes: readonly ToolChange[]): string[] {
  const row = ({ name, before, now, direction }: ToolChange) =>
    `| ${code(name)} | ${before} | ${now} | ${direction === 'looser' ? '⚠️ looser' : direction} |`
  return [`| ${head} | before | now | |`, '|---|---|---|---|', ...limited(changes, row)]
}

function limited<T>(items: readonly T[], write: (item: T) => string): string[] {
  const lines = items.slice(0, MARKDOWN_ROWS_MAX).map(write)
  const more = items.length - lines.length
  return more > 0 ? [...lines, '', `and ${more} more`] : lines
}

/** Backticks stay code; everything else that Markdown or HTML would read is escaped. */
function cell(text: string): string {
  return text
    .split('`')
    .map((part, at) => (at % 2 === 1 ? code(part) : escapeText(part)))
    .join('')
}

function escapeText(text: string): string {
  return printable(text.replace(/\s+/g, ' ')).replace(
    /[\\*_[\]<>|#~!@&]/g,
    (sign) => `&#${sign.charCodeAt(0)};`,
  )
}

/** A pipe ends a table's cell even inside of code. */
function code(text: string): string {
  return `\`${printable(text.replace(/[`\s]+/g, ' ')).replaceAll('|', '\\|')}\``
}
