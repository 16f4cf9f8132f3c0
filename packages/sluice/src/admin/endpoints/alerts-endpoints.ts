// Alerts and limits for the console: what is watched, what was sent, a test message, and how full limits
// are. The engine is in the gate (gateway/alerts).

import { isOngoing, type ListedAlert } from '../../gateway/alerts/alerts.ts'
import { describeLimitKey } from '../../gateway/alerts/describe-limit.ts'
import { LIMITS_SHOWN_MAX } from '../../gateway/alerts/limits.ts'
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
  limits,
}: Pick<AdminParts, 'alerts' | 'limits'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/limits',
      role: 'viewer',
      summary: 'how full the limits of the policy are, the fullest first (LimitsView)',
      handle: (): LimitsView => {
        const all = limits.list(clockNow())
        const shown = all.slice(0, LIMITS_SHOWN_MAX).map(({ key, ...rest }) => ({
          ...describeLimitKey(key),
          ...rest,
        }))
        return { limits: shown, count: all.length }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/api/alerts',
      role: 'viewer',
      summary: 'what alerts are sent for, and the last ones (AlertsView)',
      handle: (): AlertsView => ({
        alerts:
          alerts === undefined
            ? null
            : {
                ...alerts.config,
                sent: alerts.sent.map(toView),
              },
      }),
    }),
    endpoint({
      method: 'POST',
      path: '/api/alerts/test',
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
  const { id, atMs, kind, title, facts, page, overAtMs = null, undelivered } = alert
  const state = overAtMs !== null ? 'over' : isOngoing(alert) ? 'ongoing' : 'past'
  return { id, atMs, kind, title, facts, page, state, overAtMs, undelivered }
}
