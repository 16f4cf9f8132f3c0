// What became of a call in the console's five words: a limit and a held call are denials to the
// caller, and something of their own to whoever looks.

import type { CallWord } from './contract-console.ts'

export function wordOf(action: string, code: string): CallWord {
  if (code === 'RATE_LIMITED' || code === 'SPEND_LIMITED') return 'limited'
  if (code.startsWith('APPROVAL_') || action === 'require_approval') return 'ask'
  return action === 'allow' || action === 'hide' ? action : 'deny'
}
