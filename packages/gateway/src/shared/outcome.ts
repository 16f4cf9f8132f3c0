// How a forwarded call ended. The call path writes it, metrics and the ledger read it.
// It has no behaviour of its own.

import type { AnswerChange } from '@sluice/ledger/records/answer-changes'

/** How a call ended, for the record. */
export interface CallOutcome {
  readonly status: 'answered' | 'error' | 'cancelled' | 'unknown'
  readonly bytes?: number
  readonly errorCode?: number
  readonly labels?: readonly string[]
  readonly givenBack?: boolean
  readonly changes?: readonly AnswerChange[] | undefined
}
