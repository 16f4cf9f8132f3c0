// Calls as they pass, for those who look: exact counters four times a second, and the few rows a
// person can read, refusals and held calls first. Gathered only while somebody looks; made into text
// once for all of them; kept for a while, so that a page that lost its stream misses nothing.

import type { Decision } from '../core/decision.ts'
import type { Meter } from '../gateway/operate/meter.ts'
import type { CallTap, CallWatch, TappedCall, Watched } from '../gateway/operate/watch-calls.ts'
import { LIVE_ROWS_A_TICK, LIVE_TICK_MS, LIVE_TICKS_KEPT } from './console-limits.ts'
import type { CallWord, LiveRow, LiveTick } from './contract-console.ts'
import type { Feed } from './events.ts'
import { wordOf } from './word-of.ts'

export interface LiveParts {
  readonly meter: Pick<Meter, 'decisions' | 'steps'>
  readonly watch: Pick<CallWatch, 'tap'>
  readonly nowMs: () => number
}

type Open = { -readonly [Key in keyof LiveRow]: LiveRow[Key] }

export class LiveHub implements CallTap {
  readonly #parts: LiveParts
  readonly #feeds = new Set<Feed>()
  /** The last ticks, the newest last. */
  readonly #kept: { readonly id: number; readonly tick: LiveTick }[] = []
  readonly #counted = new Map<object, number>()
  #latency: number[] = []
  #urgent: Open[] = []
  #plain: Open[] = []
  #settled: [callId: string, status: string, durationMs: number][] = []
  #left = 0
  #id: number
  #timer: NodeJS.Timeout | undefined
  #quietTicks = 0

  constructor(parts: LiveParts) {
    this.#parts = parts
    // Numbers of an earlier run of the gate must not be taken for this one's.
    this.#id = parts.nowMs()
  }

  /** What came after `last` is sent at once; undefined where that is no longer known. */
  join(feed: Feed, last: string | undefined): { readonly resumed: boolean; leave(): void } {
    if (this.#timer === undefined) this.#start()
    const since = this.#since(last)
    for (const { id, tick } of since ?? []) feed.send('tick', tick, String(id))
    this.#feeds.add(feed)
    return { resumed: since !== undefined, leave: () => this.#feeds.delete(feed) }
  }

  get lastId(): string {
    return String(this.#id)
  }

  decided(watched: Watched, decision: Decision, callId: string): TappedCall | undefined {
    const isUrgent = decision.action !== 'allow'
    const rows = isUrgent ? this.#urgent : this.#plain
    if (rows.length >= LIVE_ROWS_A_TICK) {
      this.#left++
      return undefined
    }
    const row = rowOf(watched, decision, callId, this.#parts.nowMs())
    rows.push(row)
    if (isUrgent) return undefined
    return {
      settled: (status, durationMs) => {
        row.status = status
        row.durationMs = durationMs
        if (this.#timer !== undefined) this.#settled.push([callId, status, durationMs])
      },
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#parts.watch.tap = undefined
  }

  #start(): void {
    this.#counts()
    this.#latencies()
    this.#quietTicks = 0
    this.#kept.length = 0
    this.#parts.watch.tap = this
    this.#timer = setInterval(() => this.#tick(), LIVE_TICK_MS).unref()
  }

  #tick(): void {
    const tick = this.#take()
    if (tick !== undefined) {
      const id = ++this.#id
      this.#kept.push({ id, tick })
      if (this.#kept.length > LIVE_TICKS_KEPT) this.#kept.shift()
      for (const feed of [...this.#feeds])
        if (!feed.send('tick', tick, String(id))) this.#feeds.delete(feed)
    }
    // For a while after the last has gone: whoever lost a stream comes back within seconds.
    this.#quietTicks = this.#feeds.size === 0 ? this.#quietTicks + 1 : 0
    if (this.#quietTicks > LIVE_TICKS_KEPT) this.close()
  }

  #take(): LiveTick | undefined {
    const counts = this.#counts()
    const latency = this.#latencies()
    const room = Math.max(0, LIVE_ROWS_A_TICK - this.#urgent.length)
    const rows = [...this.#urgent, ...this.#plain.slice(0, room)]
    const shown = new Set(rows.map(({ callId }) => callId))
    const tick = {
      atMs: this.#parts.nowMs(),
      counts,
      latency,
      rows: rows.map((row) => ({ ...row })),
      settled: this.#settled.filter(([callId]) => !shown.has(callId)),
      left: this.#left + this.#plain.length - (rows.length - this.#urgent.length),
    }
    this.#urgent = []
    this.#plain = []
    this.#settled = []
    this.#left = 0
    const isEmpty = counts.length === 0 && rows.length === 0 && tick.settled.length === 0
    return isEmpty ? undefined : tick
  }

  /** From the gate's own counters, which count every call anyway. */
  #counts(): [string, string, CallWord, number][] {
    const counts: [string, string, CallWord, number][] = []
    for (const series of this.#parts.meter.decisions) {
      const before = this.#counted.get(series) ?? 0
      if (series.value === before) continue
      this.#counted.set(series, series.value)
      const { server = '', tool = '', action = '', code = '' } = series.labels
      counts.push([server, tool, wordOf(action, code), series.value - before])
    }
    return counts
  }

  #latencies(): number[] {
    const now = [...this.#parts.meter.steps.total.counts]
    const before = this.#latency
    this.#latency = now
    return now.map((count, at) => count - (before[at] ?? 0))
  }

  #since(last: string | undefined): { id: number; tick: LiveTick }[] | undefined {
    const id = Number(last)
    if (last === undefined || !Number.isSafeInteger(id)) return undefined
    if (id === this.#id) return []
    const first = this.#kept[0]?.id
    if (first === undefined || id < first - 1 || id > this.#id) return undefined
    return this.#kept.filter((kept) => kept.id > id)
  }
}

function rowOf({ call, facts }: Watched, decision: Decision, callId: string, atMs: number): Open {
  return {
    callId,
    atMs,
    principal: facts.principal.id,
    agent: facts.agent?.id ?? null,
    session: facts.session.id,
    server: call.server,
    method: call.method,
    name: call.name,
    category: facts.tool?.category ?? null,
    word: wordOf(decision.action, decision.code),
    code: decision.code,
    rule: decision.rule,
    reason: decision.reason,
    status: null,
    durationMs: null,
  }
}
