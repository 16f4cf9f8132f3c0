// What became of a call in five words, in the console, its queries and the report. `ask` is a call that was held
// for a person, as its recorded action says; one that a person, the full queue, the end of its wait or a changed
// definition refused is `deny`. A limit is a denial to the caller, and a label of its own to people. Pure.

export const OUTCOME_LABELS = ['allow', 'ask', 'deny', 'hide', 'limited'] as const
export type OutcomeLabel = (typeof OUTCOME_LABELS)[number]

export const LIMIT_CODES = ['RATE_LIMITED', 'SPEND_LIMITED'] as const

/** What a rule's action is called if the outcome has no code. */
export function toOutcomeLabel(action: string, code = ''): OutcomeLabel {
  if ((LIMIT_CODES as readonly string[]).includes(code)) return 'limited'
  if (action === 'require_approval') return 'ask'
  return action === 'allow' || action === 'hide' ? action : 'deny'
}
