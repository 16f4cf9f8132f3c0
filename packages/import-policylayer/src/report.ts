// Gathers what there is to say about an imported document, by offset into its text. Errors and
// warnings are kept apart and all of them are kept: nothing of the original is dropped in silence.

import { type Problem, Problems } from '@sluice/policy/document/problem'
import type { ImportCode } from './errors.ts'

export type ImportWarning = Omit<Problem, 'severity'>

const COMMENT_LINES_MAX = 3

export class ImportReport {
  readonly file: string
  readonly text: string
  readonly #lines: readonly string[]
  readonly #places: Problems
  readonly #warnings: ImportWarning[] = []
  readonly #errors: ImportWarning[] = []

  constructor(file: string, text: string) {
    this.file = file
    this.text = text
    this.#lines = text.split('\n')
    this.#places = new Problems(file, text)
  }

  warn(code: ImportCode, offset: number, message: string, help: string): void {
    this.#warnings.push(this.#at(offset, { code, message, help }))
  }

  error(
    code: ImportCode,
    offset: number,
    message: string,
    help = 'the original refuses this document; fix it there',
  ): undefined {
    this.#errors.push(this.#at(offset, { code, message, help }))
  }

  get errorCount(): number {
    return this.#errors.length
  }

  get lastErrorLine(): number {
    return this.#errors.at(-1)?.line ?? 1
  }

  warnings(): ImportWarning[] {
    return inOrder(this.#warnings)
  }

  errors(): ImportWarning[] {
    return inOrder(this.#errors)
  }

  /** The comment lines directly above the line that `offset` is in. */
  commentsAbove(offset: number): string[] {
    const end = this.#places.position(offset).line - 1
    const above = this.#lines.slice(Math.max(0, end - COMMENT_LINES_MAX), end)
    const texts = above.map((line) => line.trim())
    return texts
      .slice(texts.findLastIndex((line) => !line.startsWith('#')) + 1)
      .map((line) => line.replace(/^#+/, '').trim())
      .filter((line) => line !== '')
  }

  #at(offset: number, text: Pick<Problem, 'code' | 'message' | 'help'>): ImportWarning {
    return { ...text, file: this.file, ...this.#places.position(offset) }
  }
}

function inOrder(list: readonly ImportWarning[]): ImportWarning[] {
  return [...list].sort((a, b) => a.line - b.line || a.column - b.column)
}
