// What became of a call in five words, in the console and in its queries: a limit and a held call are
// denials to the caller, and a label of their own to people. Pure.

export const OUTCOME_LABELS = ['allow', 'ask', 'deny', 'hide', 'limited'] as const
export type OutcomeLabel = (typeof OUTCOME_LABELS)[number]

export const LIMIT_CODES = ['RATE_LIMITED', 'SPEND_LIMITED'] as const
export const APPROVAL_CODES_START = 'APPROVAL_'

/** What a rule's action is called if the outcome has no code. */
export function toOutcomeLabel(action: string, code = ''): OutcomeLabel {
  if ((LIMIT_CODES as readonly string[]).includes(code)) return 'limited'
  if (code.startsWith(APPROVAL_CODES_START) || action === 'require_approval') return 'ask'
  return action === 'allow' || action === 'hide' ? action : 'deny'
}
