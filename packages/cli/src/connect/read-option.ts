// Times, counts, ports and percentages as options take them.

import { parseDuration, parseTime } from '@sluice/policy/document/shape'
import { ArgumentError } from '../terminal/errors.ts'

/** `2026-01-01T12:00:00Z`, a day, or how long ago (from now, if `isAhead`): `30s`, `15m`, `2h`, `7d`. */
export function readTime(
  text: string | undefined,
  option: string,
  isAhead = false,
): number | undefined {
  if (text === undefined) return undefined
  const seconds = parseDuration(text)
  if (seconds !== undefined) return Date.now() + (isAhead ? 1_000 : -1_000) * seconds
  const ms = parseTime(text)
  if (ms !== undefined) return ms
  throw new ArgumentError(
    `${option} is \`${text}\`, which is not a time`,
    `write \`15m\`, \`2h\`, \`7d\` (${isAhead ? 'from now' : 'ago'}), \`2026-01-01\` or \`2026-01-01T12:00:00Z\``,
  )
}

export function readCount(text: string, option: string, max: number, min = 1): number {
  const count = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isInteger(count) && count >= min && count <= max) return count
  const help = `a whole number from ${min} to ${max}`
  throw new ArgumentError(`${option} is \`${text}\``, help)
}

/** Throws if it is no percentage. */
export function readPercent(name: string, text: string): number {
  // A variable of CI that is not set must not mean "no minimum".
  const value = /^\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : 101
  if (value > 100) throw new ArgumentError(`${name} is \`${text}\``, 'a number from 0 to 100')
  return value
}
