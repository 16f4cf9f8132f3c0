// The state of Live: the last five minutes second by second, and the last rows. Fed by the gate's
// ticks; updates the page at most four times a second, whatever the rate.

import type {
  LiveRow,
  LiveRows,
  LiveSecond,
  LiveSnapshot,
  LiveTick,
  OutcomeLabel,
} from '../../../../packages/sluice/src/admin/contract/contract.ts'
import { listen } from '../../stream.ts'
import { OUTCOME_LABELS } from '../../ui/marks.tsx'
import type { TopName } from '../../ui/top-list.tsx'

export const WINDOW_S = 300
const ROWS_MAX = 1_000

export interface SecondCounts {
  /** Calls by server and label. */
  readonly words: Map<string, Record<OutcomeLabel, number>>
  /** What to subtract from the sums by tool once this second is no longer shown. */
  readonly tools: Map<Tool, number>
  latency: number[]
}

/** How often a tool was called with one label, in the time that is shown. */
interface Tool {
  readonly server: string
  readonly tool: string
  readonly word: OutcomeLabel
  n: number
}

export interface LiveState {
  readonly rows: readonly LiveRow[]
  readonly seconds: ReadonlyMap<number, SecondCounts>
  readonly tools: ReadonlyMap<string, Tool>
  readonly boundsMs: readonly number[]
  /** Whose calls they are, where gates share a store. */
  readonly gate: string | undefined
  /** Nothing is known of before. */
  readonly sinceS: number
  readonly state: 'loading' | 'open' | 'lost'
  /** The gate's reason if the stream is lost. */
  readonly why: string
  /** Rows that were dropped because there were too many. */
  readonly left: number
  readonly version: number
}

interface CallCount {
  readonly server: string
  readonly tool: string
  readonly word: OutcomeLabel
  readonly n: number
}

export class LiveStore {
  #state: LiveState = {
    rows: [],
    seconds: new Map(),
    tools: new Map(),
    boundsMs: [],
    gate: undefined,
    sinceS: Number.POSITIVE_INFINITY,
    left: 0,
    version: 0,
    state: 'loading',
    why: '',
  }
  readonly #seconds = new Map<number, SecondCounts>()
  readonly #tools = new Map<string, Tool>()
  readonly #listeners = new Set<() => void>()
  #rows: LiveRow[] = []
  #frame: number | undefined
  #left = 0
  #connection: Pick<LiveState, 'state' | 'why'> = { state: 'loading', why: '' }
  #boundsMs: readonly number[] = []
  #gate: string | undefined
  #sinceS = Number.POSITIVE_INFINITY

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly now = (): LiveState => this.#state

  /** As it is now, whatever comes later: for a page that is paused. */
  pause(): LiveState {
    const seconds = new Map(
      [...this.#seconds].map(([at, { words, tools, latency }]) => [
        at,
        {
          words: new Map([...words].map(([server, counts]) => [server, { ...counts }])),
          tools,
          latency,
        },
      ]),
    )
    const tools = new Map([...this.#tools].map(([key, tool]) => [key, { ...tool }]))
    return { ...this.#state, seconds, tools }
  }

  open(): () => void {
    return listen('/live', {
      keeps: 'while seen',
      onState: (state, why = '') => {
        this.#connection = { state, why }
        this.#soon()
      },
      onEvent: ({ event, data }) => {
        if (event === 'hello') this.#hello(JSON.parse(data) as LiveSnapshot)
        else if (event === 'rows') this.#addPast(JSON.parse(data) as LiveRows)
        else if (event === 'tick') this.#tick(JSON.parse(data) as LiveTick)
        this.#soon()
      },
    })
  }

  /** Everything up to now: what was counted before is counted there too. */
  #hello({ boundsMs, gate, sinceMs, seconds }: LiveSnapshot): void {
    this.#boundsMs = boundsMs
    this.#gate = gate
    this.#sinceS = Math.ceil(sinceMs / 1_000)
    this.#seconds.clear()
    this.#tools.clear()
    for (const second of seconds) this.#count(second)
  }

  #addPast({ rows }: LiveRows): void {
    const known = new Set(this.#rows.map(({ callId }) => callId))
    this.#rows = [...rows.filter(({ callId }) => !known.has(callId)), ...this.#rows]
  }

  #count({ atMs, counts, latency }: LiveSecond): void {
    const second = Math.floor(atMs / 1_000)
    for (const [server, tool, word, n] of counts) this.#add(second, { server, tool, word, n })
    const kept = this.#at(second)
    kept.latency = latency.map((n, at) => n + (kept.latency[at] ?? 0))
  }

  #tick(tick: LiveTick): void {
    this.#count(tick)
    const { atMs, rows, settled, left } = tick
    const second = Math.floor(atMs / 1_000)
    this.#left += left
    const ended = new Map(settled.map(([callId, status, ms]) => [callId, { status, ms }]))
    if (ended.size > 0)
      this.#rows = this.#rows.map((row) => {
        const end = ended.get(row.callId)
        return end === undefined ? row : { ...row, status: end.status, durationMs: end.ms }
      })
    if (rows.length > 0) {
      const known = new Set(rows.map(({ callId }) => callId))
      const others = this.#rows.filter(({ callId }) => !known.has(callId))
      this.#rows = [...others, ...rows].slice(-ROWS_MAX)
    }
    for (const [old, { tools }] of this.#seconds) {
      if (old >= second - WINDOW_S) continue
      for (const [of, n] of tools) this.#take(of, n)
      this.#seconds.delete(old)
    }
  }

  #at(at: number): SecondCounts {
    let second = this.#seconds.get(at)
    if (second === undefined) {
      second = { words: new Map(), tools: new Map(), latency: [] }
      this.#seconds.set(at, second)
    }
    return second
  }

  #second(at: number, server: string): Record<OutcomeLabel, number> {
    const { words } = this.#at(at)
    let of = words.get(server)
    if (of === undefined) {
      of = { allow: 0, ask: 0, deny: 0, hide: 0, limited: 0 }
      words.set(server, of)
    }
    return of
  }

  #add(at: number, { server, tool, word, n }: CallCount): void {
    this.#second(at, server)[word] += n
    const key = `${server}\n${tool}\n${word}`
    let of = this.#tools.get(key)
    if (of === undefined) {
      of = { server, tool, word, n: 0 }
      this.#tools.set(key, of)
    }
    of.n += n
    const { tools } = this.#at(at)
    tools.set(of, (tools.get(of) ?? 0) + n)
  }

  #take(of: Tool, n: number): void {
    of.n -= n
    if (of.n <= 0) this.#tools.delete(`${of.server}\n${of.tool}\n${of.word}`)
  }

  #soon(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined
      this.#state = {
        rows: this.#rows,
        seconds: this.#seconds,
        tools: this.#tools,
        boundsMs: this.#boundsMs,
        gate: this.#gate,
        sinceS: this.#sinceS,
        ...this.#connection,
        left: this.#left,
        version: this.#state.version + 1,
      }
      for (const listener of this.#listeners) listener()
    })
  }
}

