// The log function that every part of the gate is given, and how a foreign line is made safe for it.
// Structured fields are kept apart from the message.

import { visibleText } from '../../core/visible-text.ts'

export type Log = (
  level: LogLevel,
  message: string,
  fields?: Readonly<Record<string, string | number>>,
) => void

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Cut, and with no character in it that could rewrite a terminal or a log line. */
export function shorten(line: string, lengthMax: number): string {
  const cut = line.length > lengthMax ? `${line.slice(0, lengthMax)}…` : line
  return visibleText(cut.replaceAll('\t', ' '))
}
