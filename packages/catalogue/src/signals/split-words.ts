// Names and sentences taken apart into words, each with its place, so that whatever is said about a
// tool can be shown where it stands. Called by the readers of names, texts and schemas.

export interface WordSpan {
  /** In lower case. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** A hump, an acronym before a hump, a run of digits: `getHTTPUrl2` is get, http, url, 2. */
const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-zß-ÿ]+|\d+|[\p{Lo}\u0400-\u04ff]+|[À-Þ][a-zß-ÿ]*/gu

/** `create_pull-request`, `createPullRequest` and `CREATE PULL REQUEST` alike. */
export function splitNameWords(name: string): WordSpan[] {
  const words: WordSpan[] = []
  PART.lastIndex = 0
  // Not `matchAll`, which copies the pattern for every name: there are dozens in a definition.
  for (;;) {
    const found = PART.exec(name)
    if (found === null) return words
    const start = found.index
    words.push({ text: found[0].toLowerCase(), start, end: start + found[0].length })
  }
}

const TEXT_WORD = /[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ'’]*/g

/** The words of a stretch of prose, by their places in the whole text. */
export function splitText(text: string, start: number, end: number): WordSpan[] {
  const words: WordSpan[] = []
  TEXT_WORD.lastIndex = start
  for (;;) {
    const found = TEXT_WORD.exec(text)
    if (found === null || found.index >= end) return words
    const from = found.index
    words.push({ text: found[0].toLowerCase(), start: from, end: from + found[0].length })
  }
}
