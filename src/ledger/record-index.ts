// The index of queries: which calls there are by principal, session, tool, verdict and time. Derived
// from the ledger and kept in a file of its own, so that no call waits for it: it is brought up to
// date before a query, and by the gate in quiet moments. A ledger it does not fit is indexed anew.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openDatabase } from '../store/sqlite/open.ts'
import { hashAfter, placesOf, recordText } from './block.ts'
import { decode } from './decoding.ts'
import { indexFile, USUAL_WORDS } from './files.ts'
import { INDEXED_AT_ONCE_MAX, REMEMBERED_WORDS_MAX } from './limits.ts'
import { blocksFrom, hashAt, readHead } from './read.ts'
import type { LedgerRecord } from './record.ts'

export class RecordIndex {
  readonly database: DatabaseSync
  readonly #ledger: DatabaseSync
  readonly #words = new Map<string, number>()
  readonly #statements: Record<'call' | 'outcome' | 'through' | 'find' | 'add', StatementSync>

  /** Throws a StoreError where the directory may not be written. */
  constructor(directory: string, ledger: DatabaseSync) {
    this.#ledger = ledger
    this.database = openDatabase(indexFile(directory))
    const prepare = (sql: string) => this.database.prepare(sql)
    this.#statements = {
      call: prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
      outcome: prepare('INSERT OR IGNORE INTO outcomes VALUES (?, ?)'),
      through: prepare('INSERT OR REPLACE INTO through VALUES (1, ?, ?)'),
      find: prepare('SELECT id FROM words WHERE text = ?'),
      add: prepare('INSERT INTO words (text) VALUES (?)'),
    }
  }

  /** The number of a text; undefined where no record has it. */
  wordOf(text: string): number | undefined {
    const id = this.#statements.find.get(text)?.id
    return id === undefined ? undefined : Number(id)
  }

  /** Indexes up to so many records (at least a block); true when the end is reached. */
  catchUp(recordsMax = Number.POSITIVE_INFINITY): boolean {
    for (let done = 0; done < recordsMax; ) {
      const added = this.#step(Math.min(recordsMax - done, INDEXED_AT_ONCE_MAX))
      if (added === 0) return true
      done += added
    }
    return readHead(this.#ledger).seq === this.#through()
  }

  close(): void {
    this.database.close()
  }

  #step(recordsMax: number): number {
    this.database.exec('BEGIN IMMEDIATE')
    try {
      const from = this.#fitting() + 1
      let seq = from - 1
      let hash = ''
      for (const { data } of blocksFrom(this.#ledger, from)) {
        for (const place of placesOf(data)) {
          const record = decode(recordText(data, place))
          if (record.seq < from) continue
          this.#add(record)
          seq = record.seq
          hash = hashAfter(data, place)
        }
        if (seq - from + 1 >= recordsMax) break
      }
      if (seq >= from) this.#statements.through.run(seq, Buffer.from(hash, 'latin1'))
      this.database.exec('COMMIT')
      return seq - from + 1
    } catch (error) {
      this.#words.clear()
      if (this.database.isTransaction) this.database.exec('ROLLBACK')
      throw error
    }
  }

  /** Up to where the index knows this very ledger. */
  #fitting(): number {
    const row = this.database.prepare('SELECT seq, hash FROM through').get()
    if (row === undefined) return 0
    const known = Buffer.from(row.hash as Uint8Array).toString('latin1')
    if (hashAt(this.#ledger, Number(row.seq)) === known) return Number(row.seq)
    this.#words.clear()
    this.database.exec(
      `DELETE FROM calls; DELETE FROM outcomes; DELETE FROM through;
      DELETE FROM words WHERE id > ${USUAL_WORDS.code}`,
    )
    return 0
  }

  #through(): number {
    return Number(this.database.prepare('SELECT seq FROM through').get()?.seq ?? 0)
  }

  #add(record: LedgerRecord): void {
    if (record.kind === 'event') return
    if (record.kind === 'outcome') {
      this.#statements.outcome.run(record.intent, record.seq)
      return
    }
    const { seq, atMs, principal, session, server, name, decision } = record
    const word = (text: string) => this.#intern(text)
    this.#statements.call.run(
      ...[seq, atMs, word(principal.id), word(session), word(server), word(name)],
      ...[word(decision.action), word(decision.code)],
    )
  }

  #intern(text: string): number {
    const known = this.#words.get(text)
    if (known !== undefined) return known
    const id = this.wordOf(text) ?? Number(this.#statements.add.run(text).lastInsertRowid)
    if (this.#words.size >= REMEMBERED_WORDS_MAX) this.#words.clear()
    this.#words.set(text, id)
    return id
  }
}
