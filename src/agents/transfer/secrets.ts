// Secrets in texts that leave with an export: found by their shape, replaced by their kind. Only
// shapes that hardly anything else has; what is found is listed, never quoted. Pure.

const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  [
    'private-key',
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,20000}?-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
  ],
  ['aws-access-key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ['github-token', /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b/g],
  ['anthropic-key', /\bsk-ant-[A-Za-z0-9_-]{20,200}/g],
  ['openai-key', /\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,200}/g],
  ['slack-token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,200}/g],
  ['stripe-key', /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,200}\b/g],
  ['google-key', /\bAIza[A-Za-z0-9_-]{35}\b/g],
  ['npm-token', /\bnpm_[A-Za-z0-9]{36}\b/g],
  [
    'json-web-token',
    /\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}/g,
  ],
  [
    'password',
    /\b(?:password|passwd|secret|api[_-]?key|access[_-]?token)["']?\s{0,4}[:=]\s{0,4}["'][^"'\s]{8,200}["']/gi,
  ],
]

export interface FoundSecret {
  readonly kind: string
  readonly where: string
  readonly count: number
}

export class Redactor {
  readonly #found = new Map<string, FoundSecret>()
  readonly #keep: boolean

  constructor(keep: boolean) {
    this.#keep = keep
  }

  get found(): FoundSecret[] {
    return [...this.#found.values()]
  }

  /** The text without its secrets, or as it is where they are to be kept; both ways they are listed. */
  text(text: string, where: string): string {
    let clean = text
    for (const [kind, pattern] of KINDS)
      clean = clean.replace(pattern, () => {
        const name = `${kind} ${where}`
        const count = (this.#found.get(name)?.count ?? 0) + 1
        this.#found.set(name, { kind, where, count })
        return `[secret: ${kind}]`
      })
    return this.#keep ? text : clean
  }

  /** The same in every text of a value. */
  value(value: unknown, where: string): unknown {
    if (typeof value === 'string') return this.text(value, where)
    if (Array.isArray(value)) return value.map((item) => this.value(item, where))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.value(member, where)]),
    )
  }
}
