// The rows that all gates have a copy of, in the table `shared`. Every row has an authentication code of the
// cluster's key, and all of them together another one, with the version: a row that was written, changed or
// removed by anyone without the key is found, and so is an older state. Used by store/postgres/shared-state.ts.

import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto'
import { StoreError } from '../errors.ts'
import { ADMIT_DEADLINE_MS } from '../limits.ts'
import type { MirroredRow } from '../sqlite/mirrored-tables.ts'
import type { Queryable, Row } from './connections.ts'
import { CHANGE, SHARED_SINCE } from './statements.ts'

export interface SharedRowsParts {
  readonly connections: Queryable
  readonly gate: string
  readonly epoch: () => number
  /** 32 bytes, derived from the cluster's key. */
  readonly key: Buffer
}

type RowName = Pick<MirroredRow, 'kind' | 'key'>
type TakeNews = (rows: readonly MirroredRow[], again: readonly RowName[]) => void

interface KnownRow {
  readonly name: RowName
  /** Its authentication code, as a number of the sum. */
  readonly code: bigint
  readonly version: number
  readonly content: string
}

/** Rows on top of those that are known, which are not copied: there may be tens of thousands. */
interface RowChanges {
  readonly changed: Map<string, KnownRow>
  sum: bigint
}

export class SharedRows {
  readonly #parts: SharedRowsParts
  #version = 0
  readonly #known = new Map<string, KnownRow>()
  #sum = 0n
  /** What the database was on at the last change, and is on now. */
  #timelines = { changed: '', now: '' }

  constructor(parts: SharedRowsParts) {
    this.#parts = parts
  }

  get version(): number {
    return this.#version
  }

  /** What other gates have changed. `take` applies it; if it throws, nothing of it is taken as known. `again`
   * are rows of this gate that the database has lost: they are to be written again. */
  async readNews(take: TakeNews): Promise<void> {
    const found = await this.#parts.connections.query(SHARED_SINCE, [this.#version])
    const version = Number(found[0]?.current)
    this.#timelines = { changed: String(found[0]?.changed_on), now: String(found[0]?.timeline) }
    const isOlder = version < this.#version
    if (version === this.#version && (version === 0 || this.#isRoot(found, this.#sum))) return
    const news = this.#read(found, isOlder ? NONE : this.#known, isOlder ? 0n : this.#sum)
    if (!isOlder && this.#isRoot(found, news.sum)) {
      take(news.rows, [])
      return this.#adopt(version, news)
    }
    if (this.#version === 0) throw wrongKey('the list of all rows')
    await this.#reconcile(take)
  }

  /** The history of the database is another one than this gate knows: it failed over to a standby that was
   * behind, or was restored. Changes that were lost are made again, unless the row was changed since. */
  async #reconcile(take: TakeNews): Promise<void> {
    const found = await this.#parts.connections.query(SHARED_SINCE, [0])
    const version = Number(found[0]?.current)
    const all = this.#read(found, NONE, 0n)
    if (version > 0 && !this.#isRoot(found, all.sum)) throw wrongKey('the list of all rows')
    const again = new Map<string, RowName>()
    for (const [name, mine] of this.#known) {
      const theirs = all.changed.get(name)
      if (theirs?.content === mine.content) continue
      // Changes after a failover have higher versions than any before it: see CHANGE in durability-schema.ts.
      if (theirs === undefined || theirs.version < mine.version) again.set(name, mine.name)
      else if (theirs.version === mine.version) throw this.#lost(version)
    }
    const isNews = (row: MirroredRow) =>
      !again.has(nameOf(row)) && this.#known.get(nameOf(row))?.content !== digestRow(row)
    take(all.rows.filter(isNews), [...again.values()])
    this.#known.clear()
    this.#adopt(version, all)
  }

  /** Rows that were found, each authenticated, on top of those that are known. */
  #read(found: readonly Row[], known: ReadonlyMap<string, KnownRow>, sum: bigint) {
    const rows: MirroredRow[] = []
    const changes: RowChanges = { changed: new Map(), sum }
    for (const each of found) {
      if (each.kind === null) continue
      const body = each.body === null ? null : String(each.body)
      const row = { kind: String(each.kind), key: String(each.key), body }
      const code = this.#code(row, Number(each.version))
      if (!isEqual(code, each.mac)) throw wrongKey(`${row.kind} ${row.key}`)
      replace(known, changes, row, { code, version: Number(each.version) })
      rows.push(row)
    }
    return { ...changes, rows }
  }

  #adopt(version: number, { changed, sum }: RowChanges): void {
    for (const [name, row] of changed) this.#known.set(name, row)
    this.#sum = sum
    this.#version = version
  }

