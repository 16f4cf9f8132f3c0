// The first look at a document: its tokens, in one linear pass, before the YAML parser sees them.
// (The parser takes seconds on a megabyte of brackets or anchors; its lexer does not.) What could
// hang it is refused here, and so is what it would report far from where a person went wrong.

import { Lexer } from 'yaml'
import { DOCUMENT_ANCHORS_MAX, DOCUMENT_DEPTH_MAX } from './limits.ts'
import type { Problems } from './problem.ts'

/** Whether the parser may see the text; reports why not. */
export function checkTokens(text: string, problems: Problems): boolean {
  const pass = new TokenPass(problems)
  for (const token of new Lexer().lex(text)) if (!pass.take(token)) return false
  return pass.end()
}

/** The lexer's mark before the content of a plain or block scalar. */
const SCALAR_MARK = '\u001f'
/** Marks of the lexer that stand for no text. */
const MARKS = new Set(['\u0002', '\u0018', SCALAR_MARK])
const CLOSING = { '[': ']', '{': '}' } as const

class TokenPass {
  readonly #problems: Problems
  readonly #open: { bracket: '[' | '{'; at: number }[] = []
  #at = 0
  #inLine = 0
  #anchors = 0
  #previous = ''

  constructor(problems: Problems) {
    this.#problems = problems
  }

  take(token: string): boolean {
    const isContent = this.#previous === SCALAR_MARK
    const sound = isContent || (this.#count(token), this.#bounded() && this.#legible(token))
    this.#previous = token
    if (!MARKS.has(token)) this.#at += token.length
    return sound
  }

  end(): boolean {
    const unclosed = this.#open.at(-1)
    if (unclosed === undefined) return true
    const { bracket, at } = unclosed
    return this.#refuse('POLICY_SYNTAX', at, `\`${bracket}\` is never closed`, `close it with \`${CLOSING[bracket]}\``)
  }

  #count(token: string): void {
    const first = token[0]
    if (first === '\n' || first === '\r') this.#inLine = 0
    else if (token === '[' || token === '{') this.#open.push({ bracket: token, at: this.#at })
    else if (token === ']' || token === '}') this.#open.pop()
    else if (this.#open.length === 0 && (token === '-' || token === '?' || token === ':')) this.#inLine++
    else if (first === '&' || first === '*' || first === '!') this.#anchors++
  }

  #bounded(): boolean {
    if (this.#open.length > DOCUMENT_DEPTH_MAX || this.#inLine > DOCUMENT_DEPTH_MAX)
      return this.#refuse('POLICY_TOO_LARGE', this.#at, `nested deeper than ${DOCUMENT_DEPTH_MAX} levels`, 'no part of a policy nests like this')
    if (this.#anchors > DOCUMENT_ANCHORS_MAX)
      return this.#refuse('POLICY_TOO_LARGE', this.#at, `more than ${DOCUMENT_ANCHORS_MAX} anchors, aliases and tags`, 'write the values out, or use a glob')
    return true
  }

  #legible(token: string): boolean {
    const first = token[0]
    const syntax = (message: string, help: string) => this.#refuse('POLICY_SYNTAX', this.#at, message, help)
    if (first === '%') return syntax(`\`${shown(token)}\` is a directive`, 'take the line out: a policy is always read as YAML 1.2')
    if (first === '*' && (token === '*' || /[/*:]/.test(token.slice(1)))) {
      const glob = token.replace(/:$/, '')
      return syntax(`\`${shown(glob)}\` begins with \`*\`, which is an alias in YAML`, `put it in quotes: \`"${shown(glob)}"\``)
    }
    if ((first === '"' || first === "'") && (token.length === 1 || !token.endsWith(first)))
      return syntax(`\`${first}\` begins a text that never ends`, 'close the quote')
    return true
  }

  #refuse(code: 'POLICY_SYNTAX' | 'POLICY_TOO_LARGE', at: number, message: string, help: string): false {
    this.#problems.error(code, at, message, help)
    return false
  }
}

function shown(token: string): string {
  return token.slice(0, 80)
}
