// Decisions, categories and risks as small marks: a shape, a word and a colour each.

import type { JSX } from 'react'
import { Icon } from './icons.tsx'

export type OutcomeLabel = 'allow' | 'ask' | 'deny' | 'hide' | 'limited'

export const WORDS: readonly OutcomeLabel[] = ['allow', 'ask', 'deny', 'hide', 'limited']

const SAID: Readonly<Record<OutcomeLabel, string>> = {
  allow: 'Allow',
  ask: 'Ask',
  deny: 'Deny',
  hide: 'Hide',
  limited: 'Limited',
}

/** Maps the gate's actions to the console's labels: a limit is a denial with its own colour. */
export function toOutcomeLabel(action: string, code = ''): OutcomeLabel {
  if (code === 'RATE_LIMITED' || code === 'SPEND_LIMITED') return 'limited'
  if (code.startsWith('APPROVAL_PENDING')) return 'ask'
  if (action === 'require_approval') return 'ask'
  return action === 'allow' || action === 'hide' ? action : 'deny'
}

export function OutcomeBadge({
  word,
  says,
  bare = false,
}: {
  word: OutcomeLabel
  says?: string
  bare?: boolean
}): JSX.Element {
  return (
    <span className={`mark ${word}${bare ? ' bare' : ''}`}>
      <Icon name={word} size={12} />
      {says ?? SAID[word]}
    </span>
  )
}

export function Category({
  name,
  unknown = false,
}: {
  name: string | null
  /** It is a guess. */
  unknown?: boolean | undefined
}): JSX.Element | null {
  if (name === null) return null
  return <span className="tag">{unknown ? `unknown, perhaps ${name}` : name}</span>
}

export function Risk({
  level,
  unknown = false,
}: {
  level: string | null
  /** A guess has no risk. */
  unknown?: boolean | undefined
}): JSX.Element | null {
  return level === null || unknown ? null : <span className={`tag ${level}`}>{level} risk</span>
}
