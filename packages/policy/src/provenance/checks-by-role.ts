// What is checked of an argument, by what the argument is: the table of docs/concepts/guards.md, "What is checked of
// an argument", row by row and in the same words (test/units/guards-page.test.ts compares the two).

import type { ArgumentRole } from '../calls/provenance.ts'
import type { ValueRole } from './names.ts'

/** One row of the table. */
export interface ArgumentChecks {
  /** What a value counts as that is no e-mail address, URL or account: those count as an `address` in every row. */
  readonly value: 'address' | 'recipient' | 'identifier' | 'nothing'
  /** What a bare host counts as; `value`: as any other value. */
  readonly host: 'address' | 'host' | 'value' | 'nothing'
  /** Whether a text is one value, or `each` of the values between commas and line breaks is checked. */
  readonly list: 'one' | 'each'
  /** Which texts count as free text: only addresses within them are checked. `long`: a text as long as a sentence. */
  readonly free: 'every' | 'long' | 'never'
  /** What is checked if the call only reads; `same`: what is checked in a change, since the argument is sent. */
  readonly read: 'same' | 'hosts' | 'URLs' | 'nothing'
}

/** If only the name of the argument says what it is (names.ts). */
export const CHECKS_BY_NAME: Readonly<Record<ValueRole, ArgumentChecks>> = {
  address: { value: 'recipient', host: 'address', list: 'one', free: 'never', read: 'hosts' },
  recipient: { value: 'recipient', host: 'value', list: 'each', free: 'never', read: 'URLs' },
  credential: { value: 'recipient', host: 'value', list: 'one', free: 'never', read: 'URLs' },
  id: { value: 'identifier', host: 'host', list: 'one', free: 'long', read: 'URLs' },
  name: { value: 'identifier', host: 'host', list: 'one', free: 'long', read: 'URLs' },
  date: { value: 'nothing', host: 'host', list: 'one', free: 'long', read: 'URLs' },
  place: { value: 'nothing', host: 'host', list: 'one', free: 'long', read: 'URLs' },
  'free text': { value: 'nothing', host: 'nothing', list: 'one', free: 'every', read: 'nothing' },
}

/** If `destinations` of the policy says what the argument is. Undefined: nothing of it is checked. */
export const CHECKS_BY_POLICY: Readonly<Record<ArgumentRole, ArgumentChecks | undefined>> = {
  address: { value: 'address', host: 'address', list: 'one', free: 'never', read: 'same' },
  recipient: { value: 'recipient', host: 'value', list: 'each', free: 'never', read: 'same' },
  id: { value: 'identifier', host: 'host', list: 'one', free: 'never', read: 'URLs' },
  text: { value: 'nothing', host: 'nothing', list: 'one', free: 'every', read: 'nothing' },
  none: undefined,
}
