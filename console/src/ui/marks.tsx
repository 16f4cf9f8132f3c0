// Decisions, categories and risks as small marks: a shape, a word and a colour each.

import type { JSX } from 'react'
import { Icon } from './icons.tsx'

export type Word = 'allow' | 'ask' | 'deny' | 'hide' | 'limited'

export const WORDS: readonly Word[] = ['allow', 'ask', 'deny', 'hide', 'limited']

const SAID: Readonly<Record<Word, string>> = {
  allow: 'Allow',
  ask: 'Ask',
  deny: 'Deny',
  hide: 'Hide',
  limited: 'Limited',
}

/** The gate's words in the console's: a limit is a denial of its own colour. */
export function wordOf(action: string, code = ''): Word {
  if (code === 'RATE_LIMITED' || code === 'SPEND_LIMITED') return 'limited'
  if (code.startsWith('APPROVAL_PENDING')) return 'ask'
  if (action === 'require_approval') return 'ask'
  return action === 'allow' || action === 'hide' ? action : 'deny'
}

export function Mark({
  word,
  says,
  bare = false,
}: {
  word: Word
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

export function Category({ name }: { name: string | null }): JSX.Element | null {
  return name === null ? null : <span className="tag">{name}</span>
}

export function Risk({ level }: { level: string | null }): JSX.Element | null {
  return level === null ? null : <span className={`tag ${level}`}>{level} risk</span>
}
