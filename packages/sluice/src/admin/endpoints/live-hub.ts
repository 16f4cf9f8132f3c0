// Calls as they pass, for those who look: the last five minutes, exact counters four times a second, and
// the few rows a person can read, refusals and held calls first. Rows are gathered only while somebody
// looks; made into text once for all; kept for a while, so that a page that lost its stream misses nothing.

import type { Decision } from '@sluice/policy/core/decision'
import { displayName } from '../../core/display-name.ts'
import { toOutcomeLabel } from '../../core/outcome-label.ts'
import type {
  CallInstrumentation,
  CallTap,
  CallWithFacts,
  TappedCall,
} from '../../gateway/metrics/instrument-calls.ts'
import { BOUNDS_MS, type Meter } from '../../gateway/metrics/meter.ts'
import {
  LIVE_ENDS_A_TICK,
  LIVE_ROWS_A_TICK,
  LIVE_TICK_MS,
  LIVE_TICKS_KEPT,
} from '../contract/console-limits.ts'
import type { LiveRow, LiveSnapshot, LiveTick } from '../contract/contract-live.ts'
import { eventBytes, type Feed } from '../http/events.ts'
import { CountsSince, LiveHistory } from './live-history.ts'

export interface LiveParts {
  readonly meter: Pick<Meter, 'decisions' | 'steps'>
  readonly watch: Pick<CallInstrumentation, 'tap'>
  readonly nowMs: () => number
  /** Its name, where gates share a store. */
  readonly gate?: string | undefined
}

interface Tick {
  readonly id: number
  /** As it goes out: the same bytes to everybody. */
  readonly bytes: Uint8Array
}

export class LiveHub implements CallTap {
  readonly #parts: LiveParts
  readonly #feeds = new Set<Feed>()
  /** The last ticks, the newest last. */
  readonly #ticks: Tick[] = []
  readonly #since: CountsSince
  readonly #history: LiveHistory
  #urgent: LiveCall[] = []
  #plain: LiveCall[] = []
  #ended: LiveCall[] = []
  #left = 0
  #id: number
  #timer: NodeJS.Timeout | undefined
  #quietTicks = 0

  constructor(parts: LiveParts) {
    this.#parts = parts
    this.#since = new CountsSince(parts.meter)
    this.#history = new LiveHistory(parts.meter, parts.nowMs)
    // Numbers of an earlier run of the gate must not be taken for this one's.
    this.#id = parts.nowMs()
  }

