// Reads a text that is nothing but records as fields: a block of YAML, a table or a list in Markdown,
// a literal of Python, a listing of paths. A server that writes such a text may not escape what a stranger wrote, so one
// record cannot be told from another: the prose of any record counts for all, and a single record
// counts as written by a stranger. A text with a single line that does not fit has no fields.

import { countBlanks } from './is-prose.ts'
import { ANSWER_DEPTH_MAX, RECORD_LINES_MAX } from './limits.ts'
import { isLiteralStart, readLiteral } from './read-literal.ts'
import { FieldCollector, type RecordText } from './record-fields.ts'

/** Undefined if the text is not records and nothing else. */
export function readRecords(text: string): RecordText | undefined {
  const trimmed = text.trimEnd()
  const literal = isLiteralStart(trimmed) ? readLiteral(trimmed) : undefined
  if (literal !== undefined) return literal
  const end = trimmed.indexOf('\n')
  const first = end === -1 ? trimmed : trimmed.slice(0, end)
  const isTable = first.startsWith('|')
  const isListing = !isTable && readListed(first) !== undefined
  // Most texts are prose, which the first line shows.
  if (!isTable && !isListing && !isItem(first, 0) && readKey(first) === undefined) return undefined
  const lines = trimmed.split('\n', RECORD_LINES_MAX + 1)
  if (lines.length > RECORD_LINES_MAX) return undefined
  const fields = new FieldCollector()
  if (isTable) return readTable(lines, fields)
  return isListing ? readListing(lines, fields) : new BlockReader(lines, fields).read()
}

const SEPARATOR = /^\|(?:\s*:?-+:?\s*\|)+\s*$/

/** A table in Markdown: a head, a line of dashes, and rows with as many cells as the head. */
function readTable(lines: readonly string[], fields: FieldCollector): RecordText | undefined {
  const head = splitCells(lines[0] as string)
  if (head === undefined || lines.length < 3 || !SEPARATOR.test(lines[1] as string))
    return undefined
  if (splitCells(lines[1] as string)?.length !== head.length) return undefined
  for (const line of lines.slice(2)) {
    const cells = splitCells(line)
    if (cells?.length !== head.length) return undefined
    fields.startRecord()
    for (const [at, cell] of cells.entries()) fields.add(cell, head[at] as string)
  }
  return fields.result(lines.length > 3 ? 'table' : 'list')
}

function splitCells(line: string): string[] | undefined {
  const row = line.trim()
  if (row.length < 2 || !row.startsWith('|') || !row.endsWith('|')) return undefined
  const cells: string[] = []
  for (let start = 1; start < row.length; ) {
    const end = row.indexOf('|', start)
    cells.push(unwrapCode(row.slice(start, end).trim()))
    start = end + 1
  }
  return cells
}

/** `[FILE] name`. */
const LISTED = /^\[[A-Z]{2,10}\] +\S.*$/

/** The name in a line of a listing. */
function readListed(line: string): string | undefined {
  if (line.startsWith('[') && LISTED.test(line)) {
    let start = line.indexOf(']') + 1
    while (line.charCodeAt(start) === 32) start++
    return line.slice(start)
  }
  return line === '' || line.startsWith('-') || /[\s:]/.test(line) ? undefined : line
}

/** A path or a name in every line. */
function readListing(lines: readonly string[], fields: FieldCollector): RecordText | undefined {
  for (const line of lines) {
    const name = readListed(line)
    if (name === undefined) return undefined
    fields.add(name, '')
  }
  return fields.result('list')
}

function unwrapCode(text: string): string {
  return text.startsWith('`') && /^`[^`]+`$/.test(text) ? text.slice(1, -1) : text
}

/** Thrown inside this module only: the text is not a block of records. */
const NO_RECORDS = new Error('not a block of records')

const KEY_CHARS_MAX = 64
const KEY_WORDS_MAX = 4
/** What YAML does not take at the start of a plain value, and flow collections. */
const NOT_FIRST = new Uint8Array(128)
for (const mark of '&*!|>%@`#"\'[]{},?') NOT_FIRST[mark.charCodeAt(0)] = 1
const EMPTY: ReadonlySet<string> = new Set(['[]', '{}', '~', 'null'])
const EMPTY_CHARS_MAX = 4
const LITERAL: ReadonlySet<string> = new Set(['|', '|-', '|+', '>', '>-', '>+'])

const NAMES_KEPT = 32

