// The outcome of an admitted call, for the audit log, after its reply: the labels that the reply brought
// into the session belong to it. Called by handle-call.ts.

import { performance } from 'node:perf_hooks'
import type { CallOutcome } from '../shared/outcome.ts'
import type { AdmittedCall } from './call-request.ts'
import type { Exchange } from './call-session.ts'

export interface RecordOptions {
  readonly exchange: Exchange
  /** The call as admitted; undefined for a request that passes undecided, which is not recorded. */
  readonly admitted: AdmittedCall | undefined
  readonly outcome: CallOutcome
}

export function recordOutcome({ admitted, exchange, outcome }: RecordOptions): void {
  const { pending, session } = exchange
  if (admitted === undefined) return session.answers.recordChanges(outcome.changes)
  try {
    const startedMs = pending.sent?.startedMs ?? performance.now()
    session.record(admitted.admission, startedMs, outcome)
  } catch (error) {
    session.log(`the outcome of a call could not be recorded: ${(error as Error).message}`)
  }
}
