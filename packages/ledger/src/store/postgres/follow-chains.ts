// Reads the chains of all gates of a shared store, record by record in the order in which they were written,
// and goes on where it stopped. Every hash is computed again: a record that was edited stops the reading.

import { chainHash, FIRST_HASH } from '../chain-hash.ts'
import { StoreError } from '../errors.ts'
import {
  FOLLOWED_BYTES_MAX,
  FOLLOWED_ROWS_MAX,
  FOLLOWED_ROWS_MIN,
  MIGRATE_DEADLINE_MS,
} from '../limits.ts'
import type { ChainHead } from './batch.ts'
import type { Queryable, Row } from './connections.ts'
import { CHAINS_AFTER, FOLLOWED_HEADS } from './statements.ts'

/** A record of one gate, with the hash after it in the chain of that gate. */
export interface FollowedRecord extends ChainHead {
  readonly gate: string
  readonly text: string
}

interface FetchedRecord extends FollowedRecord {
  /** By the clock of the database, in seconds. */
  readonly at: number
}

interface FollowedChain {
  /** The last record that was taken. */
  taken: ChainHead
  /** The number of the last record that was fetched. */
  fetched: number
  /** That of the last record that the database has. */
  last: number
  waiting: FetchedRecord[]
  /** How many records were fetched last time. */
  batch: number
}

/** What a look at the database found. */
export interface ChainsLook {
  /** The database still has the last records that were taken, or retention has dropped them. If not, a failover
   * lost them. */
  readonly isSame: boolean
  /** The last record that retention dropped, by gate. */
  readonly dropped: ReadonlyMap<string, number>
}

export class FollowedChains {
  readonly #connections: Queryable
  readonly #chains = new Map<string, FollowedChain>()

  /** `taken` is the last record of each gate that the caller has. */
  constructor(connections: Queryable, taken: ReadonlyMap<string, ChainHead>) {
    this.#connections = connections
    for (const [gate, head] of taken) this.#chains.set(gate, startAfter(head))
  }

