// Writes one answer into the memory of a session: its fields by how much text it has, because who wrote the text may have
// written them, what the policy trusts of it, and its prose as runs of words. Called by session-provenance.ts.

import type { TrustWord } from '../calls/provenance.ts'
import { normalizedLengthMax } from '../readers/normalized-length.ts'
import type { JsonValue } from '../values/json.ts'
import {
  type AnswerSource,
  fieldFlag,
  PROSE,
  SHARED_FIELD,
  TRUSTED,
  trustFlag,
  WRITTEN_FIELD,
} from './field-flags.ts'
import { foldText, isPlainAscii } from './fold-text.ts'
import { countFieldWords, PHRASE_WORDS_MIN } from './is-prose.ts'
import { ANSWER_REMEMBERED_CHARS_MAX, RECORD_PROSE_WORDS } from './limits.ts'
import { parseDocument } from './parse-document.ts'
import type { ProvenanceTables } from './provenance-tables.ts'
import { readValue, splitTokens, visitGroupedAccounts } from './read-value.ts'
import { type FieldVisitor, hasDoubledMember, treeOf, visitFields } from './trusted-fields.ts'
import { addWords } from './words.ts'

/** One answer as the model gets it. */
export interface Answer {
  /** Texts; one that is a JSON document is read as fields. */
  readonly texts: readonly string[]
  readonly structured?: JsonValue | undefined
  /** What else the message says: no field of it is trusted. */
  readonly rest?: JsonValue | undefined
  /** The call failed, so that nothing it named is the agent's own by it. */
  readonly isError?: boolean
}

/** Writes one answer. How much of it is written is bounded, so each answer has a writer of its own. */
export class AnswerWriter {
  readonly #tables: ProvenanceTables
  #charsLeft = ANSWER_REMEMBERED_CHARS_MAX
  /** Whether a text was written that a stranger may have made. */
  hasProse = false

  constructor(tables: ProvenanceTables) {
    this.#tables = tables
  }

  write({ texts, structured, rest }: Answer, source: AnswerSource): void {
    const { trust, handsOverContent } = source
    const documents: JsonValue[] = []
    let trusted = structured
    let words = 0
    for (const text of texts) {
      const document = text.length > this.#charsLeft ? undefined : parseDocument(text)
      if (document === undefined || handsOverContent === true) words += this.addProse(text, source)
      else documents.push(document)
      // Beside another text it may be a part of something, or somebody else's.
      if (trust.length === 0 || structured !== undefined || texts.length > 1) continue
      if (document === undefined || !hasDoubledMember(text, document)) trusted = document ?? text
    }
    for (const one of [structured, rest]) if (one !== undefined) documents.push(one)
    this.#addDocuments(documents, trusted, words, source)
  }

