// Limits of the original: `N/window`, or a counter with a largest value. Calendar windows become
// sliding ones of the same length and maximum, which never let more through; amounts are counted
// exactly, where the original cuts fractions off and takes negative ones.

import { RATE_MAX } from '@sluice/policy/language/limits'
import { parseArgumentPath } from './cel-text.ts'
import type { ImportLimit, ImportLimitScope, Window } from './draft.ts'
import type { ImportReport } from './report.ts'

const WINDOWS: Record<string, Window> = { minute: '1m', hour: '1h', day: '1d' }
export const WINDOW_NAMES = Object.keys(WINDOWS)

export interface CounterLimit {
  /** Where the limit stands, for warnings. */
  readonly at: number
  readonly window: string
  /** The counter may not pass this. */
  readonly max: number
  /** How much a call adds. */
  readonly increment: number
  /** The argument whose value a call adds instead. */
  readonly incrementFrom?: string
  readonly per: ImportLimitScope
  /** How sure it is that the original goes by the calendar. */
  readonly calendar: 'is' | 'may be'
}

export type TranslatedLimit =
  | { readonly limit: ImportLimit; readonly pass: readonly string[] }
  /** Not even one call fits. */
  | { readonly denies: true }

export function parseShorthand(text: string): { count: number; window: string } | undefined {
  const match = /^\+?(\d{1,15})\/(minute|hour|day)$/.exec(text)
  if (match === null || Number(match[1]) === 0) return undefined
  return { count: Number(match[1]), window: match[2] as string }
}

export function translateLimit(
  counter: CounterLimit,
  report: ImportReport,
): TranslatedLimit | undefined {
  const { at, increment, incrementFrom, per } = counter
  const window = WINDOWS[counter.window]
  if (window === undefined)
    return report.error(
      'IMPORT_LIMIT',
      at,
      `the window \`${counter.window}\` is none of \`minute\`, \`hour\`, \`day\``,
      'write the limit by hand',
    )
  if (!Number.isSafeInteger(Math.trunc(counter.max)))
    return report.error(
      'IMPORT_LIMIT',
      at,
      `a limit of \`${counter.max}\``,
      'write the limit by hand',
    )
  if (incrementFrom === undefined && increment < 1)
    return report.error(
      'IMPORT_LIMIT',
      at,
      `a call adds \`${increment}\` to the counter, so that nothing is limited`,
      'write the limit by hand',
    )
  warnWindow(counter, report)
  const max = Math.trunc(counter.max)
  if (incrementFrom !== undefined)
    return spendLimit(counter, incrementFrom, { max, window, report })
  const calls = Math.floor(max / increment)
  if (calls < 1) return { denies: true }
  if (calls > RATE_MAX)
    report.warn(
      'IMPORT_LIMIT',
      at,
      `\`${calls}\` calls are more than a rate limit takes`,
      `the import says ${RATE_MAX}`,
    )
  return { limit: { max: Math.min(calls, RATE_MAX), window, per }, pass: [] }
}

interface SpendBounds {
  readonly max: number
  readonly window: Window
  readonly report: ImportReport
}

function spendLimit(
  { at, per }: CounterLimit,
  from: string,
  { max, window, report }: SpendBounds,
): TranslatedLimit | undefined {
  const path = parseArgumentPath(from)
  if (path === undefined)
    return report.error(
      'IMPORT_PATH',
      at,
      `\`${from}\` is not a path to an argument that can be written here`,
      'write `args.<name>`, or the limit by hand',
    )
  report.warn(
    'IMPORT_AMOUNT',
    at,
    `the original counts whole units of \`${path.cel}\` (0.99 counts as 0), and a negative amount gives budget back`,
    'here every fraction counts, and a negative amount is denied',
  )
  if (max < 1) return { denies: true }
  // Strings that are decimals count for us; the original denies whatever is no number.
  return { limit: { amount: path.cel, max, window, per }, pass: [`${path.cel} >= 0`] }
}

function warnWindow({ at, max, window, calendar }: CounterLimit, report: ImportReport): void {
  report.warn(
    'IMPORT_CALENDAR_WINDOW',
    at,
    calendar === 'is'
      ? `the original counts by the calendar ${window}: up to ${2 * Math.trunc(max)} pass around its turn`
      : `the original may count by the calendar ${window}, which lets twice as much pass around its turn`,
    `here no stretch of one ${window} holds more than ${Math.trunc(max)}, and calls that the server fails count too`,
  )
}