  /** Records that the database has and that were not taken, as of the last `look`. */
  get behind(): number {
    let sum = 0
    for (const { last, taken } of this.#chains.values()) sum += Math.max(0, last - taken.seq)
    return sum
  }

  /** Reads the heads of all chains, also of gates that are new. */
  async look(): Promise<ChainsLook> {
    const gates = [...this.#chains.keys()]
    const numbers = [...this.#chains.values()].map(({ taken }) => taken.seq)
    const dropped = new Map<string, number>()
    let found = 0
    for (const row of await this.#connections.query(FOLLOWED_HEADS, [gates, numbers])) {
      const gate = String(row.gate)
      const base = row.base == null ? undefined : toHead(row.base, row.base_hash)
      if (base !== undefined) dropped.set(gate, base.seq)
      const known = this.#chains.get(gate)
      const chain = known ?? startAfter(base ?? { seq: 0, hash: FIRST_HASH })
      if (known !== undefined) found++
      this.#chains.set(gate, chain)
      chain.last = Number(row.seq)
      if (base !== undefined && base.seq > chain.taken.seq) skipTo(chain, base)
      const { taken } = chain
      const stored = row.hash == null ? undefined : toHead(taken.seq, row.hash)
      const had = taken.seq === base?.seq ? base : stored
      if (taken.seq > 0 && had?.hash !== taken.hash) return { isSame: false, dropped }
    }
    return { isSame: found === gates.length, dropped }
  }

  /** The next ones, the oldest first; none if all that the last `look` saw were taken. Throws a StoreError of
   * STORE_LOST at a record that is not as its gate wrote it. */
  async take(): Promise<FollowedRecord[]> {
    await this.#fetch()
    const records: FollowedRecord[] = []
    while (records.length < FOLLOWED_ROWS_MAX) {
      const chain = this.#oldest()
      const next = chain?.waiting.shift()
      if (chain === undefined || next === undefined) break
      const fault = findFault(chain.taken, next)
      if (fault !== undefined) {
        chain.waiting.unshift(next)
        if (records.length > 0) break
        throw edited(next.gate, fault)
      }
      chain.taken = { seq: next.seq, hash: next.hash }
      records.push(next)
    }
    return records
  }

  /** The chain with the oldest record; undefined if one has to be fetched before that is known. */
  #oldest(): FollowedChain | undefined {
    let oldest: FollowedChain | undefined
    for (const chain of this.#chains.values()) {
      const [first] = chain.waiting
      if (first === undefined) {
        if (chain.fetched < chain.last) return undefined
      } else if (oldest === undefined || first.at < (oldest.waiting[0]?.at ?? 0)) oldest = chain
    }
    return oldest
  }

  /** Those of other chains that will be needed soon are fetched with them. */
  async #fetch(): Promise<void> {
    const unread = [...this.#chains].filter(([, { fetched, last }]) => fetched < last)
    if (unread.every(([, { waiting }]) => waiting.length > 0)) return
    const short = unread.filter(([, { waiting, batch }]) => waiting.length <= batch / 2)
    const rowsMax = Math.max(FOLLOWED_ROWS_MIN, Math.floor(FOLLOWED_ROWS_MAX / unread.length))
    const bytesMax = Math.floor(FOLLOWED_BYTES_MAX / unread.length)
    const gates = short.map(([gate]) => gate)
    const numbers = short.map(([, { fetched }]) => fetched)
    const rows = await this.#connections.query(
      CHAINS_AFTER,
      [gates, numbers, rowsMax, bytesMax],
      MIGRATE_DEADLINE_MS,
    )
    for (const [, chain] of short) chain.batch = 0
    let hasGap = false
    for (const row of rows) {
      const record = toRecord(row)
      const chain = this.#chains.get(record.gate) as FollowedChain
      hasGap ||= record.seq !== chain.fetched + 1
      chain.waiting.push(record)
      chain.fetched = record.seq
      chain.batch++
    }
    if (!hasGap && short.every(([, { batch }]) => batch > 0)) return
    // Retention may have dropped records since the last look, and those that were fetched since then.
    await this.look()
    const empty = short.filter(([, { waiting, fetched, last }]) => !waiting[0] && fetched < last)
    for (const [gate, { fetched }] of empty)
      if (fetched === numbers[gates.indexOf(gate)])
        throw edited(gate, `record ${fetched + 1} is missing`)
    if (empty.length > 0) await this.#fetch()
  }
}

function startAfter(taken: ChainHead): FollowedChain {
  return { taken, fetched: taken.seq, last: taken.seq, waiting: [], batch: 0 }
}

/** The records up to `base` were dropped. */
function skipTo(chain: FollowedChain, base: ChainHead): void {
  chain.taken = base
  chain.fetched = Math.max(chain.fetched, base.seq)
  chain.waiting = chain.waiting.filter(({ seq }) => seq > base.seq)
}

function toHead(seq: unknown, hash: unknown): ChainHead {
  return { seq: Number(seq), hash: (hash as Buffer).toString('latin1') }
}

function toRecord(row: Row): FetchedRecord {
  return {
    ...toHead(row.seq, row.hash),
    gate: String(row.gate),
    text: (row.body as Buffer).toString('utf8'),
    at: Number(row.at),
  }
}

function findFault(before: ChainHead, { seq, text, hash }: FetchedRecord): string | undefined {
  if (seq !== before.seq + 1) return `record ${before.seq + 1} is missing`
  const isWhole = text.startsWith(`[1,${seq},`) && chainHash(before.hash, text) === hash
  return isWhole ? undefined : `record ${seq} was edited, or its hash`
}

function edited(gate: string, fault: string): StoreError {
  return new StoreError(
    'STORE_LOST',
    `the chain of the gate \`${gate}\` does not verify: ${fault}`,
    'see `sluice ledger verify --store`',
  )
}
