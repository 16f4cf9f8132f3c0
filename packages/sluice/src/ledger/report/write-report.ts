// A report as Markdown and as one HTML page with plots: no script, nothing from other hosts, light
// and dark as the reader's system is. Names and reasons come from agents and servers, so all of
// them are escaped and made visible. Pure.

import { visibleText } from '../../core/visible-text.ts'
import { plotOf } from './plot.ts'
import type { LedgerReport } from './report.ts'
import { type ReportSection, sectionsOf, titleOf } from './sections.ts'

const CELL_LENGTH_MAX = 300

export function asMarkdown(report: LedgerReport): string {
  const parts = [`# ${titleOf(report)}`, ...sectionsOf(report).map(markdownSection)]
  return `${parts.join('\n\n')}\n`
}

function markdownSection({ title, columns, rows, none }: ReportSection): string {
  if (rows.length === 0) return `## ${title}\n\n${none}`
  const line = (cells: readonly string[]) => `| ${cells.map(markdownCell).join(' | ')} |`
  const rule = `|${columns.map(() => '---').join('|')}|`
  return [`## ${title}`, '', line(columns), rule, ...rows.map(line)].join('\n')
}

/** No cell can end its row, start a link or contain HTML. */
function markdownCell(text: string): string {
  return toVisibleText(text)
    .replace(/[\\`*_{}[\]()#+!|~]/g, '\\$&')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/:\/\//g, ':\u200b//')
}

export function asHtml(report: LedgerReport): string {
  const title = titleOf(report)
  const [short, ran, ...rest] = sectionsOf(report) as [
    ReportSection,
    ReportSection,
    ...ReportSection[],
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${figures(short)}
<figure>
<figcaption>Calls over time: <span class="allowed">allowed</span>, <span class="refused">refused</span>, <span class="held">held for a person</span></figcaption>
${plotOf(report.spans)}
</figure>
${[ran, ...rest].map(htmlSection).join('\n')}
</body>
</html>
`
}

function figures({ columns, rows }: ReportSection): string {
  const cells = columns.map((name, at) => {
    const value = rows[0]?.[at] ?? ''
    return `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`
  })
  return `<dl>${cells.join('')}</dl>`
}

function htmlSection({ title, columns, rows, none }: ReportSection): string {
  if (rows.length === 0) return `<h2>${escaped(title)}</h2>\n<p>${escaped(none)}</p>`
  const isNumber = (at: number) =>
    rows.every((row) => /^[\d,.]*( (ms|s|min|h))?$/.test(row[at] ?? ''))
  const kinds = columns.map((_, at) => (isNumber(at) ? ' class="number"' : ''))
  const head = columns.map((name, at) => `<th scope="col"${kinds[at]}>${escaped(name)}</th>`)
  const body = rows.map(
    (row) =>
      `<tr>${row.map((cell, at) => `<td${kinds[at]}>${escaped(toVisibleText(cell))}</td>`).join('')}</tr>`,
  )
  return `<h2>${escaped(title)}</h2>
<div class="table"><table><thead><tr>${head.join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`
}

function toVisibleText(text: string): string {
  const visible = visibleText(text)
  return visible.length <= CELL_LENGTH_MAX ? visible : `${visible.slice(0, CELL_LENGTH_MAX)}…`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string)
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2328; --dim: #5b6770; --line: #d9dfe3; --paper: #fff;
  --allowed: #2f7d5b; --refused: #b3372f; --held: #9a6a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebee; --dim: #9aa7b0; --line: #343d44;
  --paper: #14191d; --allowed: #5fbf93; --refused: #f0857c; --held: #e0b04c; } }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
dl { display: flex; flex-wrap: wrap; gap: 1.5rem; margin: 1rem 0 2rem; }
dt { color: var(--dim); font-size: .85rem; } dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
figure { margin: 0; } figcaption { color: var(--dim); font-size: .85rem; }
figcaption .allowed { color: var(--allowed); } figcaption .refused { color: var(--refused); }
figcaption .held { color: var(--held); }
svg { width: 100%; height: auto; } svg text { fill: var(--dim); font: 11px system-ui, sans-serif; }
svg .axis { stroke: var(--line); } svg .allowed { fill: var(--allowed); }
svg .refused { fill: var(--refused); } svg .held { fill: var(--held); }
.table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .87rem; }
th { text-align: left; color: var(--dim); font-weight: 500; }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
p { color: var(--dim); }`
