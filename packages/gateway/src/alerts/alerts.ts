// Alerts on their way out: at most one of a kind in `alerts.every`, over all channels that the
// configuration names, recorded in the ledger; and a message when what one was about is over. Each is
// claimed in the store before it is sent, so that gates that share one tell a fact once; without an answer
// of the store a gate tells what it knows. A channel that fails is logged and holds nothing up.

import { randomUUID } from 'node:crypto'
import type { Alert, AlertChannel, AlertKind, SentAlert } from '@sluice/access/approvals/alert'
import type { Ledger } from '@sluice/ledger/ledger'
import type { AlertRows } from '@sluice/ledger/store/alert-rows'
import type { AlertsConfig } from '../config/alerts.ts'
import type { Log } from '../shared/log.ts'
import { ALERT_AHEAD_MS_MAX, ALERT_SUBJECTS_LENGTH_MAX, ALERT_SUBJECTS_MAX } from './limits.ts'
import {
  isOngoing,
  type ListedAlert,
  listStored,
  nameFact,
  readAlert,
  toRow,
} from './stored-alerts.ts'

export interface AlertsOptions {
  readonly config: AlertsConfig
  readonly channels: readonly AlertChannel[]
  readonly ledger: Pick<Ledger, 'event'>
  readonly rows: AlertRows
  readonly log: Log
  readonly nowMs: () => number
  /** Where people reach the console. */
  readonly base: () => string | undefined
  /** The name of this gate among those that share its store; empty if it shares none. */
  readonly gate: string
}

/** What became of an alert on one channel; `why` is empty if it was sent. */
export interface AlertDelivery {
  readonly channel: string
  readonly why: string
}

export interface AlertList {
  readonly alerts: readonly ListedAlert[]
  /** False if the store does not answer: alerts of other gates may be missing. */
  readonly isComplete: boolean
}

export type AlertText = Pick<Alert, 'title' | 'facts' | 'page' | 'overTitle'>

/** What is so now of a kind. */
export interface AlertSubjects {
  readonly kind: AlertKind
  readonly subjects: readonly string[]
  /** Every gate of the store sees the same: one of them tells. */
  readonly isShared: boolean
  readonly describe: (subjects: readonly string[]) => AlertText
}

export class Alerts {
  readonly #options: AlertsOptions
  readonly #lastMs = new Map<AlertKind, number>()
  readonly #suppressed = new Map<AlertKind, number>()
  /** The last one of each kind that came too soon, and would not come again by itself. */
  readonly #delayed = new Map<AlertKind, Alert>()
  /** As the store had them last, the newest first. */
  #known: readonly ListedAlert[] = []
  /** Told while the store did not answer. */
  readonly #unsaved = new Map<string, ListedAlert>()
  readonly #sending = new Set<string>()

  constructor(options: AlertsOptions) {
    this.#options = options
  }

  get config(): AlertsConfig {
    return this.#options.config
  }

