// A page as Markdown. What a definition or a record says is text, whatever marks it has: it must not end
// its row, or become a heading, a link, an image or HTML in a viewer. Pure.

import { type Cell, cutCell, type Page, type PageBlock } from './page.ts'
import { visibleText } from './visible-text.ts'

/** `linkOf`: the address of another page; without it links are plain text. */
export function markdownOf(page: Page, linkOf?: (to: string) => string): string {
  const parts = [`# ${escapeMarkdown(page.title)}`]
  if (page.lead !== undefined) parts.push(inline(page.lead))
  for (const { heading, blocks } of page.sections) {
    parts.push(
      `## ${escapeMarkdown(heading)}`,
      ...blocks.filter(({ kind }) => kind !== 'drawing').map((block) => blockOf(block, linkOf)),
    )
  }
  return `${parts.join('\n\n')}\n`
}

function blockOf(block: PageBlock, linkOf: ((to: string) => string) | undefined): string {
  switch (block.kind) {
    case 'text':
      return inline(block.text)
    case 'list':
      return block.items.map((item) => `- ${inline(item)}`).join('\n')
    case 'drawing':
      return ''
    case 'code':
      return `\`\`\`${block.language}\n${block.text.trimEnd().replaceAll('```', "'''")}\n\`\`\``
    default: {
      const row = (cells: readonly Cell[]) =>
        `| ${cells.map((cell) => cellOf(cell, linkOf)).join(' | ')} |`
      return [
        row(block.head),
        `|${block.head.map(() => '---|').join('')}`,
        ...block.rows.map(row),
      ].join('\n')
    }
  }
}

function cellOf(cell: Cell, linkOf: ((to: string) => string) | undefined): string {
  if (typeof cell === 'string') return inline(cell).replaceAll('|', '\\|')
  const text = escapeMarkdown(cutCell(cell.text)).replaceAll('|', '\\|')
  return linkOf === undefined || cell.to === undefined ? text : `[${text}](${linkOf(cell.to)})`
}

/** Backticks and bold are ours; everything else is text. */
function inline(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .split(/(`[^`]*`|\*\*[^*]*\*\*)/)
    .map((part, index) => (index % 2 === 1 ? part : escapeMarkdown(part)))
    .join('')
}

function escapeMarkdown(text: string): string {
  return visibleText(text.replace(/\s+/g, ' '))
    .replace(/[\\`*_[\]#~]/g, '\\$&')
    .replaceAll('](', ']\\(')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/:\/\//g, ':\u200b//')
}
