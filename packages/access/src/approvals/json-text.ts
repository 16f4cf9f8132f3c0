// JSON as text: the canonical form that approvals are bound to, and the base of other forms (the
// one shown to approvers: mask-text.ts). All keep the digits of numbers as written:
// 9007199254740993, 1.0 and 1e2 stay unchanged, while a parser would round or rewrite them. The
// texts were accepted by the strict reader. Pure.

import { joinMembers, sortMembers } from '@sluice/policy/values/canonical-json'

/** One token: a string, a number or word, or a sign. */
const TOKEN = /[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|[-+.\w]+|[[\]{}:,])/y

/** Names and indexes that lead to a value; the array is reused for the next one. */
export type Path = readonly (string | number)[]

/** Builds the result from the parts of a text. */
interface JsonTextBuilder {
  readonly text: (value: string, path: Path) => string
  readonly plain: (written: string, path: Path) => string
  readonly object: (members: [key: string, value: string][]) => string
}

/** Canonical JSON: members sorted by name, strings in one spelling, numbers as written. */
export function toCanonicalJsonText(text: string): string {
  return rewriteText(text, {
    text: (value) => JSON.stringify(value),
    plain: (written) => written,
    object: (members) => joinMembers(sortMembers(members)),
  })
}

/** The members of an object, each as canonical text; empty if the text is not an object. */
export function canonicalMembers(text: string): Map<string, string> {
  let last: [string, string][] = []
  const made = rewriteText(text, {
    text: (value) => JSON.stringify(value),
    plain: (written) => written,
    object: (members) => {
      last = sortMembers(members)
      return joinMembers(last)
    },
  })
  // The outermost is built last.
  return made.startsWith('{') ? new Map(last) : new Map()
}

export function rewriteText(text: string, making: JsonTextBuilder): string {
  const tokens = new JsonTokens(text)
  const made = value(tokens, making, [])
  if (tokens.peek() !== undefined) throw new Error('more than one JSON value')
  return made
}

function value(tokens: JsonTokens, making: JsonTextBuilder, path: (string | number)[]): string {
  const token = tokens.take()
  if (token === '{') return object(tokens, making, path)
  if (token === '[') return list(tokens, making, path)
  if (token.startsWith('"')) return making.text(JSON.parse(token) as string, path)
  if (!/^[-\w]/.test(token)) throw new Error(`not JSON at \`${token}\``)
  return making.plain(token, path)
}

function object(tokens: JsonTokens, making: JsonTextBuilder, path: (string | number)[]): string {
  const members: [string, string][] = []
  if (tokens.skip('}')) return making.object(members)
  do {
    const name = JSON.parse(tokens.take()) as string
    tokens.must(':')
    path.push(name)
    members.push([name, value(tokens, making, path)])
    path.pop()
  } while (tokens.skip(','))
  tokens.must('}')
  return making.object(members)
}

function list(tokens: JsonTokens, making: JsonTextBuilder, path: (string | number)[]): string {
  const items: string[] = []
  if (tokens.skip(']')) return '[]'
  do {
    path.push(items.length)
    items.push(value(tokens, making, path))
    path.pop()
  } while (tokens.skip(','))
  tokens.must(']')
  return `[${items.join(',')}]`
}

class JsonTokens {
  readonly #text: string
  #at = 0
  #next: string | undefined

  constructor(text: string) {
    this.#text = text
    this.#advance()
  }

  peek(): string | undefined {
    return this.#next
  }

  take(): string {
    const token = this.#next
    if (token === undefined) throw new Error('JSON ends too early')
    this.#advance()
    return token
  }

  skip(sign: string): boolean {
    if (this.#next !== sign) return false
    this.#advance()
    return true
  }

  must(sign: string): void {
    if (!this.skip(sign)) throw new Error(`not JSON: \`${sign}\` is missing`)
  }

  #advance(): void {
    TOKEN.lastIndex = this.#at
    const match = TOKEN.exec(this.#text)
    if (match === null && this.#text.slice(this.#at).trim() !== '') throw new Error('not JSON')
    this.#next = match?.[1]
    this.#at = match === null ? this.#text.length : TOKEN.lastIndex
  }
}
