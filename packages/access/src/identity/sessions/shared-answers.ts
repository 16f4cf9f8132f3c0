// What sessions that gates share remember of answers. A gate stores what it adds before the message that brought it is
// sent, and merges what others have added before it decides: a session is then judged at every gate as by one that
// has seen all of it. Rows of PostgreSQL, encrypted for their session; they hold fingerprints, no text.

import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SHARED_RETRY_MS_MAX } from '@sluice/ledger/store/limits'
import type {
  SessionName,
  SessionRow,
  SessionRows,
} from '@sluice/ledger/store/postgres/session-rows'
import { Vault } from '@sluice/ledger/store/vault'
import type { HashSeed } from '@sluice/policy/provenance/hash'
import type { ProvenanceAddition } from '@sluice/policy/provenance/stored-provenance'
import { attempt } from '@sluice/policy/structures/attempt'
import {
  SHARED_ANSWER_BYTES_MAX,
  SHARED_ANSWER_ROWS_MAX,
  SHARED_ANSWERS_AT_ONCE,
} from '../limits.ts'
import { decodeAddition, encodeAddition } from './provenance-bytes.ts'

interface KnownAnswers {
  readonly id: string
  readonly name: SessionName
  /** All rows up to `seq` were read. */
  isRead: boolean
  /** How often the session was unloaded: what a reading brings that began before is no part of the next one. */
  unloads: number
  seq: bigint
  /** Read, and not merged yet. */
  unmerged: ProvenanceAddition[]
  /** How many rows the store has, as far as this gate knows. */
  rows: number
  bytes: number
  /** What is not being stored yet. */
  waiting: Storing | undefined
  /** What is being stored. */
  storing: Storing | undefined
}

/** What is stored for one session in one statement. */
interface Storing {
  readonly known: KnownAnswers
  readonly bodies: Uint8Array[]
  replacesThrough?: bigint
  /** Resolves when the store has it; rejects if it never will. */
  readonly done: PromiseWithResolvers<void>
}

export interface SharedAnswersOptions {
  readonly rows: Pick<SessionRows, 'addAnswers' | 'readAnswers'>
  /** 32 bytes, the same at every gate. */
  readonly key: Buffer
  /** Looks again which sessions of these owners there are. */
  readonly refresh: (owners: readonly string[]) => Promise<void>
}

export class SharedAnswers {
  readonly #options: SharedAnswersOptions
  readonly #vault: Vault
  readonly #known = new Map<string, KnownAnswers>()
  readonly #waiting = new Set<Storing>()
  #isStoring = false
  #isClosed = false
  /** This run of the gate. */
  readonly writer = randomUUID()

  constructor(options: SharedAnswersOptions) {
    this.#options = options
    this.#vault = new Vault(options.key)
  }

