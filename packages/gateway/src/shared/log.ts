// The log function that every part of the gate is given, and how a foreign line is made safe for it.
// Structured fields are kept apart from the message.

import { maskLine } from '@sluice/guard/secrets'
import { visibleText } from '@sluice/guard/show/visible-text'
import { LOGGED_MESSAGE_LENGTH_MAX, MESSAGE_LOG_LINES_PER_SECOND } from './limits.ts'
import { TokenBucket } from './token-bucket.ts'

export type Log = (
  level: LogLevel,
  message: string,
  fields?: Readonly<Record<string, string | number>>,
) => void

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** The longest secret that is masked: so much more is read than is shown, as a secret that is cut is not found. */
const SECRET_LENGTH_MAX = 4_096

/** Makes a foreign line safe to log: shortens it, masks secrets, and replaces characters that could rewrite a
 * terminal or a log line. */
export function shorten(line: string, lengthMax: number): string {
  // Masked first: half a secret has no shape.
  const masked = maskLine(line.slice(0, lengthMax + SECRET_LENGTH_MAX))
  const cut = masked.length > lengthMax ? `${masked.slice(0, lengthMax)}…` : masked
  return visibleText(cut.replaceAll('\t', ' '))
}

/**
 * Limits the rate of lines that a peer causes by its messages: without a limit they fill a disk and hide what
 * else is logged. Lines above the rate are counted, and the next line says how many there were.
 */
export function limitLog(log: Log, nowMs = () => performance.now()): (text: string) => void {
  const bucket = new TokenBucket(MESSAGE_LOG_LINES_PER_SECOND, nowMs())
  let leftOut = 0
  return (text) => {
    if (!bucket.take(1, nowMs())) {
      leftOut += 1
      return
    }
    log('warn', shorten(text, LOGGED_MESSAGE_LENGTH_MAX), leftOut === 0 ? {} : { leftOut })
    leftOut = 0
  }
}