export interface Filter {
  readonly word: string
  readonly server: string
  readonly q: string
}

export function fits(filter: Filter, row: LiveRow): boolean {
  if (filter.word !== '' && row.word !== filter.word) return false
  if (filter.server !== '' && row.server !== filter.server) return false
  if (filter.q === '') return true
  const text = `${row.server}/${row.name} ${row.method} ${row.principal} ${row.agent ?? ''} ${row.session} ${row.reason}`
  return text.toLowerCase().includes(filter.q.toLowerCase())
}

/** Calls per second by label, null where nothing is known, and the tools that were called and refused
 * most. A held call is not refused. */
export function computeFigures(
  { seconds, sinceS, tools }: LiveState,
  nowS: number,
  server: string,
): {
  readonly times: readonly number[]
  readonly words: Readonly<Record<OutcomeLabel, readonly (number | null)[]>>
  readonly called: readonly TopName[]
  readonly refused: readonly TopName[]
} {
  const from = nowS - WINDOW_S
  const times: number[] = []
  const words: Record<OutcomeLabel, (number | null)[]> = {
    allow: [],
    ask: [],
    deny: [],
    hide: [],
    limited: [],
  }
  for (let at = from; at <= nowS; at++) {
    times.push(at)
    const sums = { allow: 0, ask: 0, deny: 0, hide: 0, limited: 0 }
    for (const [of, counts] of seconds.get(at)?.words ?? [])
      if (server === '' || of === server)
        for (const word of OUTCOME_LABELS) sums[word] += counts[word]
    const isKnown = at >= sinceS || seconds.has(at)
    for (const word of OUTCOME_LABELS) words[word].push(isKnown ? sums[word] : null)
  }
  const called = new Map<string, Partial<Record<OutcomeLabel, number>>>()
  for (const { server: of, tool, word, n } of tools.values()) {
    if ((server !== '' && of !== server) || tool === '') continue
    const name = `${of}/${tool}`
    const counts = called.get(name) ?? {}
    counts[word] = (counts[word] ?? 0) + n
    called.set(name, counts)
  }
  return {
    times,
    words,
    called: pickTop(called, OUTCOME_LABELS),
    refused: pickTop(called, REFUSALS),
  }
}

const REFUSALS: readonly OutcomeLabel[] = ['deny', 'limited', 'hide']

function pickTop(
  counts: ReadonlyMap<string, Partial<Record<OutcomeLabel, number>>>,
  counted: readonly OutcomeLabel[],
): TopName[] {
  return [...counts]
    .map(([name, words]) => {
      const shown = counted.map((word) => [word, words[word] ?? 0] as const)
      const calls = shown.reduce((sum, [, n]) => sum + n, 0)
      return { name, calls, words: Object.fromEntries(shown) }
    })
    .filter(({ calls }) => calls > 0)
    .sort((one, other) => other.calls - one.calls)
    .slice(0, 6)
}

/** Percentiles of each second, interpolated within their bucket; null without calls. */
export function computePercentiles(
  { seconds, boundsMs }: LiveState,
  nowS: number,
  shares: readonly number[],
): (number | null)[][] {
  const lists: (number | null)[][] = shares.map(() => [])
  for (let at = nowS - WINDOW_S; at <= nowS; at++) {
    // Three seconds together: a quiet gate would otherwise draw spikes.
    const counts = [at - 2, at - 1, at].map((one) => seconds.get(one)?.latency ?? [])
    const sum = boundsMs.map((_, bucket) =>
      counts.reduce((all, one) => all + (one[bucket] ?? 0), 0),
    )
    for (const [index, share] of shares.entries())
      lists[index]?.push(percentile(sum, boundsMs, share))
  }
  return lists
}

export function percentile(
  counts: readonly number[],
  boundsMs: readonly number[],
  share: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let wanted = total * share
  for (const [at, count] of counts.entries()) {
    if (wanted <= count && count > 0) {
      const low = at === 0 ? 0 : (boundsMs[at - 1] ?? 0)
      const high = boundsMs[at] ?? low
      return low + ((high - low) * wanted) / count
    }
    wanted -= count
  }
  return boundsMs.at(-1) ?? null
}
