// Attributes of HTML tags that load or lead to an address of another host. Programs disagree on where a tag
// begins, and quote marks decide where it ends: every `<` before a letter counts as a beginning, and what
// may be open at a place is followed for all of them at once. Linear, under a budget. Pure; used by
// external-links.ts.

import type { Steps } from '@sluice/policy/structures/steps'
import { toWordSet } from '@sluice/policy/structures/word-set'
import type { TextSpan } from './chain.ts'
import { findExternalHost, HEAD_CHARS, NextMarks, UNREADABLE } from './link-host.ts'
import { undoEntities } from './views.ts'

export interface ExternalAddress extends TextSpan {
  readonly host: string
}

/** Attributes that are an address. */
const ADDRESS_NAMES = toWordSet(
  'src href data action formaction poster background longdesc manifest codebase dynsrc lowsrc',
)
/** Attributes that hold addresses among other things. */
const LIST_NAMES = toWordSet('srcset imagesrcset ping style content srcdoc archive values from to')
/** What begins or ends a tag, a value or a quotation. */
const EVENT = /<(?=[a-z])|>|=\s*["'`]?|["']/gi
const NAME_CHARS_MAX = 20
/** The name of an attribute, without a colon: a prefix such as that of `xlink:href` may be any. */
const NAME = /[^\s"'<>/=:]*$/
/** What separates the addresses of a list. */
const SEPARATORS = /[\s,;()'"=<>]+/
/** An address of a style sheet, or what may be one once its entities are decoded. */
const URL_FUNCTION = /url\s{0,9}\(|&#/i
const STYLE = /<style\b/gi
const STYLE_END = '</style'
/** Characters of values that are read, for each of the text: values may lie in each other. */
const BUDGET_FACTOR = 4
const STEP_EVENTS = 500

/** What may be open: a tag outside of quotes, and within either kind of them. */
interface OpenTags {
  unquoted: boolean
  double: boolean
  single: boolean
}

export function* findHtmlAddresses(
  text: string,
  isListed: (host: string) => boolean,
): Steps<ExternalAddress[]> {
  const found: ExternalAddress[] = []
  if (!text.includes('<')) return found
  const values = new ValueReader(text, isListed)
  const open: OpenTags = { unquoted: false, double: false, single: false }
  let tag = 0
  let events = 0
  for (const { 0: event, index } of text.matchAll(EVENT)) {
    if (++events % STEP_EVENTS === 0) yield
    if (event === '<') {
      open.unquoted = true
      tag = index
    } else if (event === '>') open.unquoted = false
    else if (event.startsWith('=')) {
      const external = open.unquoted ? values.read(index, index + event.length) : undefined
      if (external !== undefined) found.push({ start: tag, ...external })
      applyQuote(open, event.at(-1) as string, true)
    } else applyQuote(open, event, false)
  }
  yield
  for (const { index } of text.matchAll(STYLE)) {
    if (++events % STEP_EVENTS === 0) yield
    const external = values.readStyle(index)
    if (external !== undefined) found.push({ start: index, ...external })
  }
  return found
}

/** Applies a quote mark: after `=` it opens a value, elsewhere it only closes one. */
function applyQuote(open: OpenTags, mark: string, isValue: boolean): void {
  const { unquoted, double, single } = open
  if (mark === '"') {
    open.double = isValue && unquoted
    open.unquoted = double || (unquoted && !isValue)
  } else if (mark === "'") {
    open.single = isValue && unquoted
    open.unquoted = single || (unquoted && !isValue)
  }
}

class ValueReader {
  readonly #text: string
  readonly #isListed: (host: string) => boolean
  #charsLeft: number
  /** `fill="url(…)"` and others of SVG: then every attribute is read. */
  readonly #hasUrls: boolean
  readonly #marks: NextMarks

  constructor(text: string, isListed: (host: string) => boolean) {
    this.#text = text
    this.#isListed = isListed
    this.#marks = new NextMarks(text)
    this.#charsLeft = BUDGET_FACTOR * text.length
    this.#hasUrls = URL_FUNCTION.test(text)
  }

  /** The value behind an equals sign at `equals`, if it leads elsewhere. */
  read(equals: number, from: number): Omit<ExternalAddress, 'start'> | undefined {
    const name = this.#nameBefore(equals)
    if (!this.#hasUrls && !ADDRESS_NAMES.has(name) && !LIST_NAMES.has(name)) return undefined
    const mark = this.#text.charAt(from - 1)
    const isQuoted = mark === '"' || mark === "'" || mark === '`'
    const end = this.#marks.find(isQuoted ? mark : BLANK, from)
    const shown = ADDRESS_NAMES.has(name) ? Math.min(end, from + HEAD_CHARS + 1) : end
    this.#charsLeft -= shown - from
    const value = this.#charsLeft < 0 ? undefined : this.#text.slice(from, shown)
    const host = this.#hostIn(name, value)
    if (host === undefined) return undefined
    return { host, end: Math.min(this.#marks.find('>', end) + 1, this.#text.length) }
  }

  readStyle(from: number): Omit<ExternalAddress, 'start'> | undefined {
    const end = this.#marks.find(STYLE_END, from)
    this.#charsLeft -= end - from
    const host = this.#charsLeft < 0 ? UNREADABLE : this.#hostInList(this.#text.slice(from, end))
    return host === undefined ? undefined : { host, end }
  }

  #hostIn(name: string, value: string | undefined): string | undefined {
    if (value === undefined) return UNREADABLE
    if (ADDRESS_NAMES.has(name)) return findExternalHost(value, this.#isListed)
    const isList = LIST_NAMES.has(name) || URL_FUNCTION.test(value)
    return isList ? this.#hostInList(value) : undefined
  }

  #hostInList(value: string): string | undefined {
    if (value.length > LIST_CHARS_MAX) return UNREADABLE
    const plain = undoEntities(value)
    // Style sheets have escapes of their own.
    if (/\\[0-9a-f]/i.test(plain) && /url|import/i.test(plain)) return UNREADABLE
    for (const part of plain.split(SEPARATORS)) {
      if (!part.includes('//') && !part.includes(':') && !part.includes('\\')) continue
      const host = findExternalHost(part, this.#isListed)
      if (host !== undefined) return host
    }
    return undefined
  }

  #nameBefore(equals: number): string {
    let end = equals
    while (end > 0 && /\s/.test(this.#text.charAt(end - 1))) end--
    const before = this.#text.slice(Math.max(0, end - NAME_CHARS_MAX), end)
    return (NAME.exec(before)?.[0] ?? '').toLowerCase()
  }
}

const BLANK = /[\s>]/g
/** A longer one counts as leading elsewhere: it is read in one piece. */
const LIST_CHARS_MAX = 65_536
