// Decisions, categories and risks as small marks: a shape, a word and a colour each.

import {
  OUTCOME_LABELS,
  type OutcomeLabel,
  toOutcomeLabel,
} from '@sluice/ledger/records/outcome-label'
import type { JSX } from 'react'
import { Icon } from './icons.tsx'

export { OUTCOME_LABELS, type OutcomeLabel, toOutcomeLabel }

const LABELS: Readonly<Record<OutcomeLabel, string>> = {
  allow: 'Allow',
  ask: 'Ask',
  deny: 'Deny',
  hide: 'Hide',
  limited: 'Limited',
  again: 'Asked',
}

/** For fields that filter by it. */
export const OUTCOME_CHOICES: readonly { value: OutcomeLabel; says: string }[] = [
  { value: 'allow', says: 'Allowed' },
  { value: 'ask', says: 'Held' },
  { value: 'deny', says: 'Denied' },
  { value: 'limited', says: 'Limited' },
  { value: 'hide', says: 'Hidden' },
]

interface OutcomeBadgeProps {
  readonly word: OutcomeLabel
  readonly says?: string
  readonly bare?: boolean
}

export function OutcomeBadge({ word, says, bare = false }: OutcomeBadgeProps): JSX.Element {
  const look = word === 'again' ? 'ask' : word
  return (
    <span className={`mark ${look}${bare ? ' bare' : ''}`}>
      <Icon name={look} size={12} />
      {says ?? LABELS[word]}
    </span>
  )
}

interface CategoryProps {
  readonly name: string | null
  /** It is a guess. */
  readonly unknown?: boolean | undefined
}

export function Category({ name, unknown = false }: CategoryProps): JSX.Element | null {
  if (name === null) return null
  return <span className="tag">{unknown ? `unknown, perhaps ${name}` : name}</span>
}

interface RiskProps {
  readonly level: string | null
  /** A guess has no risk. */
  readonly unknown?: boolean | undefined
}

export function Risk({ level, unknown = false }: RiskProps): JSX.Element | null {
  return level === null || unknown ? null : <span className={`tag ${level}`}>{level} risk</span>
}
