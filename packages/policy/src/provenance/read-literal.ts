// Reads a text that is one literal as Python prints it: `[{'to': 'ann'}]`, `[Event(id='7')]`. Strings are
// quoted and escaped, as in JSON, but a server that puts such a text together by hand may not escape,
// so it counts for less: the prose of any record counts for all. Linear.

import { ANSWER_DEPTH_MAX } from './limits.ts'
import { FieldCollector, type RecordText } from './record-fields.ts'

/** A bracket and a value, or a name with one: nearly no prose begins so, nor does `[FILE] name`. */
const START =
  /^(?:[[{(][ \n]{0,9}(?:[rbu]?['"]|[[{(\d-]|None|True|False|[A-Za-z_][\w.]{0,63}\()|[A-Za-z_][\w.]{0,63}\()/

export function isLiteralStart(text: string): boolean {
  return START.test(text)
}

/** Undefined if the text is not one literal and nothing else. */
export function readLiteral(text: string): RecordText | undefined {
  const reader = new LiteralReader(text)
  try {
    return reader.read()
  } catch (error) {
    if (error === NO_LITERAL) return undefined
    throw error
  }
}

/** Thrown inside this module only. */
const NO_LITERAL = new Error('not a literal')

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' }
const BLANKS = /[ \n]*/y
const STRING = /[rbu]?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/y
const NUMBER = /-?\d[\d_]{0,40}(?:\.\d{0,40})?(?:e[+-]?\d{1,4})?(?![\w.])/y
const NAME = /[A-Za-z_][\w.]{0,63}/y
const ESCAPE = /\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)/g
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }
const WORDS: ReadonlySet<string> = new Set(['None', 'True', 'False'])

class LiteralReader {
  readonly #text: string
  readonly #fields = new FieldCollector()
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): RecordText {
    const isTable = this.#readValue('')
    if (this.#at !== this.#text.length) throw NO_LITERAL
    return this.#fields.resultOfLiteral(isTable)
  }

  /** Whether it is two records or more with the same names. */
  #readValue(key: string): boolean {
    const mark = this.#text[this.#at] ?? ''
    if (CLOSING[mark] !== undefined) return this.#readItems(key).isTable
    const string = this.#take(STRING)
    if (string !== undefined) this.#fields.add(unquote(string), key)
    else {
      const number = this.#take(NUMBER)
      if (number !== undefined) this.#fields.add(number, key)
      else this.#readWord(key)
    }
    return false
  }

  /** `None`, or a record with its name: `Event(id='7')`. Returns its names. */
  #readWord(key: string): string {
    const word = this.#take(NAME)
    if (word === undefined) throw NO_LITERAL
    if (this.#text[this.#at] === '(') return this.#readItems(key).names
    if (!WORDS.has(word)) throw NO_LITERAL
    return ''
  }

  /** What stands between two brackets: values, `key: value` or `key=value`. */
  #readItems(key: string): { names: string; isTable: boolean } {
    if (++this.#depth > ANSWER_DEPTH_MAX) throw NO_LITERAL
    const closing = CLOSING[this.#text[this.#at++] as string] as string
    const names: string[] = []
    const shapes: string[] = []
    this.#take(BLANKS)
    while (this.#text[this.#at] !== closing) {
      if (this.#depth === 2) this.#fields.startRecord()
      const name = this.#readName()
      if (name !== undefined) {
        names.push(name)
        this.#fields.addName(name)
        this.#readValue(name)
      } else shapes.push(this.#readItem(key))
      this.#take(BLANKS)
      if (this.#text[this.#at] === ',') this.#at++
      else if (this.#text[this.#at] !== closing) throw NO_LITERAL
      this.#take(BLANKS)
    }
    this.#at++
    this.#depth--
    const [first = ''] = shapes
    const isTable =
      shapes.length > 1 && first.includes('\n') && shapes.every((one) => one === first)
    return { names: names.join('\n'), isTable }
  }

  /** Returns the names of its fields, if it is a record. */
  #readItem(key: string): string {
    const mark = this.#text[this.#at]
    if (mark === '{') return this.#readItems(key).names
    if (mark !== undefined && /[A-Za-z_]/.test(mark) && !this.#isString())
      return this.#readWord(key)
    this.#readValue(key)
    return ''
  }

  #isString(): boolean {
    STRING.lastIndex = this.#at
    return STRING.test(this.#text)
  }

  /** `'key': ` or `key=`; undefined if a value stands here. */
  #readName(): string | undefined {
    const start = this.#at
    const name = this.#take(STRING) ?? this.#take(NUMBER)
    if (name !== undefined) {
      this.#take(BLANKS)
      if (this.#text[this.#at] === ':') {
        this.#at++
        this.#take(BLANKS)
        return unquote(name)
      }
    } else {
      const word = this.#take(NAME)
      if (word !== undefined && this.#text[this.#at] === '=') {
        this.#at++
        return word
      }
    }
    this.#at = start
    return undefined
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? []
    this.#at += found?.length ?? 0
    return found
  }
}

function unquote(text: string): string {
  const start = text.search(/['"]/)
  if (start === -1) return text
  const inner = text.slice(start + 1, -1)
  if (!inner.includes('\\')) return inner
  return inner.replace(ESCAPE, (found) => {
    const mark = found[1] as string
    if (found.length === 2) return ESCAPED[mark] ?? mark
    const point = Number.parseInt(found.slice(2), 16)
    return point > 0x10_ff_ff ? '' : String.fromCodePoint(point)
  })
}
