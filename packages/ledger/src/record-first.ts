// What has to be on record before it is done: a verdict, a policy that loosens, a server that is started. In an outage
// it is refused in the time of a call, so that nothing takes effect long after somebody was told nothing.

import { OperationError, OutageError } from '@sluice/policy/structures/operation-error'
import type { Ledger } from './ledger.ts'
import type { GateEvent } from './records/record.ts'
import { describeToCaller, isOutage } from './store/outage.ts'

/** Resolves with the number of the record; if it rejects, nothing may follow from the event. */
export async function recordFirst(
  ledger: Pick<Ledger, 'event'>,
  event: GateEvent,
): Promise<number> {
  try {
    return await ledger.event(event, true)
  } catch (error) {
    const Refusal = isOutage(error) ? OutageError : OperationError
    throw new Refusal(
      `it cannot be recorded, so it is not done: ${describeToCaller(error)}`,
      'try again when the ledger can be written',
    )
  }
}
