// `email(x).domain`: where a message goes. Called by the CEL environment. Exactly one plain
// address: whatever a mail server could split, unquote or route on is undecidable. Covers a second
// recipient after a comma or line break, `"a@evil.example"@good.example`, comments, and the old
// routings `user%evil.example@good.example` and `evil.example!user@good.example`.

import { UndecidableError } from './undecidable-error.ts'

const ADDRESS_LENGTH_MAX = 254
const PLAIN = /^([A-Za-z0-9.#$&'*+/=?^_`{|}~-]{1,64})@([A-Za-z0-9.-]+)$/
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const NUMERIC = /^(?:\d+|0x[0-9a-f]*)$/

export class PolicyEmail {
  /** The local part as it is written: only the receiving server knows whether it is case-sensitive. */
  readonly local: string
  readonly domain: string

  constructor(local: string, domain: string) {
    this.local = local
    this.domain = domain
  }
}

export function parseEmail(text: string): PolicyEmail {
  if (text.length > ADDRESS_LENGTH_MAX)
    throw new UndecidableError('an address that is too long', text)
  const [, local, rawDomain] = PLAIN.exec(text) ?? []
  if (local === undefined || rawDomain === undefined) {
    throw new UndecidableError('an address that is not one plain local@domain', text)
  }
  if (local.split('.').includes(''))
    throw new UndecidableError('a local part with loose dots', text)
  const domain = rawDomain.toLowerCase()
  const labels = domain.split('.')
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) {
    throw new UndecidableError('an address whose domain is not a full name', text)
  }
  if (NUMERIC.test(String(labels.at(-1))))
    throw new UndecidableError('an address at an IP address', text)
  return new PolicyEmail(local, domain)
}
