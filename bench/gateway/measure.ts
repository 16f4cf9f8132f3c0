// Measures several sides in short alternating turns: the machine is shared, and what is compared
// must meet the same noise. For each side the median of its turns and their spread; ratios are
// taken within a round and then their median.

import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Turn, TurnResult } from './load.ts'
import { cpuUs, rssMb } from './process-figures.ts'

export interface Side {
  readonly name: string
  readonly url: string
  /** Of the gateway alone; undefined if there is none. */
  readonly pid?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly sessionsMax: number
}

export interface Spread {
  readonly p50: number
  readonly p10: number
  readonly p90: number
}

export interface Figures {
  readonly name: string
  readonly clients: number
  readonly callsPerSecond: Spread
  /** Throughput relative to the first side, and to the second. */
  readonly ofFirst: Spread
  readonly ofSecond: Spread
  readonly p50Us: Spread
  readonly p99Us: Spread
  readonly cpuUs: Spread
  /** Relative to the first of the sides that are processes. */
  readonly cpuOver: Spread
  readonly rssMb: number
}

interface Seen {
  readonly turned: TurnResult
  readonly cpuUs: number
}

export class Load {
  readonly #process = fork(join(import.meta.dirname, 'load.ts'), { stdio: 'inherit' })

  async turn(
    side: Side,
    clients: number,
    until: Pick<Turn, 'forMs' | 'calls' | 'perSecond'>,
  ): Promise<Seen> {
    const { url, headers = {}, sessionsMax, pid } = side
    const sessions = Math.min(clients, sessionsMax)
    const request: Turn = { url, headers, clients, sessions, ...until }
    const before = pid === undefined ? Number.NaN : cpuUs(pid)
    const turned = await new Promise<TurnResult>((resolve, reject) => {
      const gone = () => reject(new Error('the load generator ended'))
      this.#process.once('exit', gone)
      this.#process.once('message', (message) => {
        this.#process.off('exit', gone)
        resolve(message as TurnResult)
      })
      this.#process.send(request)
    })
    if (turned.wrong !== undefined) throw new Error(`${side.name}: ${turned.wrong}`)
    const used = pid === undefined ? Number.NaN : cpuUs(pid) - before
    return { turned, cpuUs: used / turned.calls }
  }

  end(): void {
    this.#process.kill()
  }
}

/** A slow side is warm enough then. */
const WARM_MS_MAX = 20_000

export interface Rounds {
  readonly clients: readonly number[]
  readonly rounds: number
  readonly turnMs: number
  /**
   * Calls to each side before anything is counted: a gate runs for days, not from its first call.
   */
  readonly warmCalls: number
  readonly onLeftOut: (side: Side, why: string) => void
}

/** A side that fails is left out from then on. */
export async function takeTurns(load: Load, sides: Side[], options: Rounds): Promise<Figures[]> {
  const { clients, rounds, turnMs, warmCalls, onLeftOut } = options
  const seen = new Map<string, Seen[]>()
  const left = [...sides]
  const turn = async (side: Side, count: number, until: Parameters<Load['turn']>[2]) => {
    if (!left.includes(side)) return
    try {
      return await load.turn(side, count, until)
    } catch (error) {
      left.splice(left.indexOf(side), 1)
      onLeftOut(side, (error as Error).message)
    }
  }
  for (const side of sides) {
    await turn(side, 16, { calls: warmCalls, forMs: WARM_MS_MAX })
    for (const count of clients) await turn(side, count, { forMs: turnMs })
  }
  for (let round = 0; round < rounds; round++)
    for (const count of clients)
      for (let at = 0; at < sides.length; at++) {
        const side = sides[(at + round) % sides.length] as Side
        const taken = await turn(side, count, { forMs: turnMs })
        if (taken !== undefined) keep(seen, `${side.name} ${count}`, taken)
      }
  return clients.flatMap((count) =>
    left.map((side): Figures => {
      const of = ({ name }: Side) => seen.get(`${name} ${count}`) ?? []
      const rates = (which: Side | undefined) => (which === undefined ? [] : of(which)).map(getRate)
      const [first, second] = sides.map(rates)
      const own = rates(side)
      const bare = sides.find(({ pid }) => pid !== undefined)
      const bareCpu = bare === undefined ? [] : of(bare).map(getCpu)
      return {
        name: side.name,
        clients: count,
        callsPerSecond: computeSpread(own),
        ofFirst: computeSpread(own.map((rate, round) => rate / (first?.[round] ?? Number.NaN))),
        ofSecond: computeSpread(own.map((rate, round) => rate / (second?.[round] ?? Number.NaN))),
        p50Us: computeSpread(of(side).map(({ turned }) => turned.p50Us)),
        p99Us: computeSpread(of(side).map(({ turned }) => turned.p99Us)),
        cpuUs: computeSpread(of(side).map(getCpu)),
        cpuOver: computeSpread(
          of(side).map((each, round) => each.cpuUs / (bareCpu[round] ?? Number.NaN)),
        ),
        rssMb: side.pid === undefined ? Number.NaN : rssMb(side.pid),
      }
    }),
  )
}

function keep(seen: Map<string, Seen[]>, key: string, turn: Seen): void {
  seen.set(key, [...(seen.get(key) ?? []), turn])
}

function getRate({ turned }: Seen): number {
  return turned.calls / turned.seconds
}

function getCpu(seen: Seen): number {
  return seen.cpuUs
}

export function computeSpread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
  return { p50: at(0.5), p10: at(0.1), p90: at(0.9) }
}
