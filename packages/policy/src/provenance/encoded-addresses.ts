// Addresses that an argument holds in base64, in hexadecimal or in binary digits: a mail as an API takes it
// whole, a command that decodes another. Only runs that hold text are read, since random bytes have the
// letters of addresses too. One layer. Linear, and arguments are bounded (CHECKED_CHARS_MAX).

import type { ValueReading } from '../calls/provenance.ts'
import { decodeRun, findEncodedRuns } from '../readers/encoded-runs.ts'
import { listAddresses } from './read-value.ts'

/** At most `most` of them. */
export function listEncodedAddresses(text: string, most: number): ValueReading[] {
  const readings: ValueReading[] = []
  const budget = { charsLeft: Number.POSITIVE_INFINITY }
  for (const run of findEncodedRuns(text))
    for (const inside of decodeRun(run, budget)) {
      if (readings.length >= most) return readings
      if (inside !== undefined && isText(inside))
        readings.push(...listAddresses(inside, most - readings.length))
    }
  return readings
}

/** One of ten random bytes is a control character; a text that hides behind a few has hardly any. */
function isText(inside: string): boolean {
  return CONTROL_SHARE * (inside.match(CONTROL)?.length ?? 0) <= inside.length
}

const CONTROL_SHARE = 20
/** But for blanks and line breaks, and for bytes of UTF-8. */
const CONTROL = /[^\P{Cc}\t\n\r\x80-\x9f]/gu
