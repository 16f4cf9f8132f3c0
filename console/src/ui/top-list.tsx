// The most frequent names of something, each with a bar by outcome; a click shows the calls behind it.

import type { JSX } from 'react'
import { Link } from './button.tsx'
import { type OutcomeLabel, WORDS } from './marks.tsx'
import { TextLine } from './text.tsx'
import { count } from './words.ts'
import './top-list.css'

export interface TopName {
  readonly name: string
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
        {list.map(({ name, calls, words }) => (
          <li key={name}>
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
              <TextLine text={name} className="top-name" />
              <b className="num small">{count(calls)}</b>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}