interface KeyedLine {
  readonly key: string
  readonly rest: string
}

/** The part of YAML that serialisers write: block sequences and mappings of scalars. */
class BlockReader {
  readonly #lines: readonly string[]
  readonly #fields: FieldCollector
  /** Names of fields in the order in which they came, and the one that is expected next. */
  readonly #names: string[] = []
  #nextName = 0
  #at = 0

  constructor(lines: readonly string[], fields: FieldCollector) {
    this.#lines = lines
    this.#fields = fields
  }

  read(): RecordText | undefined {
    try {
      const shape = this.#readRoot()
      return this.#at === this.#lines.length ? this.#fields.result(shape) : undefined
    } catch (error) {
      if (error === NO_RECORDS) return undefined
      throw error
    }
  }

  #readRoot(): 'table' | 'list' | 'record' {
    if (this.#isItem(0)) return this.#readSequence(0, '', 0) ? 'table' : 'list'
    const shape = this.#readMapping(0, 0)
    if (this.#at === this.#lines.length) return 'record'
    // Records with the same names and a blank line between them.
    while (this.#at < this.#lines.length) {
      this.#at++
      this.#fields.startRecord()
      if (this.#readMapping(0, 0) !== shape) throw NO_RECORDS
    }
    return shape.includes('\n') ? 'table' : 'list'
  }

  #isItem(indent: number): boolean {
    const line = this.#lines[this.#at]
    return line !== undefined && isItem(line, indent)
  }

  /** Whether it is two records or more with the same names of fields. */
  #readSequence(indent: number, name: string, depth: number): boolean {
    if (depth > ANSWER_DEPTH_MAX) throw NO_RECORDS
    let shape: string | undefined
    let isTable = true
    let count = 0
    for (; this.#isItem(indent); count++) {
      if (depth === 0) this.#fields.startRecord()
      const line = this.#lines[this.#at] as string
      const inner = line.slice(indent + 1).trimStart()
      const keyed = this.#readKey(inner)
      if (keyed === undefined) {
        this.#readScalar(inner, indent, name)
        isTable = false
      } else {
        const own = this.#readMapping(line.length - inner.length, depth + 1, keyed)
        shape ??= own
        isTable &&= own === shape
      }
    }
    return isTable && count > 1 && (shape?.includes('\n') ?? false)
  }

  /** Returns the names of its fields, one in a line. `first`: its first line, after the dash. */
  #readMapping(indent: number, depth: number, first?: KeyedLine): string {
    if (depth > ANSWER_DEPTH_MAX) throw NO_RECORDS
    const names: string[] = []
    let own = first
    for (;;) {
      const line = this.#lines[this.#at]
      if (own === undefined && (line === undefined || indentOf(line) !== indent)) break
      const keyed = own ?? this.#readKey((line as string).slice(indent))
      own = undefined
      if (keyed === undefined) {
        if (names.length === 0 || this.#isItem(indent)) break
        if (depth === 0 && isSeparator(line as string)) break
        throw NO_RECORDS
      }
      names.push(keyed.key)
      this.#fields.addName(keyed.key)
      this.#readValue(keyed, indent, depth)
    }
    if (names.length === 0) throw NO_RECORDS
    return names.join('\n')
  }

  /** As `readKey`. Most records have the names of the one before, in the same order. */
  #readKey(text: string): KeyedLine | undefined {
    const key = this.#names[this.#nextName] ?? ''
    const end = key.length
    if (end > 0 && text.charCodeAt(end) === 58 && text.startsWith(key)) {
      const after = text.charCodeAt(end + 1)
      if (after === 32 || end + 1 === text.length) {
        this.#nextName = (this.#nextName + 1) % this.#names.length
        return { key, rest: text.slice(end + 1).trim() }
      }
    }
    const keyed = readKey(text)
    if (keyed === undefined) return undefined
    const at = this.#names.indexOf(keyed.key)
    if (at === -1 && this.#names.length < NAMES_KEPT) this.#names.push(keyed.key)
    this.#nextName = at === -1 ? 0 : (at + 1) % this.#names.length
    return keyed
  }

  #readValue({ key, rest }: KeyedLine, indent: number, depth: number): void {
    if (rest !== '') return this.#readScalar(rest, indent, key)
    this.#at++
    const next = this.#lines[this.#at]
    if (next === undefined) return
    const inner = indentOf(next)
    if (this.#isItem(inner) && inner >= indent) this.#readSequence(inner, key, depth + 1)
    else if (inner > indent) this.#readMapping(inner, depth + 1)
  }