  /** The secret of a session's hashes, which every gate can compute. */
  seedOf(id: string): HashSeed {
    const bytes = createHmac('sha256', this.#options.key).update(id).digest()
    return { low: bytes.readUInt32LE(0), high: bytes.readUInt32LE(4) }
  }

  /** Reads what the session remembers, if this was not done before. */
  async open(id: string, name: SessionName, isNew: boolean): Promise<void> {
    let known = this.#known.get(id)
    if (known === undefined) {
      known = {
        id,
        name,
        isRead: isNew,
        unloads: 0,
        seq: 0n,
        unmerged: [],
        rows: 0,
        bytes: 0,
        waiting: undefined,
        storing: undefined,
      }
      this.#known.set(id, known)
    }
    if (known.isRead) return
    // What is on its way to the store is not read there yet, and the memory that had it may be gone.
    await this.whenStored(id)?.catch(() => {})
    const { unloads } = known
    // Also what this gate has stored: its memory of the session may be gone.
    await this.#read([known], NO_WRITER)
    if (known.unloads === unloads) known.isRead = true
  }

  /** Reads what other gates have added to these sessions. */
  async follow(rows: readonly SessionRow[]): Promise<void> {
    const newest = new Map(rows.map((row) => [toKey(row), row.answers]))
    const behind = [...this.#known.values()].filter(
      ({ isRead, name, seq }) => isRead && (newest.get(toKey(name)) ?? 0n) > seq,
    )
    if (behind.length > 0) await this.#read(behind, this.writer)
  }

  /** What was read and not taken yet; undefined if not all of it was read. */
  take(id: string): readonly ProvenanceAddition[] | undefined {
    const known = this.#known.get(id)
    if (known?.isRead !== true) return undefined
    const { unmerged } = known
    if (unmerged.length > 0) known.unmerged = []
    return unmerged
  }

  /** Whether this gate stores what the session remembers. */
  has(id: string): boolean {
    return this.#known.has(id)
  }

  /** Its rows are so many that all which is remembered is to replace them. */
  isLong(id: string): boolean {
    const { isRead = false, rows = 0, bytes = 0 } = this.#known.get(id) ?? {}
    return isRead && (rows >= SHARED_ANSWER_ROWS_MAX || bytes >= SHARED_ANSWER_BYTES_MAX)
  }

  /** `isAll`: all that is remembered, with everything that was taken. */
  add(id: string, addition: ProvenanceAddition, isAll: boolean): void {
    const known = this.#known.get(id)
    if (known === undefined || this.#isClosed) return
    const body = this.#vault.seal(id, encodeAddition(addition))
    if (isAll) Object.assign(known, { rows: 0, bytes: 0 })
    known.rows += 1
    known.bytes += body.length
    const done = known.waiting?.done ?? Promise.withResolvers<void>()
    const item: Storing = known.waiting ?? { known, bodies: [], done }
    if (isAll) item.replacesThrough = known.seq
    item.bodies.push(body)
    if (known.waiting !== undefined) return
    known.waiting = item
    // Those who wait for it get the error; often nobody does.
    done.promise.catch(() => {})
    this.#waiting.add(item)
    if (!this.#isStoring) void this.#storeAll()
  }

  /** Returns undefined if the store has all that was added. */
  whenStored(id: string): Promise<void> | undefined {
    const known = this.#known.get(id)
    return (known?.waiting ?? known?.storing)?.done.promise
  }

  /** The gate has unloaded it: it is read again when the session is opened again. */
  unload(id: string): void {
    const known = this.#known.get(id)
    if (known === undefined) return
    const unloads = known.unloads + 1
    Object.assign(known, { isRead: false, unloads, seq: 0n, unmerged: [], rows: 0, bytes: 0 })
  }

  drop(id: string): void {
    this.#known.delete(id)
  }

  close(): void {
    this.#isClosed = true
  }

  /** Adds what others than the writer have stored. */
  async #read(sessions: readonly KnownAnswers[], writer: string): Promise<void> {
    const byName = new Map(sessions.map((known) => [toKey(known.name), known]))
    const begun = new Map(sessions.map((known) => [known, known.unloads]))
    for (const { name, seq, body } of await this.#options.rows.readAnswers(writer, sessions)) {
      const known = byName.get(toKey(name))
      if (known === undefined || begun.get(known) !== known.unloads) continue
      known.unmerged.push(this.#decode(known.id, body))
      known.rows += 1
      known.bytes += body.length
      if (seq > known.seq) known.seq = seq
    }
  }

  /** A row that another key or version has written, or somebody has changed, is something that was not remembered. */
  #decode(id: string, body: Uint8Array): ProvenanceAddition {
    return attempt(() => decodeAddition(this.#vault.openBytes(id, body))) ?? UNREADABLE
  }

  /** One statement at a time, with what came meanwhile in the next one. */
  async #storeAll(): Promise<void> {
    this.#isStoring = true
    while (this.#waiting.size > 0) {
      const items = [...this.#waiting].slice(0, SHARED_ANSWERS_AT_ONCE)
      for (const item of items) {
        this.#waiting.delete(item)
        item.known.waiting = undefined
        item.known.storing = item
      }
      await this.#store(items)
      for (const { known } of items) known.storing = undefined
    }
    this.#isStoring = false
  }

  async #store(items: readonly Storing[]): Promise<void> {
    const { refresh, rows } = this.#options
    let left = items
    while (left.length > 0 && !this.#isClosed) {
      try {
        const added = left.flatMap(({ known: { name }, bodies, replacesThrough }) =>
          bodies.map((body) => ({ name, body, replacesThrough })),
        )
        const stored = await rows.addAnswers(this.writer, added)
        const names = new Set(stored.map(toKey))
        const isStored = ({ known: { name } }: Storing) => names.has(toKey(name))
        for (const item of left) if (isStored(item)) item.done.resolve()
        left = left.filter((item) => !isStored(item))
        // So that the next call need not be decided twice.
        const split = stored.flatMap(({ isSplit, owner }) => (isSplit ? [owner] : []))
        if (split.length > 0) void refresh([...new Set(split)]).catch(() => {})
        if (left.length > 0) await refresh(left.map(({ known }) => known.name.owner))
      } catch {
        await sleep(SHARED_RETRY_MS_MAX, undefined, { ref: false })
      }
      left = left.filter((item) => this.#isThere(item))
    }
    for (const item of left) item.done.reject(OVER)
  }

  #isThere(item: Storing): boolean {
    if (this.#known.get(item.known.id) === item.known) return true
    item.done.reject(OVER)
    return false
  }
}

/** What a session is found by: its number and whose it is. */
function toKey({ number, owner }: Pick<SessionRow, 'number' | 'owner'>): string {
  return `${number} ${owner}`
}

/** No gate has this name as a writer. */
const NO_WRITER = ''

const OVER = new Error('the session is over')

const UNREADABLE: ProvenanceAddition = {
  hasPrompt: false,
  hasRead: true,
  hasProse: true,
  table: Uint32Array.of(1, 0),
  prompt: Uint32Array.of(0, 0),
}
