// What became of a call in five words, in the console, its queries and the report. `ask` is a call that is held
// for a person; one that a person, the full queue, the end of its wait or a changed definition refused is `deny`. A limit
// is a denial to the caller, and a label of its own to people. `again` is no call of its own: a record of one that was
// held, and of which a later record counts (held-calls.ts). Pure.

import { MADE_AGAIN } from './held-calls.ts'

export const OUTCOME_LABELS = ['allow', 'ask', 'deny', 'hide', 'limited'] as const
/** Every record has one of these, also one that is not counted. */
export const RECORD_LABELS = [...OUTCOME_LABELS, 'again'] as const
export type OutcomeLabel = (typeof RECORD_LABELS)[number]

export const LIMIT_CODES = ['RATE_LIMITED', 'SPEND_LIMITED'] as const

/** What a rule's action is called if the outcome has no code. */
export function toOutcomeLabel(action: string, code = ''): OutcomeLabel {
  if ((LIMIT_CODES as readonly string[]).includes(code)) return 'limited'
  if (action === 'require_approval') return 'ask'
  if (action === MADE_AGAIN) return 'again'
  return action === 'allow' || action === 'hide' ? action : 'deny'
}
