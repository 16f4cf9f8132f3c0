// The most frequent names of something, each with a bar by outcome; a click shows the calls behind it.

import type { JSX } from 'react'
import type { CountedName, OutcomeCounts } from '../../../src/contract/contract.ts'
import { formatQuery } from '../api.ts'
import { Link } from './button.tsx'
import { OUTCOME_LABELS, OutcomeBadge, type OutcomeLabel } from './marks.tsx'
import { Panel } from './panel.tsx'
import { NameLine } from './text.tsx'
import { count, plural, short } from './words.ts'
import './top-list.css'

export function TopList({
  title,
  list,
  toName = (name) => name,
  toQuery,
}: {
  title: string
  list: readonly CountedName[]
  /** As people know it. */
  toName?: (name: string) => string
  /** What finds its calls in the ledger. */
  toQuery: (name: string) => Readonly<Record<string, string>>
}): JSX.Element {
  const most = list[0]?.calls ?? 1
  return (
    <Panel title={title} isSmall>
      {list.length === 0 && <p className="muted small">None in this period.</p>}
      <ol>
        {list.map(({ name, calls, counts: words }) => (
          <li key={name} title={describeShare(calls, words)}>
            <Link to={`/ledger${formatQuery(toQuery(name))}`} className="line-button top">
              <span
                className="bars"
                style={{ width: `${(calls / most) * 100}%` }}
                aria-hidden="true"
              >
                {listWords(words).map(([word, n]) => (
                  <span key={word} className={`bar ${word}`} style={{ flexGrow: n }} />
                ))}
              </span>
              <NameLine text={toName(name)} className="grow" />
              <NotAllowed words={words} />
              <b className="num small">{count(calls)}</b>
            </Link>
          </li>
        ))}
      </ol>
    </Panel>
  )
}

/** In the words of the totals. */
function describeShare(calls: number, words: OutcomeCounts): string {
  const parts = listWords(words).map(([word, n]) => `${count(n)} ${word}`)
  return `${plural(calls, 'call')}: ${parts.join(', ')}`
}

/** How many were held, denied and so on. Left out if all calls have one word: the colour says that. */
function NotAllowed({ words }: { words: OutcomeCounts }): JSX.Element | null {
  const list = listWords(words)
  if (list.length < 2) return null
  return (
    <>
      {list
        .filter(([word]) => word !== 'allow')
        .map(([word, n]) => (
          <span key={word} className="num">
            <OutcomeBadge word={word} bare says={short(n)} />
            <span className="visually-hidden"> {word},</span>
          </span>
        ))}
      <span className="visually-hidden"> of </span>
    </>
  )
}

function listWords(words: OutcomeCounts): (readonly [OutcomeLabel, number])[] {
  return OUTCOME_LABELS.map((word) => [word, words[word] ?? 0] as const).filter(([, n]) => n > 0)
}
