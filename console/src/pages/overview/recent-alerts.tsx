// Alerts of the last day, those that are ongoing first: what a message on duty was about, and where to look.

import type { JSX } from 'react'
import type {
  AlertsView,
  SentAlertView,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { AlertList, AlertsMissing } from '../../ui/alert-list.tsx'
import { Link } from '../../ui/button.tsx'
import { ago } from '../../ui/words.ts'

/** Beside those that are ongoing. */
const SHOWN = 3
const SHOWN_MS = 24 * 3_600_000

export function RecentAlerts({ everyMs }: { everyMs: number }): JSX.Element | null {
  const { value } = useResource<AlertsView>('/alerts', everyMs)
  const nowMs = Date.now()
  const recent = (value?.sent ?? []).filter(
    (one) => one.kind !== 'test' && (isOngoing(one) || one.atMs > nowMs - SHOWN_MS),
  )
  if (recent.length === 0 && value?.isComplete !== false) return null
  const ongoing = recent.filter(isOngoing)
  const others = recent.filter((one) => !isOngoing(one))
  const shown = [...ongoing, ...others.slice(0, SHOWN)]
  return (
    <section className="card card-body stack" aria-label="Recent alerts">
      <div className="row spread">
        <h2 className="small-head">Recent alerts</h2>
        {recent.length > shown.length && (
          <Link to="/settings?section=alerts">All {recent.length}</Link>
        )}
      </div>
      {value?.isComplete === false && <AlertsMissing />}
      <AlertList alerts={shown} when={(atMs) => ago(atMs, nowMs)} />
    </section>
  )
}

function isOngoing({ state }: SentAlertView): boolean {
  return state === 'ongoing'
}
