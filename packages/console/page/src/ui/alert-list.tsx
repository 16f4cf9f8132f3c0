// Alerts that were sent: when, what about, whether it is still so, and the page where one acts on it.

import type { JSX } from 'react'
import type { SentAlertView } from '../../../src/contract/contract.ts'
import { pathTo } from '../route.ts'
import { Link } from './button.tsx'
import { Notice } from './page.tsx'
import { UntrustedText } from './text.tsx'
import { duration } from './words.ts'
import './alert-list.css'

interface AlertListProps {
  readonly alerts: readonly SentAlertView[]
  /** The time of an alert in words. */
  readonly when: (atMs: number) => string
}

export function AlertList({ alerts, when }: AlertListProps): JSX.Element {
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

const RECENT_MS = 24 * 3_600_000

export function isRecent({ kind, atMs }: SentAlertView, nowMs: number): boolean {
  return kind !== 'test' && atMs > nowMs - RECENT_MS
}

/** What is so, or has happened in the last day, needs a person until somebody has handled it. */
export function needsPerson(alert: SentAlertView, nowMs: number): boolean {
  const { state, handled } = alert
  return handled === null && (state === 'ongoing' || (state === 'past' && isRecent(alert, nowMs)))
}

export function AlertState({
  state,
  atMs,
  overAtMs,
  handled,
}: Pick<SentAlertView, 'state' | 'atMs' | 'overAtMs' | 'handled'>): JSX.Element | null {
  if (handled !== null) return <span title={handled.note}>handled by {handled.by}</span>
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
