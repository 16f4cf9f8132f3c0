// Alerts and limits for the console: what is watched, what was sent, a test message, and how full limits
// are. The engine is in the gate (gateway/alerts).

import type { AlertList } from '../../gateway/alerts/alerts.ts'
import { describeLimitKey } from '../../gateway/alerts/describe-limit.ts'
import { LIMITS_SHOWN_MAX } from '../../gateway/alerts/limits.ts'
import { isOngoing, type ListedAlert, listStored } from '../../gateway/alerts/stored-alerts.ts'
import { clockNow } from '../../gateway/start/open-alerts.ts'
import type { AdminParts } from '../../gateway/start/run-admin.ts'
import type {
  AlertsView,
  AlertTest,
  LimitsView,
  SentAlertView,
} from '../contract/contract-overview.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'

export function alertsEndpoints({
  alerts,
  alertRows,
  limits,
}: Pick<AdminParts, 'alerts' | 'alertRows' | 'limits'>): Endpoint[] {
  /** A gate that sends none lists those of the others. */
  const list = (): Promise<AlertList> =>
    alerts?.list() ??
    listStored(alertRows).then(
      (stored) => ({ alerts: stored, isComplete: true }),
      () => ({ alerts: [], isComplete: false }),
    )
  return [
    endpoint('GET /api/limits', {
      role: 'viewer',
      summary: 'how full the limits of the policy are, the fullest first (LimitsView)',
      handle: async (): Promise<LimitsView> => {
        const all = await limits.list(clockNow())
        const shown = all.slice(0, LIMITS_SHOWN_MAX).map(({ key, id: _, ...rest }) => ({
          ...describeLimitKey(key),
          ...rest,
        }))
        return { limits: shown, count: all.length }
      },
    }),
    endpoint('GET /api/alerts', {
      role: 'viewer',
      summary: 'what alerts are sent for, and the last ones of all gates (AlertsView)',
      handle: async (): Promise<AlertsView> => {
        const { alerts: sent, isComplete } = await list()
        return { alerts: alerts?.config ?? null, sent: sent.map(toView), isComplete }
      },
    }),
    endpoint('POST /api/alerts/test', {
      role: 'admin',
      summary: 'send a test alert over every channel, and say what became of it (AlertTest)',
      handle: async ({ person }): Promise<AlertTest> => {
        if (alerts === undefined)
          throw new ApiError(
            'API_REFUSED',
            'this gate sends no alerts',
            'write `alerts: {}` in sluice.yaml, with a channel under `approvals`',
          )
        return { deliveries: await alerts.test(person.name) }
      },
    }),
  ]
}

function toView(alert: ListedAlert): SentAlertView {
  const { id, gate, atMs, kind, title, facts, found = '', page, overAtMs = null } = alert
  const { undelivered } = alert
  const state = stateOf(alert)
  return { id, gate, atMs, kind, title, facts, found, page, state, overAtMs, undelivered }
}

function stateOf(alert: ListedAlert): SentAlertView['state'] {
  if (alert.overAtMs !== undefined) return 'over'
  if (!isOngoing(alert)) return 'past'
  // Nobody else sees whether it still is.
  return alert.isShared || alert.isGateLive !== false ? 'ongoing' : 'unknown'
}