  /** Of all gates, as far as the store answers, the newest first. */
  async list(): Promise<AlertList> {
    try {
      const stored = await listStored(this.#options.rows)
      const ids = new Set(stored.map(({ id }) => id))
      const unsaved = [...this.#unsaved.values()].filter(({ id }) => !ids.has(id))
      return { alerts: [...unsaved, ...stored], isComplete: true }
    } catch {
      return { alerts: this.#known, isComplete: false }
    }
  }

  /** Those that this gate has to end, if it finds that they are over. */
  ongoing(kind: AlertKind): readonly ListedAlert[] {
    const { gate } = this.#options
    return this.#known.filter(
      (one) => one.kind === kind && isOngoing(one) && (one.isShared || one.gate === gate),
    )
  }

  /** Reads what the store has; messages that were never finished are sent. Rejects if the store does not answer. */
  async refresh(): Promise<void> {
    this.#flush()
    const { rows } = this.#options
    for (const alert of [...this.#unsaved.values()]) {
      const facts = (alert.subjects ?? []).map((subject) => nameFact(alert, subject))
      await rows.put(toRow(alert), facts)
      if (this.#unsaved.get(alert.id) === alert) this.#unsaved.delete(alert.id)
    }
    this.#known = await listStored(rows)
    for (const row of await rows.takeOver([...this.#sending])) void this.#announce(readAlert(row))
  }

  /** An event: it has happened, and does not end. Returns at once; one that comes too soon is sent later. */
  raise(alert: Alert): void {
    const { kind } = alert
    if (!this.config.on.includes(kind)) return
    const atMs = this.#options.nowMs()
    if (this.#isTooSoon(kind, atMs)) {
      this.#suppressed.set(kind, (this.#suppressed.get(kind) ?? 0) + 1)
      this.#delayed.set(kind, alert)
      return
    }
    this.#lastMs.set(kind, atMs)
    void this.#send(alert, atMs)
  }

  /** Something that is so until it ends. False if it is not told now: it is reported again as long as it
   * is so. What another open alert tells is told. */
  async report({ kind, subjects, isShared, describe }: AlertSubjects): Promise<boolean> {
    if (!this.config.on.includes(kind)) return false
    const atMs = this.#options.nowMs()
    if (this.#isTooSoon(kind, atMs, isShared)) return false
    for (let rest = subjects; rest.length > 0; ) {
      const watched = { kind, ...describe(rest), subjects: takeWatched(rest) }
      const alert = this.#begin(watched, { atMs, isShared })
      const taken = await this.#claim(alert, rest)
      if (taken.size === 0) {
        this.#lastMs.set(kind, atMs)
        void this.#announce(alert)
        return true
      }
      rest = rest.filter((subject) => !taken.has(nameFact(alert, subject)))
    }
    return true
  }

  /** Ends alerts of a kind of which everything is over. */
  async settle(kind: AlertKind, isOver: (subject: string) => boolean): Promise<void> {
    const overAtMs = this.#options.nowMs()
    for (const alert of this.ongoing(kind))
      if (alert.subjects?.every(isOver)) await this.#end({ ...alert, overAtMs, suppressed: 0 })
  }

  /** A test is sent whenever a person asks for it. */
  test(by: string): Promise<readonly AlertDelivery[]> {
    const facts = [{ name: 'Asked for by', value: by }]
    const alert = { kind: 'test', title: 'Test alert', facts, page: '/settings' } as const
    return this.#send(alert, this.#options.nowMs())
  }

  /** Sends alerts that came too soon, after their time. */
  #flush(): void {
    const atMs = this.#options.nowMs()
    for (const [kind, alert] of this.#delayed) {
      if (this.#isTooSoon(kind, atMs)) continue
      // It is the last of those that were counted.
      this.#suppressed.set(kind, (this.#suppressed.get(kind) ?? 1) - 1)
      this.#lastMs.set(kind, atMs)
      void this.#send(alert, atMs)
    }
  }

  /** After a restart, by what was stored; of facts that gates share, by what any of them has told. */
  #isTooSoon(kind: AlertKind, atMs: number, isShared = false): boolean {
    const { gate } = this.#options
    // One from the future was sent before the clock was set back: it would keep all others back until then.
    const last = this.#known.find(
      (one) =>
        one.kind === kind &&
        (isShared || one.gate === gate) &&
        one.atMs <= atMs + ALERT_AHEAD_MS_MAX,
    )
    const lastMs = Math.max(this.#lastMs.get(kind) ?? 0, last?.atMs ?? 0)
    return lastMs > 0 && atMs < lastMs + this.config.everyMs
  }

  async #send(alert: Alert, atMs: number): Promise<readonly AlertDelivery[]> {
    const begun = this.#begin(alert, { atMs, isShared: false })
    await this.#claim(begun)
    return this.#announce(begun)
  }

  #begin(alert: Alert, how: { readonly atMs: number; readonly isShared: boolean }): ListedAlert {
    const { base, gate } = this.#options
    const { kind } = alert
    const address = base()
    const url = address === undefined ? undefined : `${address}${alert.page}`
    const suppressed = this.#suppressed.get(kind) ?? 0
    this.#suppressed.delete(kind)
    this.#delayed.delete(kind)
    const seen = gate === '' ? [] : [{ name: 'Seen by', value: gate }]
    const facts = [...alert.facts, ...seen]
    return { ...alert, ...how, facts, id: randomUUID(), gate, suppressed, url, undelivered: [] }
  }

  /** The facts of it that another alert tells. Without an answer of the store it is told. */
  async #claim(alert: ListedAlert, subjects: readonly string[] = []): Promise<ReadonlySet<string>> {
    this.#sending.add(alert.id)
    try {
      const facts = subjects.map((subject) => nameFact(alert, subject))
      const taken = await this.#options.rows.add(toRow(alert), facts)
      if (taken.length > 0) {
        this.#sending.delete(alert.id)
        return new Set(taken)
      }
    } catch (error) {
      this.#notStored(alert, error as Error)
    }
    this.#known = [alert, ...this.#known]
    return new Set()
  }

  async #end(alert: ListedAlert): Promise<void> {
    const isSilent = alert.overTitle === undefined
    let isMine = true
    try {
      isMine = await this.#options.rows.end(toRow(alert), isSilent)
    } catch (error) {
      // Another gate may be telling of it.
      if (alert.gate !== this.#options.gate) return
      this.#notStored(alert, error as Error)
    }
    this.#replace(alert)
    if (isMine && !isSilent) void this.#announce(alert)
  }

  /** Sends the message about the state that an alert is in, and notes what became of it. */
  async #announce(alert: ListedAlert): Promise<readonly AlertDelivery[]> {
    this.#sending.add(alert.id)
    const { title, overTitle = title, overAtMs } = alert
    const deliveries = await this.#deliver(
      overAtMs === undefined ? alert : { ...alert, title: overTitle },
    )
    const failed = deliveries.filter(({ why }) => why !== '').map(({ channel }) => channel)
    const told = { ...alert, undelivered: failed }
    if (this.#unsaved.get(alert.id) === alert) this.#unsaved.set(alert.id, told)
    else
      await this.#options.rows
        .told(toRow(told))
        .catch((error: Error) => this.#notStored(told, error))
    this.#sending.delete(alert.id)
    // It may have ended meanwhile.
    if (this.#known.some((one) => one.id === told.id && one.overAtMs === overAtMs))
      this.#replace(told)
    return deliveries
  }

  #replace(alert: ListedAlert): void {
    this.#known = this.#known.map((one) => (one.id === alert.id ? alert : one))
  }

  /** A disk that is full, or a store that is gone, may be what the alert is about. */
  #notStored(alert: ListedAlert, error: Error): void {
    this.#unsaved.set(alert.id, alert)
    this.#options.log('warn', 'an alert was not stored', { kind: alert.kind, why: error.message })
  }

  #deliver(sent: SentAlert): Promise<readonly AlertDelivery[]> {
    const { channels, ledger, log } = this.#options
    const { kind, title, facts, suppressed, overAtMs } = sent
    const how = overAtMs === undefined ? 'raised' : 'over'
    const detail = { how, kind, title, facts: [...facts], suppressed }
    // The ledger may be what the alert is about.
    ledger.event({ atMs: Date.now(), name: 'alert', detail }).catch(() => {})
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

/** Those that the store keeps to see when they are over, at least one; the others count as told with them. */
function takeWatched(subjects: readonly string[]): readonly string[] {
  let length = 0
  const tooMany = subjects.findIndex((subject) => {
    length += subject.length
    return length > ALERT_SUBJECTS_LENGTH_MAX
  })
  const count = tooMany < 0 ? ALERT_SUBJECTS_MAX : Math.min(tooMany, ALERT_SUBJECTS_MAX)
  return subjects.slice(0, Math.max(1, count))
}