  #isRoot(found: readonly Row[], sum: bigint): boolean {
    return isEqual(this.#root(Number(found[0]?.current), sum), found[0]?.root)
  }

  /** Rejects with the SQLSTATE SL001 if another gate was faster. */
  async change(rows: readonly MirroredRow[]): Promise<void> {
    const { connections, epoch, gate } = this.#parts
    const { changed, now } = this.#timelines
    const version = this.#version + (changed === '' || changed === now ? 1 : VERSIONS_LOST_MAX)
    const changes: RowChanges = { changed: new Map(), sum: this.#sum }
    const macs = rows.map((row) => {
      const code = this.#code(row, version)
      replace(this.#known, changes, row, { code, version })
      return code
    })
    const values = [
      gate,
      epoch(),
      this.#version,
      version,
      now,
      rows.map(({ kind }) => kind),
      // An index has a limit on the length of its keys, and keys contain names of foreign tools.
      rows.map(({ key }) => createHash('sha256').update(key).digest()),
      rows.map(({ key }) => key),
      rows.map(({ body }) => body),
      macs,
      this.#root(version, changes.sum),
    ]
    // Calls wait for it.
    await connections.query(CHANGE, values, ADMIT_DEADLINE_MS)
    this.#adopt(version, changes)
    this.#timelines = { changed: now, now }
  }

  #code({ kind, key, body }: MirroredRow, version: number): Buffer {
    const text = JSON.stringify(['row', kind, key, body, version])
    return createHmac('sha256', this.#parts.key).update(text).digest()
  }

  #root(version: number, sum: bigint): Buffer {
    const text = JSON.stringify(['root', version, sum.toString(16)])
    return createHmac('sha256', this.#parts.key).update(text).digest()
  }

  #lost(version: number): StoreError {
    return new StoreError(
      'STORE_LOST',
      `the shared store is at version ${version}, and was at ${this.#version} before`,
      'a failover or a restored backup lost changes: restart the gates to accept what is left',
    )
  }
}

/** A failover loses fewer changes than that: the first change after it has a higher version than all of them. */
const VERSIONS_LOST_MAX = 1_000_000
const MODULUS = 1n << 256n

const NONE: ReadonlyMap<string, KnownRow> = new Map()

/** A keyed sum: adding and removing a row needs no other one. */
function replace(
  known: ReadonlyMap<string, KnownRow>,
  changes: RowChanges,
  row: MirroredRow,
  { code, version }: { code: Buffer; version: number },
): void {
  const name = nameOf(row)
  const added = BigInt(`0x${code.toString('hex')}`)
  const before = changes.changed.get(name) ?? known.get(name)
  const { key, kind } = row
  changes.changed.set(name, { name: { kind, key }, code: added, version, content: digestRow(row) })
  changes.sum = (changes.sum + added - (before?.code ?? 0n) + MODULUS) % MODULUS
}

function nameOf({ kind, key }: RowName): string {
  return `${kind} ${key}`
}

function digestRow({ kind, key, body }: MirroredRow): string {
  return hash('sha256', JSON.stringify([kind, key, body]), 'base64')
}

function isEqual(code: Buffer, found: unknown): boolean {
  return Buffer.isBuffer(found) && found.length === code.length && timingSafeEqual(code, found)
}

function wrongKey(what: string): StoreError {
  return new StoreError(
    'STORE_KEY',
    `\`${what}\` in the shared store was not written with the key of this cluster`,
    'use the same `cluster: { key }` at every gate; if it is the same, somebody has changed the database',
  )
}
