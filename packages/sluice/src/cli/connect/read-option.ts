// Times and counts as options take them.

import { parseDuration, parseTime } from '@sluice/policy/document/shape'
import { CliError } from '../../terminal/errors.ts'

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
  throw new CliError(
    'CLI_ARGUMENT',
    `${option} is \`${text}\`, which is not a time`,
    `write \`15m\`, \`2h\`, \`7d\` (${isAhead ? 'from now' : 'ago'}), \`2026-01-01\` or \`2026-01-01T12:00:00Z\``,
  )
}

export function readCount(text: string, option: string, max: number): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= max) return count
  throw new CliError('CLI_ARGUMENT', `${option} is \`${text}\``, `a whole number from 1 to ${max}`)
}
