// A page as HTML: no scripts but the search of the catalogue's index, readable in light and dark, on a
// phone and by a screen reader. What definitions and records say is escaped and made visible: a collection
// of strangers' texts is a place to plant a script. Pure.

import { type Cell, cutCell, type Page, type PageBlock } from './page.ts'
import { visibleLines } from './visible-text.ts'

export interface PageContext {
  /** From this page to the root of the site: `../` or ``. */
  readonly root: string
  /** Where the page stands: the names and addresses of the pages above it. */
  readonly trail: readonly { readonly text: string; readonly to: string }[]
  /** A file of the site: the search of the index. */
  readonly script?: string
}

/** A page of the catalogue's site. */
export function htmlOf(page: Page, { root, trail, script }: PageContext): string {
  const above = [{ text: 'Catalogue', to: 'index.html' }, ...trail]
    .map(({ text, to }) => `<a href="${root}${escapeHtml(to)}">${escapeHtml(text)}</a>`)
    .join(' › ')
  return `${headOf(`${page.title} · Sluice catalogue`, "style-src 'self'; script-src 'self'; img-src 'self' data:")}
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}style.css">
</head>
<body>
<nav aria-label="Where you are">${above}</nav>
${mainOf(page, root)}
${script === undefined ? '' : `<script src="${root}${escapeHtml(script)}"></script>\n`}</body>
</html>
`
}

/** A page that is one file and loads nothing. */
export function singleHtmlOf(page: Page): string {
  return `${headOf(page.title, "style-src 'unsafe-inline'")}
<meta name="referrer" content="no-referrer">
<style>${STYLE}</style>
</head>
<body>
${mainOf(page, '')}
</body>
</html>
`
}

function headOf(title: string, policy: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${policy}">
<title>${escapeHtml(title)}</title>`
}

function mainOf(page: Page, root: string): string {
  const body = page.sections
    .map(
      ({ heading, blocks }) =>
        `<h2 id="${anchorOf(heading)}">${escapeHtml(heading)}</h2>\n${blocks.map((block, at) => blockOf(block, root, `${heading}${at > 0 ? `, ${at + 1}` : ''}`)).join('\n')}`,
    )
    .join('\n')
  const lead = page.lead === undefined ? '' : `<p class="lead">${inline(page.lead)}</p>\n`
  return `<main>
<h1>${breakable(page.title)}</h1>
${lead}${body}
</main>`
}

/** An attack by its number alone; a question in plain letters, so that people can link it. */
function anchorOf(heading: string): string {
  const number = /^(A\d\d) /.exec(heading)?.[1]
  return (
    number ??
    heading
      .toLowerCase()
      .replace(/[^a-z0-9_]+/g, '-')
      .replace(/^-|-$/g, '')
  )
}

function blockOf(block: PageBlock, root: string, name: string): string {
  switch (block.kind) {
    case 'text':
      return `<p>${inline(block.text)}</p>`
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${inline(item)}</li>`).join('')}</ul>`
    case 'code':
      return `<pre tabindex="0"><code>${escapeHtml(block.text.trimEnd())}</code></pre>`
    case 'drawing':
      return block.svg
    case 'figures': {
      const [row = []] = block.rows
      const figures = block.head.map(
        (name, at) =>
          `<div><dt>${escapeHtml(name)}</dt><dd>${cellOf(row[at] ?? '', root)}</dd></div>`,
      )
      return `<dl>${figures.join('')}</dl>`
    }
    case 'table': {
      const isNumber = (at: number) =>
        block.rows.every((row) => /^[\d,.]*( (ms|s|min|h))?$/.test(textOf(row[at] ?? ''))) &&
        block.rows.some((row) => textOf(row[at] ?? '') !== '')
      const kinds = block.head.map((_, at) => (isNumber(at) ? ' class="number"' : ''))
      const head = block.head
        .map((cell, at) => `<th scope="col"${kinds[at]}>${escapeHtml(cell)}</th>`)
        .join('')
      const rows = block.rows
        .map(
          (row) =>
            `<tr>${row.map((cell, at) => `<td${kinds[at]}>${cellOf(cell, root)}</td>`).join('')}</tr>`,
        )
        .join('\n')
      return `<div class="wide" tabindex="0" role="region" aria-label="${escapeHtml(name)}"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`
    }
  }
}

function cellOf(cell: Cell, root: string): string {
  if (typeof cell === 'string') return inline(cell)
  if (cell.to === undefined) return escapeHtml(cutCell(cell.text))
  const [page = '', anchor] = cell.to.split('#')
  const to = `${page}.html${anchor === undefined ? '' : `#${anchor}`}`
  return `<a href="${root}${escapeHtml(to)}">${breakable(cell.text)}</a>`
}

/** A long name goes on in the next line after a slash or an underline. */
function breakable(text: string): string {
  return escapeHtml(text).replace(/[/_]/g, '$&<wbr>')
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

function inline(text: string): string {
  return text
    .split(/(`[^`]*`|\*\*[^*]*\*\*)/)
    .map((part, index) => {
      if (index % 2 === 0) return escapeHtml(part)
      if (part.startsWith('`')) return `<code>${escapeHtml(part.slice(1, -1))}</code>`
      return `<strong>${escapeHtml(part.slice(2, -2))}</strong>`
    })
    .join('')
}

