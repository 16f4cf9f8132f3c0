// Exact decimals for amounts: `units` times ten to the minus `scale`. Money is summed in these,
// never in doubles (0.99 must not count as 0, nor 0.1 + 0.2 as more than 0.3).

import { ExactNumber } from './json.ts'

export interface Decimal {
  readonly units: bigint
  readonly scale: number
}

/** Digits before and after the point that an amount may have. */
export const DECIMAL_DIGITS_MAX = 40
const PLAIN = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?$/
const JSON_NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

export const ZERO: Decimal = { units: 0n, scale: 0 }
export const ONE: Decimal = { units: 1n, scale: 0 }

export function isDecimal(value: unknown): value is Decimal {
  return typeof (value as Decimal | null | undefined)?.units === 'bigint'
}

/** A plain decimal such as `12.50`; undefined for anything else (exponents, spaces, signs). */
export function parseDecimal(text: string): Decimal | undefined {
  const match = PLAIN.exec(text)
  return match ? build(match[1], match[2], match[3], 0) : undefined
}

/** Converts a JSON number, or a string with a plain decimal. */
export function toDecimal(value: unknown): Decimal | undefined {
  if (typeof value === 'string') return parseDecimal(value)
  if (value instanceof ExactNumber) return parseNumber(value.text)
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  if (Number.isSafeInteger(value)) return { units: BigInt(value), scale: 0 }
  return parseNumber(String(value))
}

function parseNumber(text: string): Decimal | undefined {
  const match = JSON_NUMBER.exec(text)
  return match ? build(match[1], match[2], match[3], Number(match[4] ?? 0)) : undefined
}

function build(sign = '', whole = '0', fraction = '', exponent: number): Decimal | undefined {
  const scale = fraction.length - exponent
  if (Math.abs(exponent) > DECIMAL_DIGITS_MAX || whole.length > DECIMAL_DIGITS_MAX) return undefined
  if (fraction.length > DECIMAL_DIGITS_MAX) return undefined
  const digits = BigInt(sign + whole + fraction)
  return scale >= 0 ? { units: digits, scale } : { units: digits * 10n ** BigInt(-scale), scale: 0 }
}

export function addDecimal(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { units: atScale(a, scale) + atScale(b, scale), scale }
}

export function subtractDecimal(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { units: atScale(a, scale) - atScale(b, scale), scale }
}

export function multiplyDecimal(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale }
}

/** Returns a number below zero, zero or above zero if `a` is less than, equal to or greater than `b`. */
export function compareDecimal(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const left = atScale(a, scale)
  const right = atScale(b, scale)
  return left < right ? -1 : left > right ? 1 : 0
}

export function formatDecimal({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`
}

function atScale(value: Decimal, scale: number): bigint {
  return value.scale === scale ? value.units : value.units * 10n ** BigInt(scale - value.scale)
}
