// What a session remembers of where values came from: hashes of the fields and of the prose of answers
// (write-answer.ts), and of what the user named. find-origin.ts answers from it where a value of the arguments stands.
// Bounded (limits.ts): what is forgotten counts as prose of a stranger.

import type { Origin, ProvenanceLookup, ValueReading } from '../calls/provenance.ts'
import { ExactNumber, type JsonValue } from '../values/json.ts'
import { type AnswerSource, ORDINARY, OWN, PROSE, TRUSTED_ID } from './field-flags.ts'
import { findOrigin } from './find-origin.ts'
import { foldText } from './fold-text.ts'
import { Hasher, type HashSeed } from './hash.ts'
import { HashTable } from './hash-table.ts'
import { ANSWER_SOURCES_MAX, PATH_PARTS_MAX, PROMPT_CHARS_MAX } from './limits.ts'
import { listEnds, listParents } from './path-parts.ts'
import { ASKED, HOST, ProvenanceTables, TOKEN, WHOLE } from './provenance-tables.ts'
import { listAskedWords, readPrompt } from './read-prompt.ts'
import { readValue, splitTokens, trimEdges, visitGroupedAccounts } from './read-value.ts'
import type { ProvenanceAddition, StoredProvenance } from './stored-provenance.ts'
import { listWordForms } from './verbs.ts'
import { addWords, standsIn } from './words.ts'
import { type Answer, AnswerWriter } from './write-answer.ts'

export class SessionProvenance implements ProvenanceLookup {
  readonly #seed: HashSeed
  readonly #tables: ProvenanceTables
  #hasPrompt = false
  /** A client may say the same with every call. */
  #lastPrompt: string | undefined
  #hasRead = false
  #hasProse = false
  /** When changes were last asked for. A new memory has one: that nothing was read. */
  #revision = -1
  #prompts = 0
  /** The tools of the last answers, the newest last. */
  readonly #sources: (string | undefined)[] = []

  constructor(seed: HashSeed, answers = new HashTable(), prompt = new HashTable()) {
    this.#seed = seed
    this.#tables = new ProvenanceTables(new Hasher(seed), answers, prompt)
  }

  toStored(): StoredProvenance {
    return {
      ...this.#describe(),
      seed: this.#seed,
      table: this.#tables.answers.toWords(),
      prompt: this.#tables.prompt.toWords(),
    }
  }

  #describe(): Omit<ProvenanceAddition, 'table' | 'prompt'> {
    const tool = this.#sources.at(-1)
    return { hasPrompt: this.#hasPrompt, hasRead: this.#hasRead, hasProse: this.#hasProse, tool }
  }

  /** From now on what is remembered is collected for other gates, until it is taken. */
  collectAdditions(): void {
    this.#tables.answers.collectAdditions()
    this.#tables.prompt.collectAdditions()
    this.takeChanges()
  }

