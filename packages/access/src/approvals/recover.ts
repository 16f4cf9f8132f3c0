// Determines from the ledger the outcome of calls that had claimed their approval when the process
// ended. No intent: nothing was sent, and the approval is still valid. An intent with an unknown
// outcome: the approval is used, and a person has to check. Read at start, before anything is
// served.

import type { DatabaseSync } from 'node:sqlite'
import { recordsFrom } from '@sluice/ledger/chain/read'
import type { OutcomeRecord } from '@sluice/ledger/records/record'
import type { ApprovalRow } from './requests.ts'

export type ApprovalUse = 'not-sent' | 'executed' | 'unknown'

/** Finds the outcomes by the id of the call. The ledger was opened before: open calls in it are marked unknown. */
export function recoverUses(
  ledger: DatabaseSync,
  used: readonly ApprovalRow[],
): Map<string, ApprovalUse> {
  const uses = new Map<string, ApprovalUse>()
  const wanted = new Set(used.map(({ usedBy }) => usedBy as string))
  for (const call of wanted) uses.set(call, 'not-sent')
  if (used.length === 0) return uses
  const from = Math.min(...used.map(({ usedFrom }) => usedFrom ?? 1))
  const intents = new Map<number, string>()
  for (const record of recordsFrom(ledger, Math.max(1, from))) {
    if (record.kind === 'intent' && wanted.has(record.callId)) {
      intents.set(record.seq, record.callId)
      uses.set(record.callId, 'unknown')
    } else if (record.kind === 'outcome') {
      const call = intents.get(record.intent)
      if (call !== undefined) uses.set(call, toApprovalUse(record))
    }
  }
  return uses
}

export function toApprovalUse({
  status,
  givenBack,
}: Pick<OutcomeRecord, 'status' | 'givenBack'>): ApprovalUse {
  if (givenBack) return 'not-sent'
  return status === 'answered' || status === 'error' ? 'executed' : 'unknown'
}
