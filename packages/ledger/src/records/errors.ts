// Errors of the ledger. No record, no call: on any of these the caller forwards nothing.
// docs/reference/errors.md lists the same codes.

import { CodedError } from '@sluice/policy/structures/coded-error'
import type { StoreErrorCode } from '../store/errors.ts'

export const ERRORS = {
  LEDGER_UNAVAILABLE: 'the ledger cannot be written, so nothing is forwarded',
  LEDGER_RECORD: 'a record that cannot be stored: too large, or with an invalid number',
  LEDGER_BROKEN: 'the ledger is inconsistent: edited, removed or damaged',
  LEDGER_CHECKPOINT: 'a checkpoint or a proof that cannot be read, or is not there',
  LEDGER_QUERY: 'a query that is not one SELECT, or takes too long',
} as const

export class LedgerError extends CodedError<keyof typeof ERRORS> {
  /** The store's code, if the store was the reason. */
  readonly why: StoreErrorCode | undefined
  constructor(code: keyof typeof ERRORS, message: string, help: string, why?: StoreErrorCode) {
    super(code, message, help)
    this.why = why
  }
}
