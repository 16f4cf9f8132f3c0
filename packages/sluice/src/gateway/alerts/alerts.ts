// Alerts on their way out: at most one of a kind in `alerts.every`, over all channels that the
// configuration names, recorded in the ledger; and a message when what one was about is over. A channel
// that fails is logged and holds nothing up.

import { randomUUID } from 'node:crypto'
import type { Alert, AlertChannel, AlertKind, SentAlert } from '../../core/alert.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { AlertsConfig } from '../config/alerts.ts'
import type { Log } from '../shared/log.ts'
import { ALERTS_KEPT } from './limits.ts'
import type { StoredAlerts } from './stored-alerts.ts'

export interface AlertsOptions {
  readonly config: AlertsConfig
  readonly channels: readonly AlertChannel[]
  readonly ledger: Pick<Ledger, 'event'>
  readonly stored: Pick<StoredAlerts, 'load' | 'save'>
  readonly log: Log
  readonly nowMs: () => number
  /** Where people reach the console. */
  readonly base: () => string | undefined
  /** The name of this gate among those that share its store. */
  readonly gate?: string | undefined
}

/** What became of an alert on one channel; `why` is empty if it was sent. */
export interface AlertDelivery {
  readonly channel: string
  readonly why: string
}

/** An alert that was sent, and the channels that did not take it. */
export interface ListedAlert extends SentAlert {
  readonly undelivered: readonly string[]
}

export class Alerts {
  readonly #options: AlertsOptions
  readonly #lastMs = new Map<AlertKind, number>()
  readonly #suppressed = new Map<AlertKind, number>()
  /** The last one of each kind that came too soon, and would not come again by itself. */
  readonly #delayed = new Map<AlertKind, Alert>()
  #sent: readonly ListedAlert[] = []

  constructor(options: AlertsOptions) {
    this.#options = options
    this.#sent = options.stored.load()
    for (const { kind, atMs } of [...this.#sent].reverse()) this.#lastMs.set(kind, atMs)
  }

  /** The newest first. */
  get sent(): readonly ListedAlert[] {
    return this.#sent
  }

  get config(): AlertsConfig {
    return this.#options.config
  }

  /**
   * Returns at once; false if it is not sent now. One that has subjects may be raised again as long as
   * they are so; any other is sent later.
   */
  raise(alert: Alert): boolean {
    const { kind } = alert
    if (!this.config.on.includes(kind)) return false
    const atMs = this.#options.nowMs()
    if (this.#isTooSoon(kind, atMs)) {
      if (alert.subjects !== undefined) return false
      this.#suppressed.set(kind, (this.#suppressed.get(kind) ?? 0) + 1)
      this.#delayed.set(kind, alert)
      return false
    }
    this.#lastMs.set(kind, atMs)
    void this.#send(alert, atMs)
    return true
  }

  /** Sends alerts that came too soon, after their time. */
  flush(): void {
    const atMs = this.#options.nowMs()
    for (const [kind, alert] of this.#delayed) {
      if (this.#isTooSoon(kind, atMs)) continue
      // It is the last of those that were counted.
      this.#suppressed.set(kind, (this.#suppressed.get(kind) ?? 1) - 1)
      this.#lastMs.set(kind, atMs)
      void this.#send(alert, atMs)
    }
  }

  /** What is so now of a kind: alerts about none of it are over. */
  settle(kind: AlertKind, subjects: ReadonlySet<string>): void {
    const overAtMs = this.#options.nowMs()
    const ended = this.#sent.filter(
      (one) => one.kind === kind && isOngoing(one) && !one.subjects?.some((it) => subjects.has(it)),
    )
    for (const alert of ended) {
      this.#replace({ ...alert, overAtMs })
      const { overTitle: title } = alert
      if (title !== undefined) void this.#deliver({ ...alert, title, overAtMs, suppressed: 0 })
    }
  }

  /** A test is sent whenever a person asks for it. */
  test(by: string): Promise<readonly AlertDelivery[]> {
    const facts = [{ name: 'Asked for by', value: by }]
    const alert = { kind: 'test', title: 'Test alert', facts, page: '/settings' } as const
    return this.#send(alert, this.#options.nowMs())
  }

  #isTooSoon(kind: AlertKind, atMs: number): boolean {
    return atMs < (this.#lastMs.get(kind) ?? Number.NEGATIVE_INFINITY) + this.config.everyMs
  }

  async #send(alert: Alert, atMs: number): Promise<readonly AlertDelivery[]> {
    const { kind } = alert
    const { base, gate } = this.#options
    const address = base()
    const url = address === undefined ? undefined : `${address}${alert.page}`
    const suppressed = this.#suppressed.get(kind) ?? 0
    this.#suppressed.delete(kind)
    this.#delayed.delete(kind)
    const facts =
      gate === undefined ? alert.facts : [...alert.facts, { name: 'Seen by', value: gate }]
    const sent = { ...alert, facts, id: randomUUID(), atMs, suppressed, url, undelivered: [] }
    this.#sent = dropOldest([sent, ...this.#sent])
    this.#save(sent)
    const deliveries = await this.#deliver(sent)
    const failed = deliveries.filter(({ why }) => why !== '')
    const listed = this.#sent.find(({ id }) => id === sent.id)
    if (failed.length > 0 && listed !== undefined)
      this.#replace({ ...listed, undelivered: failed.map(({ channel }) => channel) })
    return deliveries
  }

  #replace(alert: ListedAlert): void {
    this.#sent = this.#sent.map((one) => (one.id === alert.id ? alert : one))
    this.#save(alert)
  }

  /** A disk that is full may be what the alert is about. */
  #save(alert: ListedAlert): void {
    try {
      this.#options.stored.save(alert, this.#sent)
    } catch (error) {
      this.#options.log('warn', 'an alert was not stored', { why: (error as Error).message })
    }
  }

  #deliver(sent: SentAlert): Promise<readonly AlertDelivery[]> {
    const { channels, ledger, log, nowMs } = this.#options
    const { kind, title, facts, suppressed, overAtMs } = sent
    const how = overAtMs === undefined ? 'raised' : 'over'
    const detail = { how, kind, title, facts: [...facts], suppressed }
    // The ledger may be what the alert is about.
    ledger.event({ atMs: nowMs(), name: 'alert', detail }).catch(() => {})
    return Promise.all(
      channels.map(async (one): Promise<AlertDelivery> => {
        const { channel } = one
        try {
          await one.alert(sent)
          return { channel, why: '' }
        } catch (error) {
          const why = (error as Error).message
          log('warn', 'an alert was not sent', { channel, kind, why })
          return { channel, why }
        }
      }),
    )
  }
}

export function isOngoing({ subjects, overAtMs }: SentAlert): boolean {
  return subjects !== undefined && overAtMs === undefined
}

/** Those that are over go first. */
function dropOldest(alerts: readonly ListedAlert[]): readonly ListedAlert[] {
  if (alerts.length <= ALERTS_KEPT) return alerts
  const oldest = alerts.findLast((one) => !isOngoing(one)) ?? alerts.at(-1)
  return alerts.filter((one) => one !== oldest)
}
