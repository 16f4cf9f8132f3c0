// What became of a call in the console's five words: a limit and a held call are denials to the
// caller, and a label of its own in the console.

import type { OutcomeLabel } from './contract-live.ts'

export function toOutcomeLabel(action: string, code: string): OutcomeLabel {
  if (code === 'RATE_LIMITED' || code === 'SPEND_LIMITED') return 'limited'
  if (code.startsWith('APPROVAL_') || action === 'require_approval') return 'ask'
  return action === 'allow' || action === 'hide' ? action : 'deny'
}
