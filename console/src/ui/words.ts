// Formats times, durations and numbers as text.

const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const number = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const clock = (ms: number): string => time.format(ms)
export const date = (ms: number): string => day.format(ms)
export const count = (value: number): string => number.format(value)
export const short = (value: number): string => compact.format(value)

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

export function ago(ms: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - ms) / 1_000))
  return seconds < 5 ? 'just now' : `${span(seconds)} ago`
}

export function left(ms: number, nowMs: number): string {
  const seconds = Math.round((ms - nowMs) / 1_000)
  return seconds <= 0 ? 'over' : `${span(seconds)} left`
}

export function span(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
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
