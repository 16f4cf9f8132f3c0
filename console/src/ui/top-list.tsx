// The most frequent names of something, each with a bar by outcome; a click shows the calls behind it.

import type { JSX } from 'react'
import { Link } from './button.tsx'
import { type OutcomeLabel, WORDS } from './marks.tsx'
import { TextLine } from './text.tsx'
import { count } from './words.ts'
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
                {WORDS.filter((word) => (words[word] ?? 0) > 0).map((word) => (
                  <span key={word} className={`bar ${word}`} style={{ flexGrow: words[word] }} />
                ))}
              </span>
              <TextLine text={says} className="top-name" />
              <NotAllowed calls={calls} words={words} />
              <b className="num small">{count(calls)}</b>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}

type WordCounts = TopName['words']

function countNotAllowed(words: WordCounts): number {
  return WORDS.reduce((sum, word) => sum + (word === 'allow' ? 0 : (words[word] ?? 0)), 0)
}

function describeShare(calls: number, words: WordCounts): string {
  return `${count(countNotAllowed(words))} of ${count(calls)} calls were not allowed`
}

/** Left out if all were, or none: the colour says that. */
function NotAllowed({ calls, words }: { calls: number; words: WordCounts }): JSX.Element | null {
  const refused = countNotAllowed(words)
  if (refused === 0 || refused === calls) return null
  return (
    <span className="num small top-refused">
      {count(refused)}
      <span className="visually-hidden"> not allowed of</span>
    </span>
  )
}
