// The query index: calls by principal, agent, session, tool, decision and time, and events. Derived
// from the ledger and stored in a separate file, so that no call waits for it: updated before a
// query, and by the gate when idle. An index of another ledger is rebuilt; what the ledger has dropped is
// dropped here too. Rows that somebody edited are not noticed: `ledger verify` rebuilds the index.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { readBase } from '../chain/base.ts'
import { hashAfter, listRecordSpans, recordText } from '../chain/block.ts'
import { blocksFrom, hashAt, readHead } from '../chain/read.ts'
import { decode } from '../records/decoding.ts'
import { INDEX_SCHEMA, indexFile, USUAL_WORDS } from '../records/files.ts'
import {
  describeRefusal,
  findHeldCallChange,
  type HeldCallRefusal,
  isHeld,
} from '../records/held-calls.ts'
import {
  DROPPED_PER_INDEXED,
  INDEXED_AT_ONCE_MAX,
  REMEMBERED_WORDS_MAX,
} from '../records/limits.ts'
import { shownTexts } from '../records/names.ts'
import type { LedgerRecord } from '../records/record.ts'
import { asBuffer } from '../store/as-buffer.ts'
import { StoreError } from '../store/errors.ts'
import { inTransaction } from '../store/sqlite/in-transaction.ts'
import { openDatabase, overwriteDeleted } from '../store/sqlite/open.ts'
import { prepareAll } from '../store/sqlite/prepare.ts'
import { COUNT_STATEMENTS, CountedCalls, uncountUpTo } from './call-counts.ts'
import { toIndexRow } from './index-rows.ts'
import { PATHS } from './sql-views.ts'

const STATEMENTS = {
  calls: 'INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  hold: 'INSERT OR REPLACE INTO held VALUES (?, ?)',
  held: 'SELECT calls.* FROM held JOIN calls USING (seq) WHERE held.approval = ?',
  letGo: 'DELETE FROM held WHERE approval = ?',
  deny: 'INSERT OR REPLACE INTO denials VALUES (?, ?, ?)',
  became: 'UPDATE calls SET became = ? WHERE seq = ?',
  judged: 'INSERT OR IGNORE INTO judged VALUES (?, ?, ?)',
  outcomes: 'INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?, ?, ?, ?)',
  events: 'INSERT INTO events VALUES (?, ?, ?, ?)',
  through: 'INSERT OR REPLACE INTO through VALUES (1, ?, ?, ?)',
  find: 'SELECT id FROM words WHERE text = ?',
  add: 'INSERT INTO words (text) VALUES (?)',
  ...COUNT_STATEMENTS,
} as const

const FIRST = `SELECT min(first) AS first FROM (SELECT min(seq) AS first FROM calls
  UNION ALL SELECT min(intent) FROM outcomes UNION ALL SELECT min(seq) FROM events)`

const REFUSAL = `SELECT by, named.text AS name, detail FROM words JOIN denials ON approval = words.id
  JOIN events USING (seq) JOIN words AS named ON named.id = events.name WHERE words.text = ?`

const FORGET_WORDS = `DELETE FROM minutes; DELETE FROM hours; DELETE FROM words WHERE id > ${USUAL_WORDS.madeAgain}`

export class RecordIndex {
  readonly database: DatabaseSync
  readonly #ledger: DatabaseSync
  readonly #words = new Map<string, number>()
  readonly #statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>
  /** `data_version` after the last step: a different value means that another process wrote. */
  #version: unknown
  readonly #counts = new CountedCalls()
  /** The record after which the index begins; null while it is emptied. */
  #since: number | null = 0

  /** Throws a StoreError if the directory may not be written. */
  constructor(directory: string, ledger: DatabaseSync) {
    this.#ledger = ledger
    this.database = openIndex(directory)
    this.#statements = prepareAll(this.database, STATEMENTS)
  }

