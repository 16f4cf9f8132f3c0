// What a session remembers of where values came from: hashes of the fields and of the prose of
// answers, and of what the user named. Answers the question of where a value of the arguments stands.
// Bounded (limits.ts): what is forgotten counts as prose of a stranger.

import type { Origin, ProvenanceLookup, TrustWord, ValueReading } from '../calls/provenance.ts'
import { normalizedLengthMax } from '../readers/normalized-length.ts'
import { ExactNumber, type JsonValue } from '../values/json.ts'
import {
  type AnswerSource,
  FIELD,
  fieldFlag,
  ORDINARY,
  OWN,
  PROSE,
  SHARED_FIELD,
  TRUSTED,
  TRUSTED_ID,
  toFieldOrigin,
  trustFlag,
  WRITTEN_FIELD,
} from './field-flags.ts'
import { foldText, isPlainAscii } from './fold-text.ts'
import { Hasher, type HashSeed } from './hash.ts'
import { HashTable } from './hash-table.ts'
import { countFieldWords, PHRASE_WORDS_MIN } from './is-prose.ts'
import {
  ANSWER_REMEMBERED_CHARS_MAX,
  ANSWER_SOURCES_MAX,
  PATH_PARTS_MAX,
  PROMPT_CHARS_MAX,
  RECORD_PROSE_WORDS,
} from './limits.ts'
import { parseDocument } from './parse-document.ts'
import { listAskedWords, readPrompt } from './read-prompt.ts'
import {
  isDestinationKind,
  readValue,
  splitTokens,
  trimEdges,
  visitGroupedAccounts,
} from './read-value.ts'
import type { ProvenanceAddition, StoredProvenance } from './stored-provenance.ts'
import { type FieldVisitor, hasDoubledMember, treeOf, visitFields } from './trusted-fields.ts'
import { listWordForms } from './verbs.ts'
import { addWords, standsIn } from './words.ts'

/** Tags keep hashes of different things apart; 2 and 3 are those of words.ts. */
const WHOLE = 1
const HOST = 4
const TOKEN = 5
/** A word that the user wrote, and what it may be a form of. */
const ASKED = 6

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

export class SessionProvenance implements ProvenanceLookup {
  #table = new HashTable()
  #prompt = new HashTable()
  readonly #seed: HashSeed
  readonly #hash: Hasher
  #hasPrompt = false
  /** A client may say the same with every call. */
  #lastPrompt: string | undefined
  #hasRead = false
  #hasProse = false
  /** When changes were last asked for. A new memory has one: that nothing was read. */
  #revision = -1
  #prompts = 0
  #charsLeft = 0
  /** The tools of the last answers, the newest last. */
  readonly #sources: (string | undefined)[] = []

  constructor(seed: HashSeed) {
    this.#seed = seed
    this.#hash = new Hasher(seed)
  }

  toStored(): StoredProvenance {
    return {
      ...this.#describe(),
      seed: this.#seed,
      table: this.#table.toWords(),
      prompt: this.#prompt.toWords(),
    }
  }

  #describe(): Omit<ProvenanceAddition, 'table' | 'prompt'> {
    const tool = this.#sources.at(-1)
    return { hasPrompt: this.#hasPrompt, hasRead: this.#hasRead, hasProse: this.#hasProse, tool }
  }

  /** From now on what is remembered is collected for other gates, until it is taken. */
  collectAdditions(): void {
    this.#table.collectAdditions()
    this.#prompt.collectAdditions()
    this.takeChanges()
  }