  /** What was remembered here since this was last asked; undefined if there is nothing. */
  takeAddition(): ProvenanceAddition | undefined {
    if (!this.takeChanges()) return undefined
    const [table, prompt] = [
      this.#tables.answers.takeAdditions(),
      this.#tables.prompt.takeAdditions(),
    ]
    return { ...this.#describe(), table, prompt }
  }

  /** Remembers what another gate, or an earlier run of this one, has remembered of the session. */
  merge({ hasPrompt, hasRead, hasProse, tool, table, prompt }: ProvenanceAddition): void {
    const before = this.#countChanges()
    this.#startAnswer(tool)
    this.#tables.answers.merge(table)
    this.#tables.prompt.merge(prompt)
    this.#hasPrompt ||= hasPrompt
    this.#hasRead ||= hasRead
    this.#hasProse ||= hasProse
    // It is stored already.
    this.#revision += this.#countChanges() - before
  }

  /** The provenance that was stored; undefined if it cannot have been stored so. */
  static fromStored(stored: StoredProvenance): SessionProvenance | undefined {
    const table = HashTable.fromWords(stored.table)
    const prompt = HashTable.fromWords(stored.prompt)
    if (table === undefined || prompt === undefined) return undefined
    const made = new SessionProvenance(stored.seed, table, prompt)
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
    const tables = this.#tables.answers.revision + this.#tables.prompt.revision
    return tables + this.#prompts + Number(this.#hasRead) + Number(this.#hasProse)
  }

  get hasPrompt(): boolean {
    return this.#hasPrompt
  }

  wasAsked(word: string): boolean {
    return this.#tables.has(this.#tables.prompt, ASKED, word)
  }

  get bytes(): number {
    return this.#tables.answers.bytes + this.#tables.prompt.bytes
  }

  get isIncomplete(): boolean {
    return this.#tables.answers.isIncomplete
  }

  /** Something was not remembered. */
  markIncomplete(): void {
    this.#tables.answers.markIncomplete()
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
    addWords(this.#tables.hash, this.#tables.prompt, folded)
    for (const word of listAskedWords(folded))
      for (const form of listWordForms(word))
        this.#tables.add(this.#tables.prompt, ASKED, form, PROSE)
    for (const token of splitTokens(folded)) {
      const bare = trimEdges(token)
      if (bare === '') continue
      this.#tables.add(this.#tables.prompt, TOKEN, bare, PROSE)
      const reading = readValue(bare)
      this.#tables.add(this.#tables.prompt, WHOLE, reading.whole, PROSE)
      if (reading.isBareHost === true || readValue(bare, true).isBareHost === true)
        this.#tables.add(this.#tables.prompt, HOST, readValue(bare, true).host as string, PROSE)
    }
    visitGroupedAccounts(folded, (compact) =>
      this.#tables.add(this.#tables.prompt, WHOLE, compact, PROSE),
    )
    return true
  }

  /** Text that somebody handed on who may have read a stranger's: whatever its form, it is prose. */
  addText(text: string): void {
    this.#startAnswer(undefined)
    new AnswerWriter(this.#tables).addProse(text, ORDINARY)
    this.markRead()
  }

  /** Whether what is written in this session is the user's: nothing was read, or the user just said it. */
  isUsersText(text: string): boolean {
    return !this.hasRead || this.#lastPrompt?.includes(text) === true
  }

  get hasRead(): boolean {
    return this.#hasRead || this.#tables.answers.isIncomplete
  }

  /** A stranger's text was read, or something was forgotten. */
  get hasProse(): boolean {
    return this.#hasProse || this.#tables.answers.isIncomplete
  }

  /** Values of a call that was made before anything was read: they are the user's. */
  addKnown(texts: readonly string[]): void {
    for (const text of texts) {
      const { whole, kind, host, isBareHost } = readValue(text)
      this.#tables.add(this.#tables.prompt, WHOLE, whole, PROSE)
      if (kind === 'url' && isBareHost)
        this.#tables.add(this.#tables.prompt, HOST, host as string, PROSE)
      if (kind !== 'path') continue
      for (const one of listParents(whole)) this.#tables.addWhole(one, TRUSTED_ID)
      // What repeats the path later does not make its folders a stranger's names.
      for (const name of whole.split('/').slice(-PATH_PARTS_MAX)) this.#tables.addWhole(name, OWN)
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
    for (const whole of unknown) this.#tables.addWhole(whole, OWN)
  }

  remember(answer: Answer, source: AnswerSource = ORDINARY): void {
    this.#startAnswer(source.tool)
    const { trust, isGates } = source
    if (trust !== 'all' && isGates !== true && !isEmptyAnswer(answer)) this.#hasRead = true
    const writer = new AnswerWriter(this.#tables)
    writer.write(answer, source)
    if (writer.hasProse) this.#hasProse = true
  }

  originOf(reading: ValueReading): Origin {
    return findOrigin(this.#tables, reading)
  }

  sourceOf({ whole, host }: ValueReading): string | undefined {
    this.#tables.hash.hash(WHOLE, whole)
    const held = this.#tables.answers.answerOf(this.#tables.hash.low, this.#tables.hash.high)
    const answer =
      held === 0 ? standsIn(this.#tables.hash, this.#tables.answers, host ?? whole) : held
    return answer === 0 ? undefined : this.#sources.at(answer - this.#tables.answers.answer - 1)
  }

  #startAnswer(tool: string | undefined): void {
    this.#tables.answers.startAnswer()
    this.#sources.push(tool)
    // Some at a time: to move all of them for every answer takes longer than the rest of it.
    if (this.#sources.length >= 2 * ANSWER_SOURCES_MAX) this.#sources.splice(0, ANSWER_SOURCES_MAX)
  }
}

function isEmptyAnswer({ texts, structured, rest }: Answer): boolean {
  return texts.every((text) => text === '') && isEmptyValue(structured) && isEmptyValue(rest)
}

function isEmptyValue(value: JsonValue | undefined): boolean {
  if (value instanceof ExactNumber || typeof value === 'number') return false
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return typeof value !== 'string' || value === ''
}