  /** Indexes up to this many records (at least a block); true when the end is reached. */
  catchUp(recordsMax = Number.POSITIVE_INFINITY): boolean {
    for (let done = 0; done < recordsMax; ) {
      const added = this.#step(Math.min(recordsMax - done, INDEXED_AT_ONCE_MAX))
      if (added === 0) return true
      done += added
    }
    return readHead(this.#ledger).seq === this.through && this.#firstDropped === undefined
  }

  /** Records that are not indexed yet. */
  get behind(): number {
    return Math.max(0, readHead(this.#ledger).seq - this.through)
  }

  /** The last record that is indexed. */
  get through(): number {
    return Number(this.database.prepare('SELECT seq FROM through').get()?.seq ?? 0)
  }

  /** `by`: empty if no person did. */
  #tagDenier(seq: number, by: string): void {
    if (by !== '') this.#statements.judged.run(this.#intern(`approver:${by}`), seq, 'true')
  }

  /** How a request for approval was refused; undefined if it was not. */
  findRefusal(approval: string): HeldCallRefusal | undefined {
    const row = this.database.prepare(REFUSAL).get(approval)
    if (row === undefined) return undefined
    return { by: String(row.by), text: describeRefusal(String(row.name), `${row.detail}`) }
  }

  /** The action of a call as later records leave it; undefined if it is not indexed. */
  findBecame(seq: number): string | undefined {
    const row = this.database
      .prepare('SELECT text FROM calls JOIN words ON id = became WHERE seq = ?')
      .get(seq)
    return row && String(row.text)
  }

  /** The number of a call's outcome, if it is indexed. */
  findOutcome(intent: number): number | undefined {
    const row = this.database.prepare('SELECT seq FROM outcomes WHERE intent = ?').get(intent)
    return row && Number(row.seq)
  }

  close(): void {
    this.database.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #step(recordsMax: number): number {
    this.database.exec('BEGIN IMMEDIATE')
    try {
      this.#forgetWhere()
      const from = this.#fitting() + 1
      const dropped = this.#dropSome(recordsMax)
      if (dropped > 0) {
        this.database.exec('COMMIT')
        return dropped
      }
      let seq = from - 1
      let hash = ''
      for (const { data } of blocksFrom(this.#ledger, from)) {
        const show = shownTexts(this.#ledger)
        for (const place of listRecordSpans(data)) {
          const record = decode(show(recordText(data, place)))
          if (record.seq < from) continue
          this.#add(record)
          seq = record.seq
          hash = hashAfter(data, place)
        }
        if (seq - from + 1 >= recordsMax) break
      }
      if (seq >= from) {
        this.#statements.through.run(seq, Buffer.from(hash, 'latin1'), this.#since)
        this.#counts.flush(this.#statements)
      }
      this.database.exec('COMMIT')
      return seq - from + 1
    } catch (error) {
      this.#words.clear()
      if (this.database.isTransaction) this.database.exec('ROLLBACK')
      throw error
    }
  }

  /** Cached word numbers are valid only while no other process writes. */
  #forgetWhere(): void {
    const version = this.database.prepare('PRAGMA data_version').get()?.data_version
    if (version !== this.#version) this.#words.clear()
    this.#version = version
  }

  /** Returns the number up to which the index matches this ledger. */
  #fitting(): number {
    const base = readBase(this.#ledger)
    const row = this.database.prepare('SELECT seq, hash, since FROM through').get()
    const known = row && asBuffer(row.hash as Uint8Array).toString('latin1')
    this.#counts.clear()
    if (row !== undefined && hashAt(this.#ledger, Number(row.seq)) === known) {
      this.#since = row.since === null ? null : Number(row.since)
      if (this.#since === null || base.seq - this.#since <= Number(row.seq) - base.seq)
        return Number(row.seq)
      // More was dropped than is left, and the texts of it are still among the words: it is built again.
      this.#since = null
      this.#statements.through.run(base.seq, Buffer.from(base.hash, 'latin1'), null)
      return base.seq
    }
    this.#since = base.seq
    this.#words.clear()
    this.database.exec(
      `DELETE FROM calls; DELETE FROM held; DELETE FROM denials;
      DELETE FROM judged; DELETE FROM outcomes; DELETE FROM events;
      DELETE FROM through; ${FORGET_WORDS}`,
    )
    return base.seq
  }

  /** The first record of the index, if the ledger no longer has it, or the index is emptied. */
  get #firstDropped(): number | undefined {
    const first = this.database.prepare(FIRST).get()?.first
    return first == null || Number(first) > this.#dropUntil ? undefined : Number(first)
  }

  get #dropUntil(): number {
    return this.#since === null ? Number.MAX_SAFE_INTEGER : readBase(this.#ledger).seq
  }

  /**
   * Removes what the ledger no longer has, in parts: it may be a million records, and the gate indexes in
   * its own thread. Returns how many records could have been indexed in that time; 0 if none is left.
   */
  #dropSome(recordsMax: number): number {
    const first = this.#firstDropped
    if (first === undefined) {
      if (this.#since === null) this.#beginAnew()
      return 0
    }
    const most = recordsMax * DROPPED_PER_INDEXED
    const through = Math.min(this.#dropUntil, first + most - 1)
    this.database.exec(uncountUpTo(through))
    this.database.exec(
      `DELETE FROM calls WHERE seq <= ${through}; DELETE FROM held WHERE seq <= ${through};
      DELETE FROM denials WHERE seq <= ${through}; DELETE FROM outcomes WHERE intent <= ${through};
      ${PATHS} DELETE FROM judged WHERE path IN (SELECT path FROM paths) AND seq <= ${through};
      DELETE FROM events WHERE seq <= ${through}`,
    )
    return Math.ceil((through - first + 1) / DROPPED_PER_INDEXED)
  }

  #beginAnew(): void {
    const { hash, seq } = readBase(this.#ledger)
    this.#since = seq
    this.#words.clear()
    this.database.exec(FORGET_WORDS)
    this.#statements.through.run(seq, Buffer.from(hash, 'latin1'), seq)
  }

  #add(record: LedgerRecord): void {
    this.#changeHeld(record)
    const { table, before, words, after, values: judged = [] } = toIndexRow(record)
    const values = [...before, ...words.map((text) => this.#intern(text)), ...after]
    this.#statements[table].run(...values)
    const call = record.kind === 'outcome' ? record.intent : record.seq
    for (const [path, value] of judged) this.#statements.judged.run(this.#intern(path), call, value)
    if (table === 'calls') this.#counts.add(values)
  }

  /** A call that was held before has become what this record says. */
  #changeHeld(record: LedgerRecord): void {
    if (record.kind === 'outcome') return
    const change = findHeldCallChange(record)
    if (change === undefined) return
    const approval = this.#intern(change.approval)
    const held = this.#statements.held.get(approval)
    if (held !== undefined) {
      const became = this.#intern(change.became)
      this.#counts.add(Object.values(held), -1)
      this.#counts.add(Object.values({ ...held, became }))
      this.#statements.became.run(became, Number(held.seq))
    }
    if (record.kind === 'event') {
      const { by = '' } = change
      this.#statements.deny.run(approval, record.seq, by)
      if (held !== undefined) this.#tagDenier(Number(held.seq), by)
      return
    }
    // The event before the record says who denied a call that waited.
    const isDenied = record.decision.code === 'APPROVAL_DENIED'
    if (isDenied) this.#tagDenier(record.seq, this.findRefusal(change.approval)?.by ?? '')
    if (isHeld(record)) this.#statements.hold.run(approval, record.seq)
    else if (held !== undefined) this.#statements.letGo.run(approval)
  }

  #intern(text: string): number {
    const known = this.#words.get(text)
    if (known !== undefined) return known
    const found = this.#statements.find.get(text)?.id
    const id = Number(found ?? this.#statements.add.run(text).lastInsertRowid)
    if (this.#words.size >= REMEMBERED_WORDS_MAX) this.#words.clear()
    this.#words.set(text, id)
    return id
  }
}

/** Empties the index, also of tables and triggers that somebody else may have put there. The next query
 * builds it again. */
export function emptyIndex(directory: string): void {
  using database = openIndex(directory)
  inTransaction(database, () => {
    const all = database.prepare(
      "SELECT type, name FROM sqlite_schema WHERE sql <> '' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
    )
    const rank = ['trigger', 'view', 'index', 'table']
    const objects = all.all().sort((a, b) => rank.indexOf(`${a.type}`) - rank.indexOf(`${b.type}`))
    for (const { type, name } of objects)
      database.exec(`DROP ${type} IF EXISTS "${String(name).replaceAll('"', '""')}"`)
    database.exec(INDEX_SCHEMA)
  })
  overwriteDeleted(database)
}

/** A file that is not a database is replaced. */
function openIndex(directory: string): DatabaseSync {
  const file = indexFile(directory)
  try {
    return openDatabase(file)
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'STORE_CORRUPT') throw error
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(directory, `${file.name}${suffix}`), { force: true })
    return openDatabase(file)
  }
}
