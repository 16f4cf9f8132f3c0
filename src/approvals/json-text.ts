// JSON as text: the canonical form that approvals are bound to, and the form that people are shown.
// Both keep the digits of numbers as they were written: 9007199254740993, 1.0 and 1e2 stay what they
// are, where a parser would round or rewrite them. The texts were taken by the strict reader. Pure.

/** One token: a string, a number or word, or a sign. */
const TOKEN = /[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|[-+.\w]+|[[\]{}:,])/y

/** What is made of the parts of a text. */
interface Making {
  readonly text: (value: string, key: string | undefined) => string
  readonly plain: (written: string, key: string | undefined) => string
  readonly object: (members: [key: string, value: string][]) => string
}

/** Members in the order of their names, strings spelt one way, numbers as written. */
export function canonicalText(text: string): string {
  return make(text, {
    text: (value) => JSON.stringify(value),
    plain: (written) => written,
    object: (members) => joined(members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))),
  })
}

/** The members of an object, each as canonical text; empty where the text is no object. */
export function canonicalMembers(text: string): Map<string, string> {
  let last: [string, string][] = []
  const made = make(text, {
    text: (value) => JSON.stringify(value),
    plain: (written) => written,
    object: (members) => {
      last = members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      return joined(last)
    },
  })
  // The outermost is made last.
  return made.startsWith('{') ? new Map(last) : new Map()
}

const MASK = '[masked]'
/** Names whose values nobody needs to see in order to decide. */
const SECRET_NAME =
  /pass(?:word|wd|phrase)|secret|token|api[_-]?key|authori[sz]ation|credential|private[_-]?key|^pin$|cookie/i
/** Shapes that hardly anything but a secret has. Each looks at a place once, or at a few hundred
 * characters behind it: whoever writes the arguments must not make the gate stand still. */
const SECRET_SHAPES: readonly RegExp[] = [
  // Without its end all that follows is taken for the key.
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255}|glpat-[A-Za-z0-9_-]{20,255})/g,
  /\bsk-[A-Za-z0-9_-]{20,255}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/g,
  /\bAIza[A-Za-z0-9_-]{35}\b/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}/g,
  /\b[Bb]earer [A-Za-z0-9._~+/=-]{16,4000}/g,
  /:\/\/[^\s/:@]{1,255}:[^\s/@]{1,255}@/g,
]

/** With every secret that its name or its shape gives away masked; all else as it is written. */
export function maskedText(text: string): string {
  return make(text, {
    text: (value, key) => {
      if (key !== undefined && SECRET_NAME.test(key) && value !== '') return JSON.stringify(MASK)
      let shown = value
      for (const shape of SECRET_SHAPES) shown = shown.replace(shape, MASK)
      return JSON.stringify(shown)
    },
    plain: (written, key) =>
      key !== undefined && SECRET_NAME.test(key) && /^-?\d/.test(written)
        ? JSON.stringify(MASK)
        : written,
    object: joined,
  })
}

function joined(members: readonly [string, string][]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
}

function make(text: string, making: Making): string {
  const tokens = new Tokens(text)
  const made = value(tokens, making, undefined)
  if (tokens.peek() !== undefined) throw new Error('more than one JSON value')
  return made
}

/** Values below a secret name are secret too: `key` goes down into lists and objects of them. */
function value(tokens: Tokens, making: Making, key: string | undefined): string {
  const token = tokens.take()
  if (token === '{') return object(tokens, making, key)
  if (token === '[') return list(tokens, making, key)
  if (token.startsWith('"')) return making.text(JSON.parse(token) as string, key)
  if (!/^[-\w]/.test(token)) throw new Error(`not JSON at \`${token}\``)
  return making.plain(token, key)
}

function object(tokens: Tokens, making: Making, above: string | undefined): string {
  const members: [string, string][] = []
  if (tokens.skip('}')) return making.object(members)
  do {
    const name = JSON.parse(tokens.take()) as string
    tokens.must(':')
    const inherits = above !== undefined && SECRET_NAME.test(above)
    members.push([name, value(tokens, making, inherits ? above : name)])
  } while (tokens.skip(','))
  tokens.must('}')
  return making.object(members)
}

function list(tokens: Tokens, making: Making, key: string | undefined): string {
  const items: string[] = []
  if (tokens.skip(']')) return '[]'
  do items.push(value(tokens, making, key))
  while (tokens.skip(','))
  tokens.must(']')
  return `[${items.join(',')}]`
}

class Tokens {
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
