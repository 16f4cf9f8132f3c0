// Checks a document token by token before the YAML parser sees it. Rejects what could hang the
// parser, and what the parser would report far from the actual mistake. Called by parse-yaml.ts.

import { DOCUMENT_ANCHORS_MAX, DOCUMENT_DEPTH_MAX, DOCUMENT_TOKENS_MAX } from './limits.ts'
import type { Problems } from './problem.ts'

/** The lexer's mark before the content of a plain or block scalar. */
const SCALAR_MARK = '\u001f'
/** Marks of the lexer without text. */
const MARKS = new Set(['\u0002', '\u0018', SCALAR_MARK])
const CLOSING = { '[': ']', '{': '}' } as const

export class TokenCheck {
  readonly #problems: Problems
  readonly #open: { bracket: '[' | '{'; at: number }[] = []
  #at = 0
  #tokens = 0
  #inLine = 0
  #anchors = 0
  #previous = ''

  constructor(problems: Problems) {
    this.#problems = problems
  }

  /** Whether the parser may see the token; reports why not. */
  take(token: string): boolean {
    const isContent = this.#previous === SCALAR_MARK
    this.#tokens++
    if (!isContent) this.#count(token)
    const sound = this.#bounded() && (isContent || this.#legible(token))
    this.#previous = token
    if (!MARKS.has(token)) this.#at += token.length
    return sound
  }

  /** Whether the document may end here. */
  end(): boolean {
    const unclosed = this.#open.at(-1)
    if (unclosed === undefined) return true
    const { bracket, at } = unclosed
    return this.#problems.refuse(
      'DOCUMENT_SYNTAX',
      at,
      `\`${bracket}\` is never closed`,
      `close it with \`${CLOSING[bracket]}\``,
    )
  }

  #count(token: string): void {
    const first = token[0]
    if (first === '\n' || first === '\r') this.#inLine = 0
    else if (token === '[' || token === '{') this.#open.push({ bracket: token, at: this.#at })
    else if (token === ']' || token === '}') this.#open.pop()
    else if (this.#open.length === 0 && (token === '-' || token === '?' || token === ':'))
      this.#inLine++
    else if (first === '&' || first === '*' || first === '!') this.#anchors++
  }

  #bounded(): boolean {
    if (this.#open.length > DOCUMENT_DEPTH_MAX || this.#inLine > DOCUMENT_DEPTH_MAX)
      return this.#problems.refuse(
        'DOCUMENT_TOO_LARGE',
        this.#at,
        `nested deeper than ${DOCUMENT_DEPTH_MAX} levels`,
        'no part of a policy nests like this',
      )
    if (this.#tokens > DOCUMENT_TOKENS_MAX)
      return this.#problems.refuse(
        'DOCUMENT_TOO_LARGE',
        this.#at,
        `more than ${DOCUMENT_TOKENS_MAX} words and signs`,
        'use globs and categories, or split it into several documents',
      )
    if (this.#anchors > DOCUMENT_ANCHORS_MAX)
      return this.#problems.refuse(
        'DOCUMENT_TOO_LARGE',
        this.#at,
        `more than ${DOCUMENT_ANCHORS_MAX} anchors, aliases and tags`,
        'write the values out, or use a glob',
      )
    return true
  }

  #legible(token: string): boolean {
    const first = token[0]
    const syntax = (message: string, help: string) =>
      this.#problems.refuse('DOCUMENT_SYNTAX', this.#at, message, help)
    if (first === '%')
      return syntax(
        `\`${quote(token)}\` is a directive`,
        'take the line out: a policy is always read as YAML 1.2',
      )
    if (first === '*' && (token === '*' || /[/*:]/.test(token.slice(1)))) {
      const glob = token.replace(/:$/, '')
      return syntax(
        `\`${quote(glob)}\` begins with \`*\`, which is an alias in YAML`,
        `put it in quotes: \`"${quote(glob)}"\``,
      )
    }
    if ((first === '"' || first === "'") && (token.length === 1 || !token.endsWith(first)))
      return syntax(`\`${first}\` begins a text that never ends`, 'close the quote')
    return true
  }
}

function quote(token: string): string {
  return token.slice(0, 80)
}
