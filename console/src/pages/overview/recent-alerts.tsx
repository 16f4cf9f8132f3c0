// Alerts of the last day, the newest first: what a message on duty was about, and where to look.

import type { JSX } from 'react'
import type { AlertsView } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { Link } from '../../ui/button.tsx'
import { UntrustedText } from '../../ui/text.tsx'
import { ago } from '../../ui/words.ts'

const SHOWN = 3
const SHOWN_MS = 24 * 3_600_000

export function RecentAlerts({ everyMs }: { everyMs: number }): JSX.Element | null {
  const { value } = useResource<AlertsView>('/alerts', everyMs)
  const nowMs = Date.now()
  const recent = (value?.alerts?.sent ?? []).filter(
    ({ kind, atMs }) => kind !== 'test' && atMs > nowMs - SHOWN_MS,
  )
  if (recent.length === 0) return null
  return (
    <section className="card card-body stack" aria-label="Recent alerts">
      <div className="row spread">
        <h2 className="small-head">Recent alerts</h2>
        {recent.length > SHOWN && <Link to="/settings">All {recent.length}</Link>}
      </div>
      <ul className="stack">
        {recent.slice(0, SHOWN).map(({ id, atMs, title, facts, page }) => (
          <li key={id} className="recent-alert">
            <span className="muted num small">{ago(atMs, nowMs)}</span>
            <Link to={page}>{title}</Link>
            <UntrustedText
              text={facts.map(({ name, value: text }) => `${name}: ${text}`).join('; ')}
              className="muted small cut"
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