function escapeHtml(text: string): string {
  return visibleLines(text).replace(/[&<>"']/g, (mark) => ENTITIES[mark] as string)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const STYLE = `:root { color-scheme: light dark; --ink: #1b1f23; --soft: #57606a; --paper: #ffffff; --line: #d0d7de; --link: #0550ae; --code: #f3f5f7; --allowed: #2f7d5b; --refused: #b3372f; --held: #9a6a00 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa5b1; --paper: #0d1117; --line: #30363d; --link: #79b8ff; --code: #161b22; --allowed: #5fbf93; --refused: #f0857c; --held: #e0b04c } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; color: var(--ink); background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
nav { color: var(--soft); font-size: .9rem }
a { color: var(--link) }
a:focus-visible, input:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .6rem 0 }
h2 { font-size: 1.2rem; margin: 1.8rem 0 .5rem; border-bottom: 1px solid var(--line) }
.lead { font-size: 1.1rem; color: var(--soft) }
pre { background: var(--code); padding: .8rem; overflow-x: auto; border-radius: 6px }
code { background: var(--code); padding: .1em .3em; border-radius: 4px; font-size: .9em }
pre code { padding: 0 }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .92rem }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: break-word }
td:first-child { min-width: 7.5rem; overflow-wrap: anywhere }
@media (min-width: 30.1rem) { td:first-child code { overflow-wrap: normal } }
p { white-space: pre-line }
@media (max-width: 30rem) { th, td { padding: .35rem .4rem } h1 { font-size: 1.35rem } }
.lead strong { color: var(--ink) }
label { display: block; margin: 1rem 0 .3rem }
input { width: 100%; font: inherit; padding: .5rem .7rem; color: inherit; background: var(--code); border: 1px solid var(--soft); border-radius: 6px }
[hidden] { display: none }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
dl { display: flex; flex-wrap: wrap; gap: 1.5rem; margin: 1rem 0 2rem }
dt { color: var(--soft); font-size: .85rem }
dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums }
figure { margin: 0 }
figcaption { color: var(--soft); font-size: .85rem }
figcaption .allowed { color: var(--allowed) }
figcaption .refused { color: var(--refused) }
figcaption .held { color: var(--held) }
svg { width: 100%; height: auto }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif }
svg .axis { stroke: var(--line) }
svg .allowed { fill: var(--allowed) }
svg .refused { fill: var(--refused) }
svg .held { fill: var(--held) }
`

/** The search of the index: over names and classes, in the browser, without a server. */
export const SEARCH = `const box = document.querySelector('main .lead').insertAdjacentElement('afterend', document.createElement('form'))
box.setAttribute('role', 'search')
box.innerHTML = '<label for="find">Find a tool or a server</label><input id="find" type="search" autocomplete="off"><p role="status" aria-live="polite"></p><ul></ul>'
box.addEventListener('submit', (event) => event.preventDefault())
const [input, status, list] = [box.querySelector('input'), box.querySelector('p'), box.querySelector('ul')]
input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean)
  const found = words.length === 0 ? [] : TOOLS.filter(([name, , category, risk]) => {
    const text = (name + ' ' + category + ' ' + risk).toLowerCase()
    return words.every((word) => text.includes(word))
  })
  status.textContent = words.length === 0 ? '' : found.length + ' found' + (found.length > 100 ? ', the first 100 shown' : '')
  list.replaceChildren(...found.slice(0, 100).map(([name, to, category, risk]) => {
    const [item, link] = [document.createElement('li'), document.createElement('a')]
    link.href = to
    link.textContent = name
    item.append(link, ' ' + category + ', ' + risk)
    return item
  }))
})
`