  /** A value from this line on; it goes on in lines that are deeper than `indent`. */
  #readScalar(start: string, indent: number, key: string): void {
    const next = this.#lines[this.#at + 1]
    // Nearly every value: in one line, and plain.
    if ((next === undefined || (!isBlank(next) && indentOf(next) <= indent)) && isPlain(start)) {
      this.#at++
      if (!isEmpty(start)) this.#fields.add(start, key)
      return
    }
    const parts = [start]
    const quote = start[0] === "'" || start[0] === '"' ? start[0] : undefined
    const isLiteral = LITERAL.has(start)
    this.#at++
    let isOpen = quote !== undefined && !isClosed(start, quote)
    while (this.#at < this.#lines.length && (quote === undefined || isOpen)) {
      const line = this.#lines[this.#at] as string
      if (isBlank(line)) {
        if (quote === undefined && !isLiteral) break
      } else if (indentOf(line) <= indent) break
      parts.push(line.trim())
      this.#at++
      if (quote !== undefined) isOpen = !endsQuote(line, quote)
    }
    if (isOpen) throw NO_RECORDS
    if (isLiteral || quote !== undefined) {
      const text = parts.join(isLiteral ? '\n' : ' ')
      return this.#fields.add(quote === undefined ? text : unquote(text, quote), key)
    }
    if (parts.length === 1 && isEmpty(start)) return
    const code = unwrapCode(start)
    if (code === start && !parts.every(isPlain)) throw NO_RECORDS
    this.#fields.add(code === start ? parts.join(' ') : code, key)
  }
}

/** Between two records. */
function isSeparator(line: string): boolean {
  return line === '' || line === '---'
}

function isEmpty(text: string): boolean {
  return text.length <= EMPTY_CHARS_MAX && EMPTY.has(text)
}

function indentOf(line: string): number {
  let at = 0
  while (line.charCodeAt(at) === 32) at++
  return at
}

/** `- ` at this depth. */
function isItem(line: string, indent: number): boolean {
  if (line[indent] !== '-' || indentOf(line) !== indent) return false
  return line.length === indent + 1 || line[indent + 1] === ' '
}

/** Most lines begin with a letter, and trimming each is what reading costs. */
function isBlank(line: string): boolean {
  const unit = line.charCodeAt(indentOf(line))
  return !(unit > 32 && unit < 127) && line.trim() === ''
}

/** A value that YAML writes without quotes. */
function isPlain(text: string): boolean {
  const first = text.charCodeAt(0)
  if (NOT_FIRST[first] === 1 || (first === 45 && text.charCodeAt(1) === 32)) return false
  if (text.charCodeAt(text.length - 1) === 58) return false
  // Twice as fast as `includes`.
  return text.indexOf(': ') === -1 && text.indexOf(' #') === -1
}

/** `key: rest`, `key:`, `` `key`: rest ``. */
function readKey(text: string): KeyedLine | undefined {
  let colon = text.indexOf(':')
  while (colon !== -1 && colon + 1 < text.length && text[colon + 1] !== ' ')
    colon = text.indexOf(':', colon + 1)
  if (colon === -1 || colon > KEY_CHARS_MAX) return undefined
  const key = unwrapCode(text.slice(0, colon))
  if (key === '' || !isPlain(key) || countBlanks(key) >= KEY_WORDS_MAX) return undefined
  return { key, rest: text.slice(colon + 1).trim() }
}

/** A quotation that ends before the end of its text is none. */
function unquote(text: string, quote: string): string {
  const inner = text.slice(1, -1)
  const bare = inner.replace(quote === "'" ? /''/g : /\\./g, '')
  if (bare.includes(quote)) throw NO_RECORDS
  return quote === "'" ? inner.replaceAll("''", "'") : inner
}

/** Whether a quoted value that starts the text also ends it. */
function isClosed(text: string, quote: string): boolean {
  return text.length > 1 && endsQuote(text.slice(1), quote)
}

/** Whether the last character closes the quotation: `''` and `\"` do not. */
function endsQuote(text: string, quote: string): boolean {
  const line = text.trimEnd()
  let count = 0
  const escaping = quote === "'" ? "'" : '\\'
  if (!line.endsWith(quote)) return false
  for (let at = line.length - 2; at >= 0 && line[at] === escaping; at--) count++
  return count % 2 === 0
}
