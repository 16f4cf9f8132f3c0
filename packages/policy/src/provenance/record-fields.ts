// What is read of a text that is nothing but records: its fields, and how much prose stands beside them.

import { countBlanks, isPhrase, isProse } from './is-prose.ts'
import { RECORD_PROSE_WORDS, WORD_CHARS } from './limits.ts'

export interface RecordText {
  /** Values, and names of fields, that are not prose. */
  readonly fields: readonly string[]
  /** A stranger may have written the fields too. */
  readonly isWritten: boolean
}

/** Collects fields, and how many words of prose one record has at most. */
export class FieldCollector {
  readonly fields: string[] = []
  readonly #names = new Set<string>()
  #words = 0
  #most = 0
  /** Words of values that could be parts of a sentence. */
  #phrases = 0

  startRecord(): void {
    this.#words = 0
  }

  /** The records of a text mostly have the same names. */
  addName(name: string): void {
    if (this.#names.has(name)) return
    this.#names.add(name)
    this.add(name, '')
  }

  add(text: string, key: string): void {
    if (text === '') return
    const blanks = countBlanks(text)
    if (isProse(text, key, blanks)) {
      this.#words += Math.max(blanks + 1, Math.ceil(text.length / WORD_CHARS))
      this.#most = Math.max(this.#most, this.#words)
      return
    }
    if (isPhrase(text, blanks)) this.#phrases += blanks + 1
    this.fields.push(text)
  }

  result(shape: 'table' | 'list' | 'record'): RecordText | undefined {
    const isWritten = this.#most >= RECORD_PROSE_WORDS
    if (shape === 'table') return { fields: this.fields, isWritten }
    // Who wrote an order may have written all of it, and an order can be cut into `key: value` lines.
    const hasOrder = isWritten || (shape === 'record' && this.#phrases >= RECORD_PROSE_WORDS)
    return hasOrder ? undefined : { fields: this.fields, isWritten: true }
  }

  /** Of a text whose values are quoted. */
  resultOfLiteral(isTable: boolean): RecordText {
    const isWritten = !isTable || this.#most >= RECORD_PROSE_WORDS
    return { fields: this.fields, isWritten }
  }
}
