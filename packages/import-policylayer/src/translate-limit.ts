// Limits of the original: `N/window`, or a counter with a largest value. Calendar windows become
// sliding ones of the same length and maximum, which never let more through; amounts are counted
// exactly, where the original cuts fractions off and takes negative ones.

import { RATE_MAX } from '@sluice/policy/language/limits'
import { readArgumentPath } from './cel-text.ts'
import type { Check, ImportLimitScope } from './draft.ts'
import type { ImportReport } from './report.ts'

export const WINDOWS = { second: '1s', minute: '1m', hour: '1h', day: '1d' } as const
export type Window = (typeof WINDOWS)[keyof typeof WINDOWS]

export interface CounterLimit {
  /** Where the limit stands, for warnings. */
  readonly at: number
  readonly window: Window
  /** The counter may not pass this. */
  readonly max: number
  /** How much a call adds. */
  readonly increment: number
  /** The argument whose value a call adds instead. */
  readonly incrementFrom?: string | undefined
  readonly per: ImportLimitScope
}

/** `5/hour`. */
export function parseRate(text: string): { max: number; window: Window } | undefined {
  const [, count, word] = /^\+?(\d{1,15})\s*\/\s*(second|minute|hour|day)$/.exec(text.trim()) ?? []
  const window = WINDOWS[word as keyof typeof WINDOWS]
  return Number(count) > 0 ? { max: Number(count), window } : undefined
}

/** What a limit adds to a check: it denies if not even one call fits. Undefined after an error. */
export function translateLimit(
  { at, window, increment, incrementFrom, per, max: written }: CounterLimit,
  report: ImportReport,
): Pick<Check, 'denies' | 'pass' | 'limits'> | undefined {
  const refuse = (message: string) =>
    report.error('IMPORT_LIMIT', at, message, 'write the limit by hand')
  const max = Math.trunc(written)
  if (!Number.isSafeInteger(max)) return refuse(`a limit of \`${written}\``)
  if (incrementFrom === undefined && increment < 1)
    return refuse(`a call adds \`${increment}\` to the counter, so that nothing is limited`)
  report.warn(
    'IMPORT_CALENDAR_WINDOW',
    at,
    `the original counts by the calendar: up to ${2 * max} pass around the turn of a window`,
    `here no stretch of ${window} holds more than ${max}, and calls that the server fails count too`,
  )
  if (incrementFrom === undefined) {
    const calls = Math.floor(max / increment)
    const message = `\`${calls}\` calls are more than a rate limit takes`
    if (calls > RATE_MAX) report.warn('IMPORT_LIMIT', at, message, `the import says ${RATE_MAX}`)
    const limits = [{ max: Math.min(calls, RATE_MAX), window, per }]
    return { denies: calls < 1, pass: [], limits }
  }
  const path = readArgumentPath(incrementFrom, at, report)
  if (path === undefined) return undefined
  const message = `the original counts whole units of \`${path.cel}\` (0.99 counts as 0), and a negative amount gives budget back`
  const help = 'here every fraction counts, and a negative amount is denied'
  report.warn('IMPORT_AMOUNT', at, message, help)
  // Strings that are decimals count for us; the original denies whatever is no number.
  const pass = [`${path.cel} >= 0`]
  return { denies: max < 1, pass, limits: [{ amount: path.cel, max, window, per }] }
}
