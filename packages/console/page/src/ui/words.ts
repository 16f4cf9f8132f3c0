// Formats times, durations and numbers as text.

import { unescapePointer } from '@sluice/policy/values/json-pointer'
import type { CallRecord } from '../../../src/contract/contract.ts'
import { zoneName } from '../zone.ts'

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const HOURS = { hour: '2-digit', minute: '2-digit' } as const
const DAY = { day: 'numeric', month: 'short' } as const
const number = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const clock = (ms: number): string => format({ timeStyle: 'medium' }, ms)
export const date = (ms: number): string => format({ dateStyle: 'medium', timeStyle: 'medium' }, ms)
/** What a person entered has no seconds. */
export const minute = (ms: number): string =>
  format({ dateStyle: 'medium', timeStyle: 'short' }, ms)
/** To the millisecond, without the year: many calls have the same second. */
export const moment = (ms: number): string =>
  format({ ...DAY, ...CLOCK, fractionalSecondDigits: 3 }, ms)
/** For an axis that spans so many milliseconds, with a label at every step. */
export function tick(ms: number, { spanMs, stepMs }: { spanMs: number; stepMs: number }): string {
  if (spanMs > 2 * 86_400_000) return format(DAY, ms)
  if (stepMs % 60_000 === 0) return format(HOURS, ms)
  return stepMs < 1_000 ? format({ ...CLOCK, fractionalSecondDigits: 3 }, ms) : clock(ms)
}

/** An interval that ends before `toMs`, as short as its length allows. */
export function interval(fromMs: number, toMs: number): string {
  if (toMs - fromMs < 1_000) return moment(fromMs)
  const time = (toMs - fromMs) % 60_000 === 0 ? HOURS : CLOCK
  const [first, last] = [format({ ...DAY, ...time }, fromMs), format({ ...DAY, ...time }, toMs)]
  const isSameDay = format(DAY, fromMs) === format(DAY, toMs)
  return `${first} to ${isSameDay ? format(time, toMs) : last}`
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** In the time zone that was chosen. */
function format(options: Intl.DateTimeFormatOptions, ms: number): string {
  const zoned = { ...options, timeZone: zoneName() }
  const key = JSON.stringify(zoned)
  const known = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', zoned)
  formats.set(key, known)
  return known.format(ms)
}

export const count = (value: number): string => number.format(value)
const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 6 })
/** A value as it is on record. */
export const amount = (value: number): string => exact.format(value)
export const short = (value: number): string => compact.format(value)

/** In the currency of the prices: turns cost parts of a cent. */
export const money = (value: number): string =>
  value === 0 ? '0' : value.toFixed(value < 1 ? 4 : 2)

type Numbered = { readonly seq: number; readonly origin?: CallRecord['origin'] }

/** A record by its number; where gates share a store, by its gate and the number there. */
export function nameRecord({ seq, origin }: Numbered): string {
  return origin === undefined ? String(seq) : `${origin.gate} ${origin.seq}`
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

export function ago(ms: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - ms) / 1_000))
  return seconds < 5 ? 'just now' : `${span(seconds)} ago`
}

export function formatTimeLeft(ms: number, nowMs: number): string {
  const seconds = Math.round((ms - nowMs) / 1_000)
  return seconds <= 0 ? 'over' : `${span(seconds)} left`
}

export function span(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** To two units: `3 min 22 s`. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return millis(ms)
  const [unitS, small] =
    seconds < 3_600 ? [60, 1] : seconds < 86_400 ? [3_600, 60] : [86_400, 3_600]
  const rest = Math.floor((seconds % unitS) / small) * small
  return `${span(seconds)}${rest === 0 ? '' : ` ${span(rest)}`}`
}

export function millis(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < 10) return `${ms.toFixed(1)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`
  if (value < 1_048_576) return `${(value / 1_024).toFixed(1)} KiB`
  return `${(value / 1_048_576).toFixed(1)} MiB`
}

/** `a, b` as typed by a user. */
export function namesIn(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
}

/** A rule's location in its document, for people. */
export function formatPointer(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  return parts.map(unescapePointer).join(' › ')
}
