// A page as data: headings, sentences, lists, tables and code, before it is Markdown or HTML. Texts are
// plain; `code` in them is marked by backticks. Pages of the catalogue and reports of the ledger are made
// of it, and written by page-markdown.ts and page-html.ts. Pure.

export interface Page {
  readonly title: string
  /** The short answer below the title, if there is one. */
  readonly lead?: string
  readonly sections: readonly PageSection[]
}

export interface PageSection {
  readonly heading: string
  readonly blocks: readonly PageBlock[]
}

export type PageBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | {
      /** Few numbers with their names: large in HTML. */
      readonly kind: 'table' | 'figures'
      readonly head: readonly string[]
      readonly rows: readonly (readonly Cell[])[]
    }
  /** SVG, in HTML only: its maker escapes what is in it. */
  | { readonly kind: 'drawing'; readonly svg: string }

/** A text; a text of somebody else, in which nothing is marked; or one that leads to another page. */
export type Cell = string | { readonly text: string; readonly to?: string }

export function createTextBlock(text: string): PageBlock {
  return { kind: 'text', text }
}

export function yaml(text: string): PageBlock {
  return { kind: 'code', language: 'yaml', text }
}

const CELL_LENGTH_MAX = 300

/** What a cell shows of a text of somebody else. */
export function cutCell(text: string): string {
  return text.length <= CELL_LENGTH_MAX ? text : `${text.slice(0, CELL_LENGTH_MAX)}…`
}
