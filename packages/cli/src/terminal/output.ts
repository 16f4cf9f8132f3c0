// Output of commands: text with colour on a terminal, or one JSON value with `--json`. Results go
// to stdout, remarks and problems to stderr. Text from a file or tool is shown with its control
// characters made visible.

import { styleText } from 'node:util'
import { escapeUnseenJson, visibleText } from '@sluice/guard/show/visible-text'
import type { Problem } from '@sluice/policy/document/problem'
import { formatDecimal, isDecimal } from '@sluice/policy/values/decimal'
import { ExactNumber } from '@sluice/policy/values/json'

const LINE_WIDTH = 100
export type Style = Parameters<typeof styleText>[0]

export const ACTION_STYLES = {
  allow: 'green',
  require_approval: 'yellow',
  deny: 'red',
  hide: 'magenta',
} as const

export class Output {
  readonly json: boolean

  constructor(options: { readonly json?: boolean }) {
    this.json = options.json === true
  }

  /** A line of the result; nothing with `--json`. */
  line(text = ''): void {
    if (!this.json) process.stdout.write(`${text}\n`)
  }

  /** A line that matters less. */
  dim(text: string): void {
    this.line(this.paint('dim', text))
  }

  /** The whole result with `--json`. */
  value(value: unknown): void {
    if (this.json) process.stdout.write(`${toJson(value)}\n`)
  }

  remark(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  /** With the line it is about and a caret under the column. */
  problem(problem: Problem, source: string | undefined): void {
    if (this.json) return
    const { file, line, column, severity, message, code, help } = problem
    const style = severity === 'error' ? 'red' : 'yellow'
    const paint = (what: Style, text: string) => styleText(what, text, { stream: process.stderr })
    this.remark(
      `${paint('bold', `${printable(file)}:${line}:${column}:`)} ${paint(style, severity)}: ${printable(message)} ${paint('dim', `[${code}]`)}`,
    )
    const text = source?.split('\n')[line - 1]?.replace(/\r$/, '')
    if (text !== undefined) {
      // Enough of a long line to see the column; the caret is under the text as shown, not as
      // stored.
      const start = text.length <= LINE_WIDTH ? 0 : Math.max(0, column - 60)
      const before = printable(text.slice(start, column - 1))
      this.remark(paint('dim', `  | `) + printable(text.slice(start, start + LINE_WIDTH)))
      this.remark(`${paint('dim', `  | `)}${' '.repeat(before.length)}${paint(style, '^')}`)
    }
    this.remark(`  ${paint('cyan', 'help')}: ${printable(help)}`)
  }

  paint(style: Style, text: string): string {
    return styleText(style, text, { stream: process.stdout })
  }
}

/** Control and direction characters as their code points: a file must not control the terminal. */
export function printable(text: string): string {
  return visibleText(text)
}

/** Amounts as text, numbers that no double represents as written; safe for a terminal. */
export function toJson(value: unknown): string {
  const json = JSON.stringify(
    value,
    (_, inner) => {
      if (typeof inner === 'bigint') return inner.toString()
      if (inner === Number.POSITIVE_INFINITY) return null
      if (isDecimal(inner)) return formatDecimal(inner)
      if (inner instanceof ExactNumber) return rawNumber(inner.text)
      return inner
    },
    2,
  )
  return escapeUnseenJson(json)
}

/** A number in a YAML file is not always valid JSON. */
function rawNumber(text: string): unknown {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? JSON.rawJSON(text) : text
}

declare global {
  interface JSON {
    /** Newer than the types that come with the compiler. */
    rawJSON(text: string): unknown
  }
}

/** JSON on one line with spaces for readability; spaces inside of texts stay. */
export function toJsonLine(value: unknown): string {
  return toJson(value).replace(/\n\s*/g, ' ')
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
