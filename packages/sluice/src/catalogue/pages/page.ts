// A page as data: headings, sentences, lists, tables and code, before it is Markdown or HTML. Texts
// are plain; `code` in them is marked by backticks. Made by tool-page and server-page, written by
// page-markdown and page-html.

export interface CataloguePage {
  readonly title: string
  /** Under the title: the short answer. */
  readonly lead: string
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
      readonly kind: 'table'
      readonly head: readonly string[]
      readonly rows: readonly (readonly Cell[])[]
    }

/** A text, or a text that leads to another page of the site. */
export type Cell = string | { readonly text: string; readonly to: string }

export function createTextBlock(text: string): PageBlock {
  return { kind: 'text', text }
}

export function yaml(text: string): PageBlock {
  return { kind: 'code', language: 'yaml', text }
}