  /**
   * All fields of an answer, by how much text it has: who wrote the text may have written the fields. `trusted`: what
   * is read for `trust`; not one of the documents if it is a text as somebody wrote it.
   */
  #addDocuments(
    documents: readonly JsonValue[],
    trusted: JsonValue | undefined,
    prose: number,
    source: AnswerSource,
  ): void {
    const { trust } = source
    const tree = trust === 'all' || trust.length === 0 ? undefined : treeOf(trust)
    // Most answers are one text.
    if (documents.length === 0 && (tree === undefined || trusted === undefined)) return
    const echoes = new Set(source.echoes.map((text) => readValue(text).whole))
    const fields: string[] = []
    const fieldWords: TrustWord[] = []
    const names = new Set<string>()
    // Keys of an inner object are rarely a stranger's: permissions by address, members by name.
    const keys = new Set<string>()
    let words = prose
    const addWords = (text: string, name: string): boolean => {
      const count = countFieldWords(text, name)
      const isField = count !== undefined && !isSeveralAddresses(text)
      words += isField ? this.#countPhrase(text, count, source) : this.addProse(text, source)
      return isField
    }
    const addTrusted = (text: string, word: TrustWord): void => {
      this.#addTrusted(text, word, echoes)
      if (tree?.word === undefined) return
      for (const part of [...text.split('\n'), ...splitTokens(text)])
        this.#addTrusted(part, 'id', echoes)
    }
    const visitor: FieldVisitor = {
      field: (text, name, word) => {
        const isField = addWords(text, name)
        if (isField) fields.push(text)
        if (word === undefined) return
        if (isField) fieldWords[fields.length - 1] = word
        if (!isField || tree?.word !== undefined) addTrusted(text, word)
      },
      member: (name, isInner, word) => {
        const known = isInner ? keys : names
        if (!known.has(name) && addWords(name, '')) known.add(name)
        if (word !== undefined) addTrusted(name, word)
      },
    }
    for (const document of documents)
      if (!visitFields(document, document === trusted ? tree : undefined, visitor))
        this.#tables.answers.markIncomplete()
    if (tree !== undefined && trusted !== undefined && !documents.includes(trusted))
      visitFields(trusted, tree, {
        field: (text, _name, word) => word && addTrusted(text, word),
        member: (name, _isInner, word) => word && addTrusted(name, word),
      })
    const flag = fieldFlag(words, source)
    for (let at = 0; at < fields.length; at++)
      this.#addField(fields[at] as string, flag, echoes, fieldWords[at])
    for (const name of names) this.#addField(name, flag, echoes)
    const keyFlag = flag === WRITTEN_FIELD ? SHARED_FIELD : flag
    for (const key of keys) this.#addField(key, keyFlag, echoes)
  }

  /** An order can be the name of a file: from then on the session has read a text. */
  #countPhrase(text: string, words: number, { trust, isGates }: AnswerSource): number {
    if (words < PHRASE_WORDS_MIN || trust === 'all' || readValue(text).kind === 'account') return 0
    if (isGates !== true) this.hasProse = true
    return words
  }

  #addField(text: string, flag: number, echoes: ReadonlySet<string>, word?: TrustWord): void {
    if (!this.#spend(text.length)) return
    const reading = readValue(text)
    if (reading.whole === '') return
    const isGiven = echoes.size > 0
    if (isGiven && echoes.has(reading.whole)) this.#tables.addWhole(reading.whole, PROSE)
    else this.#tables.addWhole(reading.whole, flag | trustFlag(word, reading, isGiven))
  }

  /**
   * A value of a field that the policy trusts. Not what the call was given itself, and no address if nobody vouches
   * for what it was given: a stranger could have the agent look up the stranger's own record.
   */
  #addTrusted(text: string, word: TrustWord, echoes: ReadonlySet<string>): void {
    const reading = readValue(text)
    const { whole } = reading
    const flag = trustFlag(word, reading, echoes.size > 0)
    if (flag === 0 || whole === '' || echoes.has(whole) || isSeveralAddresses(text)) return
    this.#tables.addWhole(whole, flag)
  }

  /** Writes a text that is no field, and returns how many words it has. */
  addProse(text: string, source: AnswerSource): number {
    const isAscii = isPlainAscii(text)
    if (!this.#spend(isAscii ? text.length : normalizedLengthMax(text))) return RECORD_PROSE_WORDS
    const folded = isAscii ? text.toLowerCase() : foldText(text)
    if (source.trust === 'all') {
      for (const token of splitTokens(folded))
        this.#tables.addWhole(readValue(token).whole, TRUSTED)
      return 0
    }
    const count = addWords(this.#tables.hash, this.#tables.answers, folded)
    // The words behind a line break that is written as `\n`.
    const breaks = folded.indexOf('\\') === -1 ? folded : folded.replace(/\\[nrt]/g, ' ')
    if (breaks !== folded) addWords(this.#tables.hash, this.#tables.answers, breaks)
    if (count > 0 && source.isGates !== true) this.hasProse = true
    visitGroupedAccounts(folded, (compact) => this.#tables.addWhole(compact, PROSE))
    return count
  }

  #spend(chars: number): boolean {
    this.#charsLeft -= chars
    if (this.#charsLeft >= 0) return true
    this.#tables.answers.markIncomplete()
    return false
  }
}

/** A sentence with an address is no address: `send it all to ann@example.com`. */
function isSeveralAddresses(text: string): boolean {
  const at = text.indexOf('@')
  if (at === -1) return false
  return text.indexOf('@', at + 1) !== -1 || (text.trim().includes(' ') && !text.includes('<'))
}
