// Alerts of a gate for tests, with a webhook that takes everything and a store of its own.

import { ALERT_KINDS, type Alert, type SentAlert } from '@sluice/access/approvals/alert'
import type { AlertRows } from '@sluice/ledger/store/alert-rows'
import { SqliteAlertRows } from '@sluice/ledger/store/sqlite/alert-rows'
import { onTestFinished } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { openGateStore } from '../data/gate-store.ts'
import { Alerts } from './alerts.ts'
import type { ListedAlert } from './stored-alerts.ts'

export const config = {
  on: [...ALERT_KINDS],
  channels: ['webhook' as const],
  everyMs: 60_000,
  denialsPercent: 50,
  limitPercent: 80,
  verifyMs: 86_400_000,
}

export function alertOf(kind: Alert['kind'], title = 'something'): Alert {
  return { kind, title, facts: [{ name: 'Server', value: 'office' }], page: '/servers' }
}

export interface Outbox {
  readonly alerts: Alerts
  readonly sent: SentAlert[]
  readonly events: { readonly detail: object }[]
  readonly faults: unknown[]
  nowMs: number
}

export interface OutboxOptions {
  readonly on?: readonly string[]
  readonly fails?: boolean
  readonly rows?: AlertRows
  readonly gate?: string
  readonly send?: (alert: SentAlert) => Promise<void>
}

export function openRows(): AlertRows {
  const store = openGateStore(scratchDirectory())
  onTestFinished(() => store.close())
  return new SqliteAlertRows(store)
}

export function openOutbox(options: OutboxOptions = {}): Outbox {
  const { on = ALERT_KINDS, fails = false, rows = openRows(), gate = '' } = options
  const [sent, events, faults]: [SentAlert[], { detail: object }[], unknown[]] = [[], [], []]
  const email = { channel: 'email', alert: () => Promise.reject(new Error('refused')) }
  const send = options.send ?? (async (alert: SentAlert) => void sent.push(alert))
  const webhook = { channel: 'webhook', alert: send }
  const outbox = { sent, events, faults, nowMs: 1_000 }
  const alerts = new Alerts({
    config: { ...config, on },
    channels: fails ? [webhook, email] : [webhook],
    ledger: { event: async (event: { detail: object }) => void events.push(event) } as never,
    rows,
    log: (_level, message, fields) => void faults.push([message, fields]),
    nowMs: () => outbox.nowMs,
    base: () => 'http://localhost:7433',
    gate,
  })
  return Object.assign(outbox, { alerts })
}

export async function listed({ alerts }: Outbox): Promise<readonly ListedAlert[]> {
  return (await alerts.list()).alerts
}
