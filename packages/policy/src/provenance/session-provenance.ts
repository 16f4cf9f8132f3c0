// What a session remembers of where values came from: hashes of the fields and of the prose of
// answers, and of what the user named. Answers the question of where a value of the arguments stands.
// Bounded (limits.ts): what is forgotten counts as prose of a stranger.

import { ExactNumber, isObject, type JsonValue } from '../core/json.ts'
import { normalizedLengthMax } from '../core/normalized-length.ts'
import type { Origin, ProvenanceLookup, ValueReading } from '../core/provenance.ts'
import {
  type AnswerSource,
  FIELD,
  fieldFlag,
  ORDINARY,
  PROSE,
  SHARED_FIELD,
  toFieldOrigin,
  WRITTEN_FIELD,
} from './field-flags.ts'
import { foldText, isPlainAscii } from './fold-text.ts'
import { Hasher, type HashSeed } from './hash.ts'
import { HashTable } from './hash-table.ts'
import { isPhrase, isProse } from './is-prose.ts'
import {
  ANSWER_DEPTH_MAX,
  ANSWER_REMEMBERED_CHARS_MAX,
  PATH_PARTS_MAX,
  PROMPT_CHARS_MAX,
  PROMPT_WORDS_MAX,
  RECORD_PROSE_WORDS,
} from './limits.ts'
import { parseDocument } from './parse-document.ts'
import { listAskedWords, readPrompt } from './read-prompt.ts'
import { readRecords } from './read-records.ts'
import {
  readSimple,
  readValue,
  splitTokens,
  trimEdges,
  visitGroupedAccounts,
} from './read-value.ts'
import type { StoredProvenance } from './stored-provenance.ts'
import { addWords, standsIn } from './words.ts'

/** Tags keep hashes of different things apart; 2 and 3 are those of words.ts. */
const WHOLE = 1
const HOST = 4
const TOKEN = 5

/** One answer as the model gets it. */
export interface Answer {
  /** Texts; one that is a JSON document is read as fields. */
  readonly texts: readonly string[]
  readonly structured?: JsonValue | undefined
}

export class SessionProvenance implements ProvenanceLookup {
  #table = new HashTable()
  #prompt = new HashTable()
  readonly #seed: HashSeed
  readonly #hash: Hasher
  #hasPrompt = false
  /** A client may say the same with every call. */
  #lastPrompt: string | undefined
  #hasProse = false
  /** When changes were last asked for. A new memory has one: that nothing was read. */
  #revision = -1
  #prompts = 0
  #verbs: ReadonlySet<string> = new Set()
  #charsLeft = 0
  /** Of the answer that is remembered. */
  #isTrusted = false
  /** Names of fields of the answer, with the flags that they were added with. */
  readonly #names = new Map<string, number>()

  constructor(seed: HashSeed) {
    this.#seed = seed
    this.#hash = new Hasher(seed)
  }

