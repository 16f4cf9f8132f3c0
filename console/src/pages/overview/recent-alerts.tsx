// Alerts of the last day that are over or have happened: what a message on duty was about, and where to look.

import type { JSX } from 'react'
import type { AlertsView } from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { AlertList, AlertsMissing } from '../../ui/alert-list.tsx'
import { Link } from '../../ui/button.tsx'
import { Panel } from '../../ui/panel.tsx'
import { REFRESH_MS } from '../../ui/periods.ts'
import { ago } from '../../ui/words.ts'

const SHOWN = 5
const SHOWN_MS = 24 * 3_600_000

export function RecentAlerts(): JSX.Element | null {
  const { value } = useResource<AlertsView>('/alerts', REFRESH_MS)
  const nowMs = Date.now()
  const recent = (value?.sent ?? []).filter(
    ({ kind, state, atMs }) => kind !== 'test' && state !== 'ongoing' && atMs > nowMs - SHOWN_MS,
  )
  if (recent.length === 0 && value?.isComplete !== false) return null
  const shown = recent.slice(0, SHOWN)
  return (
    <Panel
      title="Recent alerts"
      isSmall
      side={
        recent.length > shown.length && (
          <Link to="/settings?section=alerts">All {recent.length}</Link>
        )
      }
    >
      {value?.isComplete === false && <AlertsMissing />}
      <AlertList alerts={shown} when={(atMs) => ago(atMs, nowMs)} />
    </Panel>
  )
}
