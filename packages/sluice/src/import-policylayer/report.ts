// Gathers what there is to say about an imported document, by offset into its text. Errors and
// warnings are kept apart and all of them are kept: nothing of the original is dropped in silence.

import type { ImportCode } from './errors.ts'

export interface ImportWarning {
  readonly code: string
  readonly message: string
  readonly help: string
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
}

export class ImportReport {
  readonly file: string
  readonly text: string
  readonly #warnings: ImportWarning[] = []
  readonly #errors: ImportWarning[] = []
  readonly #lineStarts: number[] = [0]

  constructor(file: string, text: string) {
    this.file = file
    this.text = text
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
      this.#lineStarts.push(at + 1)
  }

  warn(code: ImportCode, offset: number, message: string, help: string): void {
    this.#warnings.push({ code, message, help, file: this.file, ...this.#place(offset) })
  }

  error(code: ImportCode, offset: number, message: string, help: string): undefined {
    this.#errors.push({ code, message, help, file: this.file, ...this.#place(offset) })
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
    const comments: string[] = []
    for (let line = this.#place(offset).line - 2; line >= 0; line--) {
      const text = this.text.slice(this.#lineStarts[line], this.#lineStarts[line + 1]).trim()
      if (!text.startsWith('#') || comments.length === COMMENT_LINES_MAX) break
      comments.unshift(text.replace(/^#+/, '').trim())
    }
    return comments.filter((comment) => comment !== '')
  }

  #place(offset: number): { line: number; column: number } {
    let low = 0
    let high = this.#lineStarts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#lineStarts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (this.#lineStarts[low] as number) + 1 }
  }
}

const COMMENT_LINES_MAX = 3

function inOrder(list: readonly ImportWarning[]): ImportWarning[] {
  return [...list].sort((a, b) => a.line - b.line || a.column - b.column)
}
