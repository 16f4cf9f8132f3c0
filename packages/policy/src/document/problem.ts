// What is wrong with a document, where, and what to do about it. Problems are collected, never
// thrown, so that the user sees all of them together.

import { PROBLEMS_KEPT_MAX, PROBLEMS_MAX } from './limits.ts'

/**
 * A document with an error decides nothing; a warning is only reported.
 *
 * @example
 * ```ts
 * const errors = problems.filter(({ severity }) => severity === 'error')
 * ```
 */
export type Severity = 'error' | 'warning'

/**
 * What is wrong with a document, where, and what to do about it.
 *
 * @example
 * ```ts
 * for (const { line, message, help } of problems) console.error(`${line}: ${message}; ${help}`)
 * ```
 */
export interface Problem {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly help: string
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
}

/**
 * The problems because of which a document decides nothing.
 *
 * @example
 * ```ts
 * if (errorsIn(problems).length === 0) console.log('it compiles')
 * ```
 */
export function errorsIn(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ severity }) => severity === 'error')
}

interface ProblemText {
  readonly offset: number
  readonly message: string
  readonly help: string
}

/** Collects the problems of one file, by offset into its text. */
export class Problems {
  readonly #file: string
  readonly #text: string
  readonly #list: Problem[] = []
  readonly #reported = new Set<string>()
  #lineStarts: number[] | undefined
  #errors = 0
  #warnings = 0

  constructor(file: string, text: string) {
    this.#file = file
    this.#text = text
  }

  get file(): string {
    return this.#file
  }

  get hasErrors(): boolean {
    return this.#errors > 0
  }

  error(code: string, offset: number, message: string, help: string): void {
    this.add('error', code, { offset, message, help })
  }

  /** The same for a check that ends with it. */
  refuse(code: string, offset: number, message: string, help: string): false {
    this.error(code, offset, message, help)
    return false
  }

  warn(code: string, offset: number, message: string, help: string): void {
    this.add('warning', code, { offset, message, help })
  }

  add(severity: Severity, code: string, { offset, message, help }: ProblemText): void {
    if (severity === 'error') this.#errors++
    const count = severity === 'error' ? this.#errors : ++this.#warnings
    if (count > PROBLEMS_KEPT_MAX) return
    const { line, column } = this.position(offset)
    const id = `${line}:${column}:${code}:${message}`
    if (this.#reported.has(id)) return
    this.#reported.add(id)
    this.#list.push({ code, severity, message, help, file: this.#file, line, column })
  }

  /** In the order of the text, errors and warnings together. */
  sorted(): Problem[] {
    const byPlace = (a: Problem, b: Problem) => a.line - b.line || a.column - b.column
    const list = [...this.#list].sort(byPlace)
    if (list.length <= PROBLEMS_MAX) return list
    // A warning never crowds out the error that stops the document.
    const isError = ({ severity }: Problem) => severity === 'error'
    const ordered = [...list.filter(isError), ...list.filter((problem) => !isError(problem))]
    return ordered.slice(0, PROBLEMS_MAX).sort(byPlace)
  }

  position(offset: number): { line: number; column: number } {
    this.#lineStarts ??= lineStarts(this.#text)
    const starts = this.#lineStarts
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    // Editors do not count a byte order mark.
    const mark = low === 0 && offset > 0 && this.#text.startsWith('\uFEFF') ? 1 : 0
    return { line: low + 1, column: offset - (starts[low] as number) + 1 - mark }
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
