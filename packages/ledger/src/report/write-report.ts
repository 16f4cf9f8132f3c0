// A report as a page, in Markdown and as one HTML file with a plot: no script, nothing from other hosts.
// Names and reasons come from agents and servers, so nothing in them is markup. Pure.

import type { Page, PageBlock } from '@sluice/guard/show/page'
import { singleHtmlOf } from '@sluice/guard/show/page-html'
import { markdownOf } from '@sluice/guard/show/page-markdown'
import type { LedgerReport, Span } from './report.ts'
import { buildSections, formatTitle, minute, type ReportSection } from './sections.ts'

const WIDTH = 1_000
const HEIGHT = 220
const LEFT = 52
const BOTTOM = 24
const TOP = 8
const LABELS = 6

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

/**
 * Calls over time as stacked bars, in inline SVG: no script, colours from the page's style. Pure.
 */
function renderPlot(spans: readonly Span[]): string {
  const most = Math.max(1, ...spans.map(({ allowed, refused, held }) => allowed + refused + held))
  const high = roundUp(most)
  const y = (value: number) => HEIGHT - BOTTOM - (value / high) * (HEIGHT - BOTTOM - TOP)
  const step = (WIDTH - LEFT) / Math.max(1, spans.length)
  const bars = spans.map((span, at) => bar(span, LEFT + at * step + 1, Math.max(1, step - 2), y))
  const lines = [0, 0.5, 1].map((part) => {
    const at = y(high * part).toFixed(1)
    return `<line class="axis" x1="${LEFT}" x2="${WIDTH}" y1="${at}" y2="${at}"/><text x="${LEFT - 6}" y="${Number(at) + 4}" text-anchor="end">${(high * part).toLocaleString('en')}</text>`
  })
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${describePlot(spans)}">
${lines.join('\n')}
${bars.join('\n')}
${times(spans, step).join('\n')}
</svg>`
}

function bar(
  { atMs, allowed, refused, held }: Span,
  x: number,
  width: number,
  y: (value: number) => number,
): string {
  let below = 0
  const parts = Object.entries({ allowed, refused, held }).flatMap(([kind, value]) => {
    if (value === 0) return []
    const [from, to] = [y(below), y(below + value)]
    below += value
    // A single event among thousands is what a reader looks for: never thinner than a line.
    const height = Math.max(1.5, from - to)
    return [
      `<rect class="${kind}" x="${x.toFixed(1)}" y="${(from - height).toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}"/>`,
    ]
  })
  const label = `${minute(atMs)}: ${allowed} allowed, ${refused} refused, ${held} held`
  return parts.length === 0 ? '' : `<g><title>${label}</title>${parts.join('')}</g>`
}

function times(spans: readonly Span[], step: number): string[] {
  const every = Math.max(1, Math.floor(spans.length / LABELS))
  return spans.flatMap(({ atMs }, at) =>
    at % every === 0
      ? [
          `<text x="${(LEFT + at * step).toFixed(1)}" y="${HEIGHT - 6}">${minute(atMs).slice(5, 16)}</text>`,
        ]
      : [],
  )
}

function describePlot(spans: readonly Span[]): string {
  const sum = (of: (span: Span) => number) => spans.reduce((all, span) => all + of(span), 0)
  return `${sum((span) => span.allowed)} allowed, ${sum((span) => span.refused)} refused, ${sum((span) => span.held)} held`
}

/** 1, 2 or 5 and zeros. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}
