// Whether an address that stands in no answer is one that somebody could be reached at. Text that a
// model writes is full of others: loopback, documentation domains, namespaces, numbers with many digits.

import type { ValueReading } from '../core/provenance.ts'

/** Hosts that are names (XML namespaces, JSON schemas) or reserved for documentation. */
const NAMES_ONLY = new Set(
  'localhost w3.org schema.org json-schema.org xmlns.com example.com example.net example.org'.split(
    ' ',
  ),
)

export function isReachable({ kind, whole, host }: ValueReading): boolean {
  if (kind === 'account') return isAccount(whole)
  const name = kind === 'email' ? whole.slice(whole.lastIndexOf('@') + 1) : (host ?? '')
  return !NAMES_ONLY.has(name) && !/^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\])$/.test(name)
}

/** By its checksum; a wallet has letters and digits enough. */
function isAccount(compact: string): boolean {
  if (/^[a-z]{2}\d{2}[a-z0-9]{10,30}$/.test(compact)) return isIban(compact)
  return /^\d+$/.test(compact) ? /^[3-6]\d{12,18}$/.test(compact) && isLuhn(compact) : true
}

function isIban(compact: string): boolean {
  let rest = 0
  for (const unit of compact.slice(4) + compact.slice(0, 4))
    for (const digit of String(Number.parseInt(unit, 36))) rest = (rest * 10 + Number(digit)) % 97
  return rest === 1
}

function isLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]) * (at % 2 === 0 ? 1 : 2)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}
