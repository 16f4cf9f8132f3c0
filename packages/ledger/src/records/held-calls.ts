// What became of a held call, as the records behind it say. A client makes a held call again after the verdict, or
// while it waits: all these records are one call, and figures count the last of them. A call that was refused while
// nobody made it again is a denial. Pure.

import { isObject } from '@sluice/policy/values/json'
import type { DecisionRecord, LedgerRecord, OutcomeRecord } from './record.ts'

/** Takes the place of the action of a held call if a later record is about the same call: that one counts. */
export const MADE_AGAIN = 'made again'

/** How a request for approval was refused. */
export interface HeldCallRefusal {
  /** Empty if no person did. */
  readonly by: string
  /** What people read; the reason of the call's own record tells the model what to do. */
  readonly text: string
}

/** `name`, `detail`: of the event that ended the request. */
export function describeRefusal(name: string, detail: string): string {
  const { by, comment, wasApproved } = JSON.parse(detail)
  if (name === 'approval-denied') return `denied by ${by}${comment ? `: ${comment}` : ''}`
  return wasApproved === true ? 'approved, and not made again in time' : 'nobody decided in time'
}

const REFUSALS: readonly string[] = ['approval-denied', 'approval-expired']

export interface HeldCallChange {
  /** The request for approval. */
  readonly approval: string
  /** What the record that was held before for this request is from now on. */
  readonly became: 'deny' | typeof MADE_AGAIN
  /** Who denied it. */
  readonly by?: string
}

/** What a record says about the one that was held before it; undefined if nothing. */
export function findHeldCallChange(
  record: Exclude<LedgerRecord, OutcomeRecord>,
): HeldCallChange | undefined {
  if (record.kind === 'event') {
    if (!REFUSALS.includes(record.name) || !isObject(record.detail)) return undefined
    const { request, by } = record.detail
    if (typeof request !== 'string') return undefined
    return { approval: request, became: 'deny', ...(typeof by === 'string' ? { by } : {}) }
  }
  const { approval } = record
  return approval === undefined ? undefined : { approval, became: MADE_AGAIN }
}

export function isHeld({ decision }: DecisionRecord): boolean {
  return decision.action === 'require_approval'
}

/** Reads the ledger from its end: what became of a call is known when its own record comes. */
export class HeldCalls {
  readonly #changes = new Map<string, HeldCallChange['became']>()

  /** Takes in a record that is older than all before it; returns the action of a call as it became. */
  take(record: LedgerRecord): string {
    if (record.kind === 'outcome') return ''
    const change = findHeldCallChange(record)
    const later = change && this.#changes.get(change.approval)
    // Of an approval and a verdict the record of the call is the later word.
    if (change !== undefined && later !== MADE_AGAIN)
      this.#changes.set(change.approval, change.became)
    if (record.kind === 'event') return ''
    return (isHeld(record) ? later : undefined) ?? record.decision.action
  }
}
