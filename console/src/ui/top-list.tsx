// The most frequent names of something, each with a bar by outcome; a click shows the calls behind it.

import type { JSX } from 'react'
import { Link } from './button.tsx'
import { OUTCOME_LABELS, OutcomeBadge, type OutcomeLabel } from './marks.tsx'
import { TextLine } from './text.tsx'
import { count, plural, short } from './words.ts'
import './top-list.css'

export interface TopName {
  readonly name: string
  /** Instead of the name. */
  readonly says?: string
  readonly calls: number
  readonly words: Readonly<Partial<Record<OutcomeLabel, number>>>
}

export function TopList({
  title,
  none,
  list,
  to,
}: {
  title: string
  /** Instead of an empty list. */
  none: string
  list: readonly TopName[]
  /** The address of its calls. */
  to: (name: string) => string
}): JSX.Element {
  const most = list[0]?.calls ?? 1
  return (
    <section className="card tops" aria-label={title}>
      <h2 className="small-head">{title}</h2>
      {list.length === 0 && <p className="muted small">{none}</p>}
      <ol>
        {list.map(({ name, says = name, calls, words }) => (
          <li key={name} title={describeShare(calls, words)}>
            <Link to={to(name)} className="top">
              <span
                className="bars"
                style={{ width: `${(calls / most) * 100}%` }}
                aria-hidden="true"
              >
                {listWords(words).map(([word, n]) => (
                  <span key={word} className={`bar ${word}`} style={{ flexGrow: n }} />
                ))}
              </span>
              <TextLine text={says} className="top-name" />
              <NotAllowed words={words} />
              <b className="num small">{count(calls)}</b>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** In the words of the totals. */
function describeShare(calls: number, words: TopName['words']): string {
  const parts = listWords(words).map(([word, n]) => `${count(n)} ${word}`)
  return `${plural(calls, 'call')}: ${parts.join(', ')}`
}

/** How many were held, denied and so on. Left out if all calls have one word: the colour says that. */
function NotAllowed({ words }: { words: TopName['words'] }): JSX.Element | null {
  const list = listWords(words)
  if (list.length < 2) return null
  return (
    <>
      {list
        .filter(([word]) => word !== 'allow')
        .map(([word, n]) => (
          <span key={word} className="num top-part">
            <OutcomeBadge word={word} bare says={short(n)} />
            <span className="visually-hidden"> {word},</span>
          </span>
        ))}
      <span className="visually-hidden"> of </span>
    </>
  )
}

function listWords(words: TopName['words']): (readonly [OutcomeLabel, number])[] {
  return OUTCOME_LABELS.map((word) => [word, words[word] ?? 0] as const).filter(([, n]) => n > 0)
}