  /** What came after `last` is sent at once; if that is no longer known, the last five minutes. What
   * was counted up to this moment goes to those who look already: nothing is counted twice. */
  join(feed: Feed, last: string | undefined): { readonly resumed: boolean; leave(): void } {
    if (this.#timer === undefined) this.#start()
    else this.#tick()
    const since = this.#ticksAfter(last)
    if (since === undefined) feed.send('hello', this.#hello(), this.lastId)
    else for (const { bytes } of since) feed.sendBytes(bytes)
    this.#feeds.add(feed)
    return { resumed: since !== undefined, leave: () => this.#feeds.delete(feed) }
  }

  get viewers(): number {
    return this.#feeds.size
  }

  get lastId(): string {
    return String(this.#id)
  }

  /** On the path of every call: allocates nothing if the buffer has no room for a row. */
  decided(watched: CallWithFacts, decision: Decision, callId: string): TappedCall | undefined {
    const isUrgent = decision.action !== 'allow'
    const rows = isUrgent ? this.#urgent : this.#plain
    if (rows.length >= LIVE_ROWS_A_TICK) {
      this.#left++
      return undefined
    }
    const passing = new LiveCall(watched, decision, {
      callId,
      atMs: this.#parts.nowMs(),
      hub: this,
    })
    rows.push(passing)
    return isUrgent ? undefined : passing
  }

  /** A call whose row was sent while it was open. */
  endedLater(passing: LiveCall): void {
    if (this.#timer !== undefined && this.#ended.length < LIVE_ENDS_A_TICK)
      this.#ended.push(passing)
  }

  close(): void {
    this.#pause()
    this.#history.close()
  }

  #pause(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#parts.watch.tap = undefined
  }

  #hello(): LiveSnapshot {
    const { gate } = this.#parts
    const snapshot = { ...this.#history.read(), boundsMs: BOUNDS_MS }
    return gate === undefined ? snapshot : { ...snapshot, gate }
  }

  #start(): void {
    this.#since.counts()
    this.#since.latency()
    this.#quietTicks = 0
    this.#ticks.length = 0
    this.#parts.watch.tap = this
    this.#timer = setInterval(() => this.#tick(), LIVE_TICK_MS).unref()
  }

  #tick(): void {
    const tick = this.#take()
    if (tick !== undefined) {
      const id = ++this.#id
      const bytes = eventBytes('tick', tick, String(id))
      this.#ticks.push({ id, bytes })
      if (this.#ticks.length > LIVE_TICKS_KEPT) this.#ticks.shift()
      for (const feed of [...this.#feeds]) if (!feed.sendBytes(bytes)) this.#feeds.delete(feed)
    }
    // Kept for some time after the last client left: a client that lost its stream reconnects within seconds.
    this.#quietTicks = this.#feeds.size === 0 ? this.#quietTicks + 1 : 0
    if (this.#quietTicks > LIVE_TICKS_KEPT) this.#pause()
  }

  #take(): LiveTick | undefined {
    const counts = this.#since.counts()
    const latency = this.#since.latency()
    const room = LIVE_ROWS_A_TICK - this.#urgent.length
    const shown = [...this.#urgent, ...this.#plain.slice(0, room)]
    const tick = {
      atMs: this.#parts.nowMs(),
      counts,
      latency,
      rows: shown.map((passing) => passing.tell()),
      settled: this.#ended.map((passing) => passing.end),
      left: this.#left + this.#urgent.length + this.#plain.length - shown.length,
    }
    this.#urgent = []
    this.#plain = []
    this.#ended = []
    this.#left = 0
    const isEmpty = counts.length === 0 && shown.length === 0 && tick.settled.length === 0
    return isEmpty ? undefined : tick
  }

  #ticksAfter(last: string | undefined): Tick[] | undefined {
    const id = Number(last)
    if (last === undefined || !Number.isSafeInteger(id)) return undefined
    if (id === this.#id) return []
    const first = this.#ticks[0]?.id
    if (first === undefined || id < first - 1 || id > this.#id) return undefined
    return this.#ticks.filter((tick) => tick.id > id)
  }
}

interface LiveCallOptions {
  readonly callId: string
  readonly atMs: number
  readonly hub: LiveHub
}

/** A call that may get a row; it is put into words only when it does. */
class LiveCall implements TappedCall {
  readonly #watched: CallWithFacts
  readonly #decision: Decision
  readonly #callId: string
  readonly #atMs: number
  readonly #hub: LiveHub
  #status: string | null = null
  #durationMs: number | null = null
  #isSent = false

  constructor(watched: CallWithFacts, decision: Decision, { callId, atMs, hub }: LiveCallOptions) {
    this.#watched = watched
    this.#decision = decision
    this.#callId = callId
    this.#atMs = atMs
    this.#hub = hub
  }

  settled(status: string, durationMs: number): void {
    this.#status = status
    this.#durationMs = durationMs
    if (this.#isSent) this.#hub.endedLater(this)
  }

  get end(): [callId: string, status: string, durationMs: number] {
    return [this.#callId, this.#status ?? '', this.#durationMs ?? 0]
  }

  tell(): LiveRow {
    this.#isSent = true
    const { call, facts } = this.#watched
    const { action, code, rule, reason } = this.#decision
    return {
      callId: this.#callId,
      atMs: this.#atMs,
      principal: facts.principal.id,
      agent: facts.agent?.id ?? null,
      session: facts.session.id,
      server: call.server,
      method: call.method,
      name: displayName(call.method, call.name),
      category: facts.tool?.category ?? null,
      unknown: facts.tool?.unknown === true,
      word: toOutcomeLabel(action, code),
      code,
      rule,
      reason,
      status: this.#status,
      durationMs: this.#durationMs,
    }
  }
}
