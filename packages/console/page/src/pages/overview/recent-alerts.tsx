// Alerts of the last day that are over or handled: what a message on duty was about, and where to look.

import type { JSX } from 'react'
import type { AlertsView } from '../../../../src/contract/contract.ts'
import { useResource } from '../../resource.ts'
import { AlertList, AlertsMissing, isRecent, needsPerson } from '../../ui/alert-list.tsx'
import { Link } from '../../ui/button.tsx'
import { Panel } from '../../ui/panel.tsx'
import { REFRESH_MS } from '../../ui/periods.ts'
import { ago } from '../../ui/words.ts'

const SHOWN = 5

export function RecentAlerts(): JSX.Element | null {
  const { value } = useResource<AlertsView>('/alerts', REFRESH_MS)
  const nowMs = Date.now()
  const recent = (value?.sent ?? []).filter(
    (alert) => isRecent(alert, nowMs) && !needsPerson(alert, nowMs),
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
