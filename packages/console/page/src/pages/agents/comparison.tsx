// Beside the slider of a fork: the first turn in which it differs from the agent that it was forked from, both sides,
// and what each has used since.

import type { JSX } from 'react'
import type { ComparedSide, TurnComparison } from '../../../../src/contract/contract.ts'
import { formatQuery } from '../../api.ts'
import { useResource } from '../../resource.ts'
import { pathTo } from '../../route.ts'
import { Link } from '../../ui/button.tsx'
import { Panel } from '../../ui/panel.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { money, plural, short } from '../../ui/words.ts'

const REFRESH_MS = 5_000

interface ComparisonProps {
  /** Of this agent in the API. */
  readonly path: string
  readonly id: string
  /** The agent that it is a fork of. */
  readonly origin: string
}

export function Comparison({ path, id, origin }: ComparisonProps): JSX.Element | null {
  const query = formatQuery({ with: origin })
  const { value } = useResource<TurnComparison>(`${path}/compare${query}`, REFRESH_MS)
  // The other may be gone, or nothing has happened to one of them.
  if (value === undefined || value.from === null) return null
  const { turn, from, sides } = value
  const [own, others] = sides
  return (
    <Panel title="Compared" isSmall>
      <p className="muted small">
        {turn === null ? `The same from turn ${from} on` : `Differs first in turn ${turn}`}
      </p>
      <Side id={id} label="This one" side={own} turn={turn} />
      <Side id={origin} label="Its origin" side={others} turn={turn} />
    </Panel>
  )
}

interface SideProps {
  readonly id: string
  readonly label: string
  readonly side: ComparedSide
  readonly turn: number | null
}

function Side({ id, label, side, turn }: SideProps): JSX.Element {
  const { turns, tokens, cost, at } = side
  const used = [plural(turns, 'turn'), `${short(tokens)} tokens`]
  const spent = cost === null ? used : [...used, money(cost)]
  return (
    <div className="stack">
      <p className="small">
        <Link to={`${pathTo('agents', id)}${turn === null ? '' : `?turn=${turn}`}`}>{label}</Link>{' '}
        <span className="muted num">{spent.join(' · ')}</span>
      </p>
      {turn !== null && at === null && <p className="muted small">no such turn</p>}
      {at !== null && at.text !== '' && <UntrustedText text={at.text} />}
      {at?.calls.map(({ name, input }) => (
        <UntrustedText key={`${name} ${input}`} text={`${name} ${input}`} className="mono small" />
      ))}
    </div>
  )
}
