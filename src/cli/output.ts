// What commands print: text with colour on a terminal, or one JSON value with `--json`. Answers go
// to stdout, remarks and problems to stderr. What a file or tool says is shown with its control
// characters made visible.

import { styleText } from 'node:util'
import { formatDecimal } from '../core/decimal.ts'
import type { Problem } from '../document/problem.ts'

export type Style = Parameters<typeof styleText>[0]

export class Output {
  readonly json: boolean

  constructor(options: { readonly json?: boolean }) {
    this.json = options.json === true
  }

  /** A line of the answer; nothing with `--json`. */
  line(text = ''): void {
    if (!this.json) process.stdout.write(`${text}\n`)
  }

  /** The whole answer with `--json`. */
  value(value: unknown): void {
    if (this.json) process.stdout.write(`${toJson(value)}\n`)
  }

  remark(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  /** With the line it is about and a caret under the place. */
  problem(problem: Problem, source: string | undefined): void {
    if (this.json) return
    const { file, line, column, severity, message, code, help } = problem
    const style = severity === 'error' ? 'red' : 'yellow'
    const paint = (what: Style, text: string) => styleText(what, text, { stream: process.stderr })
    this.remark(
      `${paint('bold', `${file}:${line}:${column}:`)} ${paint(style, severity)}: ${printable(message)} ${paint('dim', `[${code}]`)}`,
    )
    const text = source?.split('\n')[line - 1]
    if (text !== undefined) {
      const start = Math.max(0, column - 60)
      this.remark(paint('dim', `  | `) + printable(text.slice(start, start + 100)))
      this.remark(`${paint('dim', `  | `)}${' '.repeat(column - 1 - start)}${paint(style, '^')}`)
    }
    this.remark(`  ${paint('cyan', 'help')}: ${printable(help)}`)
  }

  paint(style: Style, text: string): string {
    return styleText(style, text, { stream: process.stdout })
  }
}

/** Control and direction characters as their code points: a file must not drive the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const point = character.codePointAt(0) as number
    return `\\u{${point.toString(16)}}`
  })
}

export function toJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_, inner) => {
      if (typeof inner === 'bigint') return inner.toString()
      if (inner === Number.POSITIVE_INFINITY) return null
      if (isDecimal(inner)) return formatDecimal(inner)
      return inner
    },
    2,
  )
}

function isDecimal(value: unknown): value is { units: bigint; scale: number } {
  return typeof value === 'object' && value !== null && 'units' in value && 'scale' in value
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
