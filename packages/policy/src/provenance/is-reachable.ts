// Whether an address that stands in no answer is one that somebody could be reached at. Text that a
// model writes is full of others: loopback, documentation domains, namespaces, numbers with many digits.

import type { ValueReading } from '../calls/provenance.ts'
import { isIban, isLuhn } from '../readers/checksums.ts'
import { toWordSet } from '../structures/word-set.ts'

/** Hosts that are names (XML namespaces, JSON schemas) or reserved for documentation. */
const NAMES_ONLY = toWordSet(
  'w3.org schema.org json-schema.org xmlns.com example.com example.net example.org',
)

export function isReachable(reading: ValueReading): boolean {
  const { kind, whole, host } = reading
  if (kind === 'account') return isAccount(whole)
  const name = kind === 'email' ? whole.slice(whole.lastIndexOf('@') + 1) : (host ?? '')
  return !NAMES_ONLY.has(name) && !THIS_MACHINE.test(name)
}

/** A URL of the machine itself: what is sent there does not leave it. */
export function isThisMachine({ kind, host = '' }: ValueReading): boolean {
  return kind === 'url' && THIS_MACHINE.test(host)
}

const THIS_MACHINE = /^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\])$/

/** Whether a text is an account by its checksum, or a wallet, which has letters and digits enough. */
function isAccount(compact: string): boolean {
  if (/^[a-z]{2}\d{2}[a-z0-9]{10,30}$/.test(compact)) return isIban(compact)
  return /^\d+$/.test(compact) ? /^[3-6]\d{12,18}$/.test(compact) && isLuhn(compact) : true
}