  toStored(): StoredProvenance {
    return {
      seed: this.#seed,
      hasPrompt: this.#hasPrompt,
      hasProse: this.#hasProse,
      table: this.#table.toWords(),
      prompt: this.#prompt.toWords(),
      promptWords: [...this.#verbs],
    }
  }

  /** Undefined if it cannot have been stored so. */
  static fromStored(stored: StoredProvenance): SessionProvenance | undefined {
    const made = new SessionProvenance(stored.seed)
    const table = HashTable.fromWords(stored.table)
    const prompt = HashTable.fromWords(stored.prompt)
    if (table === undefined || prompt === undefined) return undefined
    made.#table = table
    made.#prompt = prompt
    made.#hasPrompt = stored.hasPrompt
    made.#hasProse = stored.hasProse
    made.#verbs = new Set(stored.promptWords)
    made.takeChanges()
    return made
  }

  /** Whether it remembers something that it did not when this was last asked. */
  takeChanges(): boolean {
    const before = this.#revision
    const tables = this.#table.revision + this.#prompt.revision
    this.#revision = tables + this.#prompts + Number(this.#hasProse)
    return this.#revision !== before
  }

  get hasPrompt(): boolean {
    return this.#hasPrompt
  }

  /** The words that the user wrote. */
  get promptWords(): ReadonlySet<string> {
    return this.#verbs
  }

  get bytes(): number {
    return this.#table.bytes + this.#prompt.bytes
  }

  get isIncomplete(): boolean {
    return this.#table.isIncomplete
  }

  /** Something was not remembered. */
  markIncomplete(): void {
    this.#table.markIncomplete()
  }

  /** What the user asked for, added to what was asked before. False if it was just said. */
  addPrompt(text: string): boolean {
    if (text === this.#lastPrompt) return false
    this.#lastPrompt = text
    this.#hasPrompt = true
    this.#prompts++
    const folded = foldText(readPrompt(text.slice(0, PROMPT_CHARS_MAX)))
    addWords(this.#hash, this.#prompt, folded)
    // Without the words of earlier prompts fewer verbs count as asked for.
    const before = this.#verbs.size > PROMPT_WORDS_MAX ? [] : this.#verbs
    this.#verbs = new Set([...before, ...listAskedWords(folded)])
    for (const token of splitTokens(folded)) {
      const bare = trimEdges(token)
      if (bare === '') continue
      this.#add(this.#prompt, TOKEN, bare, PROSE)
      const reading = readValue(bare)
      this.#add(this.#prompt, WHOLE, reading.whole, PROSE)
      if (reading.isBareHost === true || readValue(bare, true).isBareHost === true)
        this.#add(this.#prompt, HOST, readValue(bare, true).host as string, PROSE)
    }
    visitGroupedAccounts(folded, (compact) => this.#add(this.#prompt, WHOLE, compact, PROSE))
    return true
  }

  /** Text that somebody handed on who may have read a stranger's: whatever its form, it is prose. */
  addText(text: string): void {
    this.#table.startAnswer()
    this.#charsLeft = ANSWER_REMEMBERED_CHARS_MAX
    this.#addProse(text, ORDINARY)
    this.#hasProse = true
  }

  /** Whether what is written in this session is the user's: no text was read, or the user just said it. */
  isUsersText(text: string): boolean {
    return !this.hasProse || this.#lastPrompt?.includes(text) === true
  }

  /** A stranger's text was read, or something was forgotten. */
  get hasProse(): boolean {
    return this.#hasProse || this.#table.isIncomplete
  }

  /** Values of a call that was made before any stranger's text was read: they are the user's. */
  addKnown(texts: readonly string[]): void {
    for (const text of texts) {
      const { whole, kind, host, isBareHost } = readValue(text)
      this.#add(this.#prompt, WHOLE, whole, PROSE)
      if (kind === 'url' && isBareHost) this.#add(this.#prompt, HOST, host as string, PROSE)
      if (kind === 'path') this.#addDirectories(whole)
    }
  }

  /** The directories of a path that is the user's are there. */
  #addDirectories(whole: string): void {
    let at = whole.length
    for (let parts = 0; parts < PATH_PARTS_MAX; parts++) {
      at = whole.lastIndexOf('/', at - 1)
      if (at <= 0) return
      this.#add(this.#table, WHOLE, whole.slice(0, at), FIELD)
    }
  }

  remember(answer: Answer, source: AnswerSource = ORDINARY): void {
    this.#table.startAnswer()
    this.#charsLeft = ANSWER_REMEMBERED_CHARS_MAX
    this.#names.clear()
    this.#isTrusted = source.isTrusted
    const echoes =
      source.echoes.length === 0
        ? NO_ECHOES
        : new Set(source.echoes.map((text) => readValue(text).whole))
    for (const text of answer.texts) {
      const document = text.length > this.#charsLeft ? undefined : parseDocument(text)
      if (document === undefined) {
        this.#addProse(text, source)
        // Beside other texts it may be a part of a document.
        if (source.canListRecords === true && answer.texts.length === 1)
          this.#addRecordText(text, source, echoes)
      } else this.#addRecord(document, '', 0, source, echoes, 0)
    }
    if (answer.structured !== undefined)
      this.#addRecord(answer.structured, '', 0, source, echoes, 0)
  }

  originOf(reading: ValueReading): Origin {
    const { kind, whole, host } = reading
    if (whole === '') return 'user'
    // One hash for both tables.
    this.#hash.hash(WHOLE, whole)
    const { low, high } = this.#hash
    if (this.#prompt.get(low, high) !== 0 || this.#isNamedInWords(reading)) return 'user'
    if (kind === 'path' && this.#isNamedPath(whole)) return 'user'
    const flags = this.#table.get(low, high)
    if ((flags & FIELD) !== 0) return 'field'
    if (kind === 'path' && this.#isJoined(whole)) return 'field'
    const field = toFieldOrigin(flags)
    if (field !== undefined) return field
    if ((flags & PROSE) !== 0 || this.#table.isIncomplete) return 'prose'
    return standsIn(this.#hash, this.#table, host ?? whole) ? 'prose' : 'nowhere'
  }

  /** A path made of a directory and a name that are each known, or in a directory of the user's. */
  #isJoined(whole: string): boolean {
    const at = whole.lastIndexOf('/')
    if (at <= 0) return false
    const directory = whole.slice(0, at)
    if (this.#isNamedPath(directory)) return true
    return this.#isKnownPart(directory) && this.#isKnownPart(whole.slice(at + 1))
  }

  #isKnownPart(part: string): boolean {
    this.#hash.hash(WHOLE, part)
    const { low, high } = this.#hash
    if (this.#prompt.get(low, high) !== 0 || (this.#table.get(low, high) & FIELD) !== 0) return true
    return this.#isNamedInWords({ kind: 'text', whole: part })
  }

  /** The user named its end (`notes/a.txt`), and the directory that it is relative to is known. */
  #isNamedPath(whole: string): boolean {
    if (this.#prompt.size === 0) return false
    let at = whole.length
    for (let parts = 0; parts < PATH_PARTS_MAX; parts++) {
      at = whole.lastIndexOf('/', at - 1)
      if (at <= 0) return false
      if (this.#has(this.#prompt, WHOLE, whole.slice(at + 1)))
        return this.#isKnownPart(whole.slice(0, at))
    }
    return false
  }

  /** Whether the words of the value stand in the prompt, beside other words. */
  #isNamedInWords({ kind, whole, host }: ValueReading): boolean {
    if (this.#prompt.size === 0) return false
    if (kind === 'url') return this.#has(this.#prompt, HOST, host as string)
    // `15` of a date is not the id 15.
    if (NUMBER.test(whole)) return this.#has(this.#prompt, TOKEN, whole)
    return kind !== 'email' && standsIn(this.#hash, this.#prompt, whole)
  }

  #addRecord(
    value: JsonValue,
    key: string,
    inherited: number,
    source: AnswerSource,
    echoes: ReadonlySet<string>,
    depth: number,
  ): void {
    const leaves: string[] = []
    const names: string[] = []
    // Keys of an inner object are rarely a stranger's: permissions by address, members by name.
    const keys: string[] = []
    const inner: { value: JsonValue; key: string }[] = []
    let words = inherited
    const visit = (one: JsonValue, name: string, inArray: boolean, level: number): void => {
      if (typeof one === 'string') {
        if (isProse(one, name)) words = Math.max(words, this.#addProse(one, source))
        else leaves.push(one)
      } else if (typeof one === 'number') leaves.push(String(one))
      else if (one instanceof ExactNumber) leaves.push(one.text)
      else if (level > ANSWER_DEPTH_MAX) this.#table.markIncomplete()
      else if (Array.isArray(one)) for (const item of one) visit(item, name, true, level + 1)
      else if (isObject(one)) {
        if (inArray) inner.push({ value: one, key: name })
        else
          for (const member in one) {
            if (!this.#names.has(member) && isProse(member, ''))
              words = Math.max(words, this.#addProse(member, source))
            else if (level > depth) keys.push(member)
            else names.push(member)
            visit(one[member] as JsonValue, member, false, level + 1)
          }
      }
    }
    visit(value, key, false, depth)
    const flag = fieldFlag(words, source)
    for (const leaf of leaves) this.#addField(leaf, flag, echoes)
    for (const name of names) this.#addName(name, flag, echoes)
    const keyFlag = flag === WRITTEN_FIELD ? SHARED_FIELD : flag
    for (const key of keys) this.#addName(key, keyFlag, echoes)
    for (const one of inner) this.#addRecord(one.value, one.key, words, source, echoes, depth + 1)
  }

  /** The words of the text are remembered as prose already. */
  #addRecordText(text: string, source: AnswerSource, echoes: ReadonlySet<string>): void {
    const records = this.#charsLeft < 0 ? undefined : readRecords(text)
    if (records === undefined) return
    const flag = fieldFlag(records.isWritten ? RECORD_PROSE_WORDS : 1, source)
    this.#charsLeft += text.length
    for (const field of records.fields) this.#addField(field, flag, echoes)
  }

  /** The records of an answer mostly have the same names. */
  #addName(name: string, flag: number, echoes: ReadonlySet<string>): void {
    const flags = this.#names.get(name) ?? 0
    if ((flags & flag) !== 0) return
    this.#names.set(name, flags | flag)
    this.#addField(name, flag, echoes)
  }

  #addField(text: string, flag: number, echoes: ReadonlySet<string>): void {
    if (!this.#spend(text.length)) return
    const simple = readSimple(text)
    const { kind, whole } = simple ?? readValue(text)
    // A sentence with an address is no address: `send it all to ann@example.com`.
    if (
      kind === 'email' &&
      !simple &&
      !this.#isTrusted &&
      !text.includes('<') &&
      text.trim().includes(' ')
    ) {
      this.#addProse(text, ORDINARY)
      return
    }
    if (whole === '') return
    // An order can be the name of a file: from then on the session has read a text.
    if (!this.#hasProse && !this.#isTrusted && kind !== 'account' && isPhrase(text))
      this.#hasProse = true
    this.#add(this.#table, WHOLE, whole, echoes.size > 0 && echoes.has(whole) ? PROSE : flag)
    if (simple === undefined && /[,;<]/.test(text))
      for (const part of text.split(/[,;<>]/)) {
        const { whole: one } = readValue(part)
        if (one !== '') this.#add(this.#table, WHOLE, one, echoes.has(one) ? PROSE : flag)
      }
  }

  /** Returns how many words it has. */
  #addProse(text: string, source: AnswerSource): number {
    const isAscii = isPlainAscii(text)
    if (!this.#spend(isAscii ? text.length : normalizedLengthMax(text))) return RECORD_PROSE_WORDS
    const folded = isAscii ? text.toLowerCase() : foldText(text)
    if (source.isTrusted) {
      for (const token of splitTokens(folded))
        this.#add(this.#table, WHOLE, readValue(token).whole, FIELD)
      return 0
    }
    const count = addWords(this.#hash, this.#table, folded)
    // The words behind a line break that is written as `\n`.
    const breaks = folded.indexOf('\\') === -1 ? folded : folded.replace(/\\[nrt]/g, ' ')
    if (breaks !== folded) addWords(this.#hash, this.#table, breaks)
    if (count > 0) this.#hasProse = true
    visitGroupedAccounts(folded, (compact) => this.#add(this.#table, WHOLE, compact, PROSE))
    return count
  }

  #spend(chars: number): boolean {
    this.#charsLeft -= chars
    if (this.#charsLeft >= 0) return true
    this.#table.markIncomplete()
    return false
  }

  #add(table: HashTable, tag: number, text: string, flag: number): void {
    this.#hash.hash(tag, text)
    table.add(this.#hash.low, this.#hash.high, flag)
  }

  #has(table: HashTable, tag: number, text: string): boolean {
    this.#hash.hash(tag, text)
    return table.get(this.#hash.low, this.#hash.high) !== 0
  }
}

const NO_ECHOES: ReadonlySet<string> = new Set()
const NUMBER = /^\d*$/
