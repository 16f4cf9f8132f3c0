// Which rules the explanation of a call offers to make for its tool. Pure.

import type { CallExplanation } from '../../../../src/contract/contract.ts'

/** `guess`: nobody knows what the tool does, so it is not allowed for good before `classify` says so. */
export type RuleChoices = 'all' | 'guess' | 'none'

export function ruleChoices({
  method,
  rule,
  word,
  unknown,
}: Pick<CallExplanation, 'method' | 'rule' | 'word' | 'unknown'>): RuleChoices {
  // Only tools have rules of their own.
  if (method !== 'tools/call') return 'none'
  // A tool that no server has: a rule would be for nothing, or for whatever gets that name one day.
  if (rule === 'built-in' && word === 'hide') return 'none'
  return unknown ? 'guess' : 'all'
}
