// What follows from the outcome of a call: it is recorded with the labels that it brought, its charges
// are given back if nothing was sent, and those who wait for it are notified. One function for each session.

import type { Log } from '../shared/log.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import type { CallPipeline } from './call-request.ts'
import type { CallSession } from './call-session.ts'
import type { LedgerCallRecorder } from './record-calls.ts'

export interface SettleOptions {
  readonly recorder: LedgerCallRecorder
  readonly admission: Pick<CallPipeline['admission'], 'refund'>
  readonly withLabels: (outcome: CallOutcome) => CallOutcome
  readonly onAnswered: () => void
  readonly log: Log
}

export function settleCalls(options: SettleOptions): CallSession['record'] {
  const { recorder, admission, withLabels, onAnswered, log } = options
  return ({ intent, receipt, instrumented, approval }, startedMs, settled) => {
    const outcome = withLabels(settled)
    if (outcome.givenBack === true)
      admission
        .refund(receipt)
        .catch(({ message }: Error) => log('error', 'charges were not undone', { why: message }))
    recorder.outcome(intent, startedMs, outcome)
    if (outcome.status === 'answered') onAnswered()
    instrumented.settled(outcome)
    approval?.settled(outcome)
  }
}