  /** What was remembered here since this was last asked; undefined if there is nothing. */
  takeAddition(): ProvenanceAddition | undefined {
    if (!this.takeChanges()) return undefined
    const [table, prompt] = [this.#table.takeAdditions(), this.#prompt.takeAdditions()]
    return { ...this.#describe(), table, prompt }
  }

  /** Remembers what another gate, or an earlier run of this one, has remembered of the session. */
  merge({ hasPrompt, hasRead, hasProse, tool, table, prompt }: ProvenanceAddition): void {
    const before = this.#countChanges()
    this.#startAnswer(tool)
    this.#table.merge(table)
    this.#prompt.merge(prompt)
    this.#hasPrompt ||= hasPrompt
    this.#hasRead ||= hasRead
    this.#hasProse ||= hasProse
    // It is stored already.
    this.#revision += this.#countChanges() - before
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
    made.#hasRead = stored.hasRead
    made.#hasProse = stored.hasProse
    made.takeChanges()
    return made
  }

  /** Whether it remembers something that it did not when this was last asked. */
  takeChanges(): boolean {
    const before = this.#revision
    this.#revision = this.#countChanges()
    return this.#revision !== before
  }

  #countChanges(): number {
    const tables = this.#table.revision + this.#prompt.revision
    return tables + this.#prompts + Number(this.#hasRead) + Number(this.#hasProse)
  }

  get hasPrompt(): boolean {
    return this.#hasPrompt
  }

  wasAsked(word: string): boolean {
    return this.#has(this.#prompt, ASKED, word)
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

  /** What is stored of it cannot be read now: until then it counts as incomplete, and this is nothing to store. */
  forget(): void {
    const before = this.#countChanges()
    this.markIncomplete()
    this.#revision += this.#countChanges() - before
  }

  /** The session was told what somebody made of a text that it has not seen itself. */
  markRead(): void {
    this.#hasRead = true
    this.#hasProse = true
  }

  /** What the user asked for, added to what was asked before. False if it was just said. */
  addPrompt(text: string): boolean {
    if (text === this.#lastPrompt) return false
    this.#lastPrompt = text
    this.#hasPrompt = true
    this.#prompts++
    const folded = foldText(readPrompt(text.slice(0, PROMPT_CHARS_MAX)))
    addWords(this.#hash, this.#prompt, folded)
    for (const word of listAskedWords(folded))
      for (const form of listWordForms(word)) this.#add(this.#prompt, ASKED, form, PROSE)
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
    this.#startAnswer(undefined)
    this.#addProse(text, ORDINARY)
    this.markRead()
  }

  /** Whether what is written in this session is the user's: nothing was read, or the user just said it. */
  isUsersText(text: string): boolean {
    return !this.hasRead || this.#lastPrompt?.includes(text) === true
  }

  get hasRead(): boolean {
    return this.#hasRead || this.#table.isIncomplete
  }

  /** A stranger's text was read, or something was forgotten. */
  get hasProse(): boolean {
    return this.#hasProse || this.#table.isIncomplete
  }

  /** Values of a call that was made before anything was read: they are the user's. */
  addKnown(texts: readonly string[]): void {
    for (const text of texts) {
      const { whole, kind, host, isBareHost } = readValue(text)
      this.#add(this.#prompt, WHOLE, whole, PROSE)
      if (kind === 'url' && isBareHost) this.#add(this.#prompt, HOST, host as string, PROSE)
      if (kind !== 'path') continue
      for (const one of listParents(whole)) this.#addWhole(one, TRUSTED_ID)
      // What repeats the path later does not make its folders a stranger's names.
      for (const name of whole.split('/').slice(-PATH_PARTS_MAX)) this.#addWhole(name, OWN)
    }
  }

  /**
   * Values that stood nowhere when a call brought them, before its answer is remembered: an object that the
   * agent made stays its own, whatever repeats its name. Of a path its directories and its ends count too, if
   * they stood nowhere either.
   */
  addOwn(readings: readonly ValueReading[]): void {
    if (readings.length === 0) return
    const own = readings.flatMap(({ kind, whole }) =>
      kind === 'path' ? [whole, ...listParents(whole), ...listEnds(whole)] : [whole],
    )
    const unknown = own.filter((one) => this.originOf(readValue(one)) === 'nowhere')
    for (const whole of unknown) this.#addWhole(whole, OWN)
  }

  remember(answer: Answer, source: AnswerSource = ORDINARY): void {
    const { texts, structured, rest } = answer
    this.#startAnswer(source.tool)
    const { trust, handsOverContent, isGates } = source
    if (trust !== 'all' && isGates !== true && !isEmptyAnswer(answer)) this.#hasRead = true
    const documents: JsonValue[] = []
    let trusted = structured
    let words = 0
    for (const text of texts) {
      const document = text.length > this.#charsLeft ? undefined : parseDocument(text)
      if (document === undefined || handsOverContent === true) words += this.#addProse(text, source)
      else documents.push(document)
      // Beside another text it may be a part of something, or somebody else's.
      if (trust.length === 0 || structured !== undefined || texts.length > 1) continue
      if (document === undefined || !hasDoubledMember(text, document)) trusted = document ?? text
    }
    for (const one of [structured, rest]) if (one !== undefined) documents.push(one)
    this.#addDocuments(documents, trusted, words, source)
  }

  originOf(reading: ValueReading): Origin {
    const { kind, whole, host } = reading
    if (whole === '') return 'user'
    // One hash for both tables.
    this.#hash.hash(WHOLE, whole)
    const { low, high } = this.#hash
    if (this.#prompt.get(low, high) !== 0 || this.#isNamedInWords(reading)) return 'user'
    const flags = this.#table.get(low, high)
    if ((flags & TRUSTED) !== 0) return 'trusted'
    if ((flags & TRUSTED_ID) !== 0 && !isDestinationKind(kind)) return 'trusted'
    const joined = kind === 'path' ? this.#originOfJoined(whole) : undefined
    if (joined !== undefined) return joined
    if ((flags & FIELD) !== 0) return 'field'
    if ((flags & OWN) !== 0) return 'own'
    const field = toFieldOrigin(flags)
    if (field !== undefined) return field
    if ((flags & PROSE) !== 0 || this.#table.isIncomplete) return 'prose'
    return standsIn(this.#hash, this.#table, host ?? whole) === 0 ? 'nowhere' : 'prose'
  }

  sourceOf({ whole, host }: ValueReading): string | undefined {
    this.#hash.hash(WHOLE, whole)
    const held = this.#table.answerOf(this.#hash.low, this.#hash.high)
    const answer = held === 0 ? standsIn(this.#hash, this.#table, host ?? whole) : held
    return answer === 0 ? undefined : this.#sources.at(answer - this.#table.answer - 1)
  }

  /** Of a path that is made of parts, each of which is known: what the less trusted of them is. */
  #originOfJoined(whole: string): Origin | undefined {
    const named = this.#originOfNamed(whole)
    if (named !== undefined) return named
    const at = whole.lastIndexOf('/')
    if (at <= 0) return undefined
    const directory = whole.slice(0, at)
    if (this.#originOfNamed(directory) !== undefined) return 'field'
    const [parent, name] = [this.#originOfPart(directory), this.#originOfPart(whole.slice(at + 1))]
    if (parent === undefined || name === undefined) return undefined
    return parent === 'field' || name === 'field' ? 'field' : 'trusted'
  }

  /** The user named its end (`notes/a.txt`), and the directory that it is relative to is known. */
  #originOfNamed(whole: string): Origin | undefined {
    if (this.#prompt.size === 0) return undefined
    const end = listEnds(whole).find((one) => this.#has(this.#prompt, WHOLE, one))
    return end === undefined ? undefined : this.#originOfPart(whole.slice(0, -end.length - 1))
  }

  #originOfPart(part: string): 'user' | 'trusted' | 'field' | undefined {
    this.#hash.hash(WHOLE, part)
    const { low, high } = this.#hash
    if (this.#prompt.get(low, high) !== 0 || this.#isNamedInWords({ kind: 'text', whole: part }))
      return 'user'
    const flags = this.#table.get(low, high)
    if ((flags & (TRUSTED | TRUSTED_ID)) !== 0) return 'trusted'
    return (flags & FIELD) === 0 ? undefined : 'field'
  }

  /** Whether the words of the value stand in the prompt, beside other words. */
  #isNamedInWords({ kind, whole, host }: ValueReading): boolean {
    if (this.#prompt.size === 0) return false
    if (kind === 'url') return this.#has(this.#prompt, HOST, host as string)
    // `15` of a date is not the id 15.
    if (NUMBER.test(whole)) return this.#has(this.#prompt, TOKEN, whole)
    return kind !== 'email' && standsIn(this.#hash, this.#prompt, whole) !== 0
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
      words += isField ? this.#countPhrase(text, count, source) : this.#addProse(text, source)
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
        this.#table.markIncomplete()
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
    if (isGates !== true) this.#hasProse = true
    return words
  }

  #addField(text: string, flag: number, echoes: ReadonlySet<string>, word?: TrustWord): void {
    if (!this.#spend(text.length)) return
    const reading = readValue(text)
    if (reading.whole === '') return
    const isGiven = echoes.size > 0
    if (isGiven && echoes.has(reading.whole)) this.#addWhole(reading.whole, PROSE)
    else this.#addWhole(reading.whole, flag | trustFlag(word, reading, isGiven))
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
    this.#addWhole(whole, flag)
  }

  /** Returns how many words it has. */
  #addProse(text: string, source: AnswerSource): number {
    const isAscii = isPlainAscii(text)
    if (!this.#spend(isAscii ? text.length : normalizedLengthMax(text))) return RECORD_PROSE_WORDS
    const folded = isAscii ? text.toLowerCase() : foldText(text)
    if (source.trust === 'all') {
      for (const token of splitTokens(folded)) this.#addWhole(readValue(token).whole, TRUSTED)
      return 0
    }
    const count = addWords(this.#hash, this.#table, folded)
    // The words behind a line break that is written as `\n`.
    const breaks = folded.indexOf('\\') === -1 ? folded : folded.replace(/\\[nrt]/g, ' ')
    if (breaks !== folded) addWords(this.#hash, this.#table, breaks)
    if (count > 0 && source.isGates !== true) this.#hasProse = true
    visitGroupedAccounts(folded, (compact) => this.#addWhole(compact, PROSE))
    return count
  }

  #startAnswer(tool: string | undefined): void {
    this.#table.startAnswer()
    this.#charsLeft = ANSWER_REMEMBERED_CHARS_MAX
    this.#sources.push(tool)
    // Some at a time: to move all of them for every answer takes longer than the rest of it.
    if (this.#sources.length >= 2 * ANSWER_SOURCES_MAX) this.#sources.splice(0, ANSWER_SOURCES_MAX)
  }

  #spend(chars: number): boolean {
    this.#charsLeft -= chars
    if (this.#charsLeft >= 0) return true
    this.#table.markIncomplete()
    return false
  }

  #addWhole(text: string, flag: number): void {
    this.#add(this.#table, WHOLE, text, flag)
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

const NUMBER = /^\d+$/

function isEmptyAnswer({ texts, structured, rest }: Answer): boolean {
  return texts.every((text) => text === '') && isEmptyValue(structured) && isEmptyValue(rest)
}

function isEmptyValue(value: JsonValue | undefined): boolean {
  if (value instanceof ExactNumber || typeof value === 'number') return false
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return typeof value !== 'string' || value === ''
}

/** A sentence with an address is no address: `send it all to ann@example.com`. */
function isSeveralAddresses(text: string): boolean {
  const at = text.indexOf('@')
  if (at === -1) return false
  return text.indexOf('@', at + 1) !== -1 || (text.trim().includes(' ') && !text.includes('<'))
}

/** `a/b/c`: `a/b` and `a`. */
function listParents(path: string): string[] {
  return listCuts(path).map((at) => path.slice(0, at))
}

/** `a/b/c`: `c` and `b/c`. */
function listEnds(path: string): string[] {
  return listCuts(path).map((at) => path.slice(at + 1))
}

/** Where the last parts of a path begin. */
function listCuts(path: string): number[] {
  const cuts: number[] = []
  let at = path.lastIndexOf('/')
  for (; at > 0 && cuts.length < PATH_PARTS_MAX; at = path.lastIndexOf('/', at - 1)) cuts.push(at)
  return cuts
}
