// Alerts that were sent: when, what about, whether it is still so, and the page where one acts on it.

import type { JSX } from 'react'
import type { SentAlertView } from '../../../packages/sluice/src/admin/contract/contract.ts'
import { pathTo } from '../route.ts'
import { Link } from './button.tsx'
import { Notice } from './page.tsx'
import { UntrustedText } from './text.tsx'
import { duration } from './words.ts'
import './alert-list.css'

export function AlertList({
  alerts,
  when,
}: {
  alerts: readonly SentAlertView[]
  /** The time of an alert in words. */
  when: (atMs: number) => string
}): JSX.Element {
  return (
    <ul className="stack">
      {alerts.map(({ id, title, facts, undelivered, ...alert }) => (
        <li key={id} className="alert-row">
          <span className="muted num small">{when(alert.atMs)}</span>
          <span className="underlined">
            <Link to={pathTo('alerts', id)}>{title}</Link>{' '}
            {facts.length > 0 && (
              <UntrustedText
                text={facts.map(({ name, value }) => `${name}: ${value}`).join('; ')}
                className="muted small"
              />
            )}
          </span>
          <span className="row small">
            {undelivered.length > 0 && (
              <span className="mark deny">not delivered by {undelivered.join(', ')}</span>
            )}
            <AlertState {...alert} />
          </span>
        </li>
      ))}
    </ul>
  )
}

export function AlertState({
  state,
  atMs,
  overAtMs,
}: Pick<SentAlertView, 'state' | 'atMs' | 'overAtMs'>): JSX.Element | null {
  if (state === 'ongoing') return <span className="mark ask">ongoing</span>
  if (state === 'unknown') return <span className="muted">open when its gate was lost</span>
  if (overAtMs === null) return null
  return <span className="muted">over after {duration(overAtMs - atMs)}</span>
}

export function AlertsMissing(): JSX.Element {
  return (
    <Notice kind="bad">
      The shared store does not answer: alerts of other gates may be missing here.
    </Notice>
  )
}
