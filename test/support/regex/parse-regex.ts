// The structure of a regular expression that Node has already accepted: what repeats, what is a choice,
// what looks around. What a single character matches is left as source text; Node itself is asked for it.

export type RegexNode =
  | { readonly kind: 'char'; readonly source: string }
  | { readonly kind: 'edge'; readonly source: '^' | '$' | '\\b' | '\\B' }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | Repeat
  | Look

export interface Repeat {
  readonly kind: 'repeat'
  readonly body: RegexNode
  readonly min: number
  /** Infinity for `*`, `+` and `{n,}`. */
  readonly max: number
}

export interface Look {
  readonly kind: 'look'
  readonly isAhead: boolean
  readonly isNegative: boolean
  readonly body: RegexNode
}

const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y
const GROUP = /\((?:\?(?:(<?[=!])|<([^>=!]+)>|[a-z]*(?:-[a-z]*)?:))?/y
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]/y
const ESCAPE =
  /\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]+\}|k<[^>]+>|[1-9]\d?|0|[\s\S])/y

export function parseRegex(source: string, flags: string): RegexNode {
  if (flags.includes('v')) throw new Error('the flag v is not read here')
  return new Parser(source, /[uv]/.test(flags)).parse()
}

class Parser {
  readonly #source: string
  readonly #isUnicode: boolean
  /** By number and by name: a back-reference repeats the body of its group. */
  readonly #groups = new Map<string, RegexNode>()
  #groupCount = 0
  #at = 0

  constructor(source: string, isUnicode: boolean) {
    this.#source = source
    this.#isUnicode = isUnicode
  }

  parse(): RegexNode {
    const node = this.#choice()
    if (this.#at < this.#source.length) throw new Error(`not read to its end: ${this.#source}`)
    return node
  }

  #choice(): RegexNode {
    const options = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      options.push(this.#sequence())
    }
    return options.length === 1 && options[0] !== undefined
      ? options[0]
      : { kind: 'choice', options }
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? ''))
      parts.push(this.#repeated())
    return { kind: 'sequence', parts }
  }

  #repeated(): RegexNode {
    const body = this.#atom()
    const found = this.#take(QUANTIFIER)
    if (found === undefined) return body
    const [, sign, low, comma, high] = found
    if (sign !== undefined)
      return { kind: 'repeat', body, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    const min = Number(low)
    const max = comma === undefined ? min : high === '' ? Infinity : Number(high)
    return { kind: 'repeat', body, min, max }
  }

  #atom(): RegexNode {
    const letter = this.#source[this.#at] ?? ''
    if (letter === '(') return this.#group()
    if (letter === '[') return this.#class()
    if (letter === '\\') return this.#escape()
    if (letter === '^' || letter === '$') {
      this.#at++
      return { kind: 'edge', source: letter }
    }
    const char = this.#isUnicode
      ? String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0)
      : letter
    this.#at += char.length
    // A brace that begins no quantifier is a character.
    return { kind: 'char', source: /[{}\]]/.test(char) ? `\\${char}` : char }
  }

  #group(): RegexNode {
    const [opening, look, name] = this.#take(GROUP) ?? ['']
    const isCapture = opening === '(' || name !== undefined
    const number = isCapture ? ++this.#groupCount : 0
    const body = this.#choice()
    this.#at++
    if (isCapture) this.#groups.set(`${number}`, body)
    if (name !== undefined) this.#groups.set(name, body)
    if (look === undefined) return body
    return { kind: 'look', isAhead: !look.startsWith('<'), isNegative: look.endsWith('!'), body }
  }

  #class(): RegexNode {
    const [source] = this.#take(CLASS) ?? ['']
    return { kind: 'char', source }
  }

  #escape(): RegexNode {
    const [source] = this.#take(ESCAPE) ?? ['']
    if (source === '\\b' || source === '\\B') return { kind: 'edge', source }
    const group = this.#groups.get(source.replace(/^\\(?:k<)?|>$/g, ''))
    if (group !== undefined && /^\\(?:k|\d)/.test(source)) return group
    return { kind: 'char', source }
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found === null) return undefined
    this.#at += found[0].length
    return found
  }
}
