// Alerts and limits for the console: what is watched, what was sent, a test message, and how full limits
// are. The engine is in the gate (gateway/alerts).

import type { AlertDelivery } from '@sluice/gateway/alerts/alerts'
import { describeLimitKey } from '@sluice/gateway/alerts/describe-limit'
import { LIMITS_SHOWN_MAX } from '@sluice/gateway/alerts/limits'
import type { LimitFill } from '@sluice/gateway/alerts/limits-in-use'
import { isOngoing, type ListedAlert } from '@sluice/gateway/alerts/stored-alerts'
import type { AlertsConfig } from '@sluice/gateway/config/alerts'
import { clockNow } from '@sluice/gateway/start/open-alerts'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { recordFirst } from '@sluice/ledger/record-first'
import { ALERT_HANDLED } from '@sluice/ledger/records/event-title'
import { required, textOrEmpty } from '@sluice/policy/document/build-shape'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import type { AlertHandling } from '../queries/ledger-queries.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'

/** `GET /api/limits`. */
export interface LimitsView {
  /** The fullest first; others are cut off. */
  readonly limits: readonly LimitView[]
  /** How many limits have something used. */
  readonly count: number
}

/** A limit of the policy that has something used. */
export interface LimitView extends LimitFill {
  /** The tool, the category or the name of the limit. */
  readonly limit: string
  /** The values that the limit counts by; empty if it counts for everyone. */
  readonly whose: string
}

/** `GET /api/alerts`. */
export interface AlertsView {
  /** What this gate raises alerts for, and where it sends them. */
  readonly alerts: AlertsConfig
  /** Alerts of all gates that share a store, the newest first. */
  readonly sent: readonly SentAlertView[]
  /** False if the shared store does not answer: alerts of other gates may be missing. */
  readonly isComplete: boolean
}

/** An alert that was sent. */
export interface SentAlertView {
  readonly id: string
  /** The gate that noticed it; empty if there is only one. */
  readonly gate: string
  readonly atMs: number
  readonly kind: ListedAlert['kind']
  readonly title: string
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  /** Words in an answer that the alert is about; empty if it is not about an answer. */
  readonly found: string
  /** The page of the console where one acts on it. */
  readonly page: string
  /** `past`: it has happened, and does not end. `unknown`: it had not ended when its gate was lost. */
  readonly state: 'ongoing' | 'over' | 'past' | 'unknown'
  readonly overAtMs: number | null
  /** Channels that did not take the alert. */
  readonly undelivered: readonly string[]
  /** Who said that it is handled; null if nobody did. */
  readonly handled: AlertHandling | null
}

/** `POST /api/alerts/test`: what became of the test message on each channel. */
export interface AlertTest {
  readonly deliveries: readonly AlertDelivery[]
}

export function alertsEndpoints(parts: AdminParts, reader: LedgerReader): Endpoint[] {
  return [
    endpoint('GET /api/limits', {
      role: 'viewer',
      summary: 'how full the limits of the policy are, the fullest first (LimitsView)',
      handle: () => viewLimits(parts),
    }),
    endpoint('GET /api/alerts', {
      role: 'viewer',
      summary: 'what alerts are sent for, and the last ones of all gates (AlertsView)',
      handle: () => viewAlerts(parts, reader),
    }),
    endpoint('POST /api/alerts/:id/handled', {
      role: 'approver',
      input: { note: required(textOrEmpty(400), 'what was done') },
      summary: 'say that this alert is handled, for everybody and the record',
      handle: async ({ input: { id, note }, person: { name: by } }) => {
        const alert = (await parts.alerts.list()).alerts.find((one) => one.id === id)
        if (alert === undefined)
          throw new ApiError('API_NOT_FOUND', `no alert has the id \`${id}\``, 'see /api/alerts')
        const detail = { id, title: alert.title, by, note }
        await recordFirst(parts.ledger, { atMs: Date.now(), name: ALERT_HANDLED, detail })
        return { by, note }
      },
    }),
    endpoint('POST /api/alerts/test', {
      role: 'admin',
      summary: 'send a test alert over every channel, and say what became of it (AlertTest)',
      handle: ({ person }) => sendTest(parts, person.name),
    }),
  ]
}

async function viewLimits({ limits }: AdminParts): Promise<LimitsView> {
  const all = await limits.list(clockNow())
  const shown = all.slice(0, LIMITS_SHOWN_MAX).map(({ key, id: _, ...rest }) => ({
    ...describeLimitKey(key),
    ...rest,
  }))
  return { limits: shown, count: all.length }
}

async function viewAlerts(parts: AdminParts, reader: LedgerReader): Promise<AlertsView> {
  // An alert may be about a ledger that cannot be read.
  const readHandled = async () => reader.ask('handledAlerts', undefined)
  const [{ alerts: sent, isComplete }, handled] = await Promise.all([
    parts.alerts.list(),
    readHandled().catch(() => new Map<string, AlertHandling>()),
  ])
  const views = sent.map((one) => toView(one, handled.get(one.id)))
  return { alerts: parts.alerts.config, sent: views, isComplete }
}

async function sendTest({ alerts }: AdminParts, by: string): Promise<AlertTest> {
  if (alerts.config.channels.length === 0)
    throw new ApiError(
      'API_REFUSED',
      'this gate sends no alerts, it only shows them',
      'write `alerts: {}` in sluice.yaml, with a channel under `approvals`',
    )
  return { deliveries: await alerts.test(by) }
}

function toView(alert: ListedAlert, handled: AlertHandling | undefined): SentAlertView {
  const { id, gate, atMs, kind, title, facts, found = '', page, overAtMs = null } = alert
  const { undelivered } = alert
  const state = stateOf(alert)
  const what = { id, gate, atMs, kind, title, facts, found, page }
  return { ...what, state, overAtMs, undelivered, handled: handled ?? null }
}

function stateOf(alert: ListedAlert): SentAlertView['state'] {
  if (alert.overAtMs !== undefined) return 'over'
  if (!isOngoing(alert)) return 'past'
  // Nobody else sees whether it still is.
  return alert.isShared || alert.isGateLive !== false ? 'ongoing' : 'unknown'
}
