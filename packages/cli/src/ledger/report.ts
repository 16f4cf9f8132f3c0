// `sluice ledger report`: what a security lead asks on Monday, on the terminal, as Markdown, or as one
// HTML page with plots.

import { gatherReport } from '@sluice/ledger/report/gather'
import type { LedgerReport } from '@sluice/ledger/report/report'
import { buildSections, formatTitle } from '@sluice/ledger/report/sections'
import { asHtml, asMarkdown } from '@sluice/ledger/report/write-report'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { DIRECTORY } from '../connect/find-data.ts'
import { readTime } from '../connect/read-option.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import type { Output } from '../terminal/output.ts'
import { tableLines } from '../terminal/table-lines.ts'
import { writeOutput } from '../terminal/write-new-file.ts'
import { STORE, withIndex, withRecords } from './source.ts'

const EXAMPLES = `
Examples:
  sluice ledger report                               the last seven days
  sluice ledger report --since 1d
  sluice ledger report --since 2026-01-01 --until 2026-02-01 --format html --out january.html
  sluice ledger report --format md >> review.md
  sluice ledger report --agent agent-7 --format html --out agent-7.html
  sluice ledger report --store postgres://auditor@db/sluice   of all gates`

const OPTIONS = {
  ...DIRECTORY,
  ...STORE,
  '--who <id>': 'only the calls of this caller: the principal',
  '--agent <id>': 'only the calls of this agent',
  '--since <time>': ['not before: `1d`, `7d` (ago), or a time', '7d'],
  '--until <time>': 'not after (default: now)',
  '--format <form>': {
    doc: 'format of the report',
    choices: ['table', 'md', 'html'],
    unset: 'table',
  },
  '--out <file>': 'file to write, readable by its owner only (default: stdout)',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const addLedgerReport = defineCommand({
  name: 'report',
  description: 'report what ran, what was refused and why, what waited and who decided',
  options: OPTIONS,
  examples: EXAMPLES,
  run: async (options, output) => {
    const made = await gather(options, output)
    if (output.json) output.value(made)
    else writeOutput(renderReport(made, options.format, output), options.out, 0o600)
  },
})

async function gather(options: Options, output: Output): Promise<LedgerReport> {
  const { since, until, who, agent } = options
  const sinceMs = readTime(since, '--since') ?? 0
  const untilMs = readTime(until, '--until') ?? Date.now()
  if (sinceMs >= untilMs)
    throw new ArgumentError('--since is not before --until', 'turn them round')
  return withRecords(options, output, ({ directory, ledger }) => {
    const callers = pickDefined({ principal: who, agent })
    return withIndex(directory, ledger, ({ database: index }) =>
      gatherReport({ ledger, index }, { sinceMs, untilMs, ...callers }),
    )
  })
}

function renderReport(report: LedgerReport, format: Options['format'], output: Output): string {
  if (format === 'md') return asMarkdown(report)
  if (format === 'html') return asHtml(report)
  const parts = buildSections(report).map(({ title, columns, rows, none }) => {
    const lines = rows.length === 0 ? [none] : tableLines(columns, rows)
    return [output.paint('bold', title), ...lines].join('\n')
  })
  return `${[output.paint('bold', formatTitle(report)), ...parts].join('\n\n')}\n`
}
