// A report as a page, in Markdown and as one HTML file with a plot: no script, nothing from other hosts.
// Names and reasons come from agents and servers, so nothing in them is markup. Pure.

import type { Page, PageBlock } from '../../core/pages/page.ts'
import { singleHtmlOf } from '../../core/pages/page-html.ts'
import { markdownOf } from '../../core/pages/page-markdown.ts'
import { renderPlot } from './plot.ts'
import type { LedgerReport } from './report.ts'
import { buildSections, formatTitle, type ReportSection } from './sections.ts'

export function asMarkdown(report: LedgerReport): string {
  return markdownOf(pageOf(report))
}

export function asHtml(report: LedgerReport): string {
  return singleHtmlOf(pageOf(report))
}

function pageOf(report: LedgerReport): Page {
  const plot: PageBlock = {
    kind: 'drawing',
    svg: `<figure>
<figcaption>Calls over time: <span class="allowed">allowed</span>, <span class="refused">refused</span>, <span class="held">held for a person</span></figcaption>
${renderPlot(report.spans)}
</figure>`,
  }
  const sections = buildSections(report).map((section, at) => ({
    heading: section.title,
    // The first is what happened in short.
    blocks: at === 0 ? [blockOf(section, 'figures'), plot] : [blockOf(section, 'table')],
  }))
  return { title: formatTitle(report), sections }
}

function blockOf({ columns, rows, none }: ReportSection, kind: 'table' | 'figures'): PageBlock {
  if (rows.length === 0) return { kind: 'text', text: none }
  return { kind, head: columns, rows: rows.map((row) => row.map((text) => ({ text }))) }
}
