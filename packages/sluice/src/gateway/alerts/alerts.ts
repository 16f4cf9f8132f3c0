// Alerts on their way out: at most one of a kind in `alerts.every`, over all channels that the
// configuration names, recorded in the ledger. A channel that fails is logged and holds nothing up.

import { randomUUID } from 'node:crypto'
import type { Alert, AlertChannel, AlertKind, SentAlert } from '../../core/alert.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { AlertsConfig } from '../config/alerts.ts'
import type { Log } from '../shared/log.ts'
import { ALERTS_KEPT } from './limits.ts'

export interface AlertsOptions {
  readonly config: AlertsConfig
  readonly channels: readonly AlertChannel[]
  readonly ledger: Pick<Ledger, 'event'>
  readonly log: Log
  readonly nowMs: () => number
  /** Where people reach the console. */
  readonly base: () => string | undefined
}

/** What became of an alert on one channel; `why` is empty if it was sent. */
export interface AlertDelivery {
  readonly channel: string
  readonly why: string
}

export class Alerts {
  readonly #options: AlertsOptions
  readonly #lastMs = new Map<AlertKind, number>()
  readonly #suppressed = new Map<AlertKind, number>()
  readonly #sent: SentAlert[] = []

  constructor(options: AlertsOptions) {
    this.#options = options
  }

  /** The newest first. */
  get sent(): readonly SentAlert[] {
    return this.#sent
  }

  get config(): AlertsConfig {
    return this.#options.config
  }

  /** Returns at once. */
  raise(alert: Alert): void {
    const { config, nowMs } = this.#options
    if (alert.kind !== 'test' && !config.on.includes(alert.kind)) return
    const atMs = nowMs()
    if (atMs < (this.#lastMs.get(alert.kind) ?? Number.NEGATIVE_INFINITY) + config.everyMs) {
      this.#suppressed.set(alert.kind, (this.#suppressed.get(alert.kind) ?? 0) + 1)
      return
    }
    this.#lastMs.set(alert.kind, atMs)
    void this.#send(alert, atMs)
  }

  /** A test is sent whenever a person asks for it. */
  test(by: string): Promise<readonly AlertDelivery[]> {
    const facts = [{ name: 'Asked for by', value: by }]
    const alert = { kind: 'test', title: 'Test alert', facts, page: '/settings' } as const
    return this.#send(alert, this.#options.nowMs())
  }

  async #send(alert: Alert, atMs: number): Promise<readonly AlertDelivery[]> {
    const { base, channels, ledger, log } = this.#options
    const address = base()
    const url = address === undefined ? undefined : `${address}${alert.page}`
    const suppressed = this.#suppressed.get(alert.kind) ?? 0
    this.#suppressed.delete(alert.kind)
    const sent: SentAlert = { ...alert, id: randomUUID(), atMs, suppressed, url }
    this.#sent.unshift(sent)
    this.#sent.splice(ALERTS_KEPT)
    const detail = { kind: alert.kind, title: alert.title, suppressed }
    // The ledger may be what the alert is about.
    ledger.event({ atMs, name: 'alert', detail }).catch(() => {})
    return Promise.all(
      channels.map(async (one): Promise<AlertDelivery> => {
        const { channel } = one
        try {
          await one.alert(sent)
          return { channel, why: '' }
        } catch (error) {
          const why = (error as Error).message
          log('warn', 'an alert was not sent', { channel, kind: alert.kind, why })
          return { channel, why }
        }
      }),
    )
  }
}
