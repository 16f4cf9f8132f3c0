// The index of queries: which calls there are by principal, agent, session, tool, verdict and time, and
// what events. Derived from the ledger and kept in a file of its own, so that no call waits for it: it
// is brought up to date before a query, and by the gate in quiet moments. A ledger it does not fit is
// indexed anew; what the ledger has dropped it drops.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openDatabase } from '../store/sqlite/open.ts'
import { readBase } from './base.ts'
import { asBuffer, hashAfter, placesOf, recordText } from './block.ts'
import { decode } from './decoding.ts'
import { indexFile, USUAL_WORDS } from './files.ts'
import { INDEXED_AT_ONCE_MAX, REMEMBERED_WORDS_MAX, SUBTREE_LEAVES } from './limits.ts'
import { leafOf, Peaks } from './merkle.ts'
import { blocksFrom, hashAt, readHead } from './read.ts'
import type { LedgerRecord } from './record.ts'

const STATEMENTS = {
  call: 'INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  outcome: 'INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?, ?, ?, ?)',
  event: 'INSERT INTO events VALUES (?, ?, ?, ?)',
  subtree: 'INSERT OR REPLACE INTO subtrees VALUES (?, ?)',
  through: 'INSERT OR REPLACE INTO through VALUES (1, ?, ?)',
  find: 'SELECT id FROM words WHERE text = ?',
  add: 'INSERT INTO words (text) VALUES (?)',
} as const

export class RecordIndex {
  readonly database: DatabaseSync
  readonly #ledger: DatabaseSync
  readonly #words = new Map<string, number>()
  readonly #statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>
  /** Leaves since the last whole subtree, and the first of them; undefined where not all are known. */
  #leaves: { readonly first: number; readonly tree: Peaks } | undefined

  /** Throws a StoreError where the directory may not be written. */
  constructor(directory: string, ledger: DatabaseSync) {
    this.#ledger = ledger
    this.database = openDatabase(indexFile(directory))
    const prepared = Object.entries(STATEMENTS).map(([name, sql]) => [
      name,
      this.database.prepare(sql),
    ])
    this.#statements = Object.fromEntries(prepared)
  }

  /** The number of a text; undefined where no record has it. */
  wordOf(text: string): number | undefined {
    const id = this.#statements.find.get(text)?.id
    return id === undefined ? undefined : Number(id)
  }

  /** The root over so many leaves from `first` on; undefined where it is not known. */
  subtree(first: number): string | undefined {
    const row = this.database.prepare('SELECT hash FROM subtrees WHERE first = ?').get(first)
    return row && asBuffer(row.hash as Uint8Array).toString('latin1')
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

  /** Records that are not indexed yet. */
  get behind(): number {
    return Math.max(0, readHead(this.#ledger).seq - this.#through())
  }

  /** The number of a call's outcome, where it is indexed. */
  outcomeOf(intent: number): number | undefined {
    const row = this.database.prepare('SELECT seq FROM outcomes WHERE intent = ?').get(intent)
    return row && Number(row.seq)
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
          this.#addLeaf(seq - 1, hash)
        }
        if (seq - from + 1 >= recordsMax) break
      }
      if (seq >= from) this.#statements.through.run(seq, Buffer.from(hash, 'latin1'))
      this.database.exec('COMMIT')
      return seq - from + 1
    } catch (error) {
      this.#words.clear()
      this.#leaves = undefined
      if (this.database.isTransaction) this.database.exec('ROLLBACK')
      throw error
    }
  }

  /** Up to where the index knows this very ledger. */
  #fitting(): number {
    const base = readBase(this.#ledger)
    const row = this.database.prepare('SELECT seq, hash FROM through').get()
    if (row === undefined) return base.seq
    const known = asBuffer(row.hash as Uint8Array).toString('latin1')
    if (hashAt(this.#ledger, Number(row.seq)) === known) {
      this.#drop(base.seq)
      return Number(row.seq)
    }
    this.#words.clear()
    this.#leaves = undefined
    this.database.exec(
      `DELETE FROM calls; DELETE FROM outcomes; DELETE FROM events; DELETE FROM subtrees;
      DELETE FROM through; DELETE FROM words WHERE id > ${USUAL_WORDS.agent}`,
    )
    return base.seq
  }

  /** What the ledger no longer has. */
  #drop(through: number): void {
    const first = this.database.prepare('SELECT min(seq) AS seq FROM calls').get()?.seq
    if (first == null || Number(first) > through) return
    this.database.exec(
      `DELETE FROM calls WHERE seq <= ${through}; DELETE FROM outcomes WHERE intent <= ${through};
      DELETE FROM events WHERE seq <= ${through}; DELETE FROM subtrees WHERE first < ${through}`,
    )
  }

  #through(): number {
    return Number(this.database.prepare('SELECT seq FROM through').get()?.seq ?? 0)
  }

  /** Roots of whole subtrees only: what is between is quick to read. */
  #addLeaf(at: number, hash: string): void {
    if (at % SUBTREE_LEAVES === 0) this.#leaves = { first: at, tree: new Peaks() }
    const { first, tree } = this.#leaves ?? {}
    if (tree === undefined || first === undefined || first + tree.size !== at) return
    tree.add(leafOf(hash))
    if (tree.size === SUBTREE_LEAVES)
      this.#statements.subtree.run(first, Buffer.from(tree.root, 'latin1'))
  }

  #add(record: LedgerRecord): void {
    const { seq, atMs } = record
    const word = (text: string) => this.#intern(text)
    if (record.kind === 'event') {
      const detail = JSON.stringify(record.detail)
      this.#statements.event.run(seq, atMs, word(record.name), detail)
      return
    }
    if (record.kind === 'outcome') {
      const { intent, status, durationMs, bytes, errorCode } = record
      this.#statements.outcome.run(intent, seq, word(status), durationMs, bytes, errorCode)
      return
    }
    const { principal, agent, session, server, method, name, category, decision } = record
    this.#statements.call.run(
      ...[seq, atMs, word(principal.id), word(agent ?? ''), word(session), word(server)],
      ...[word(method), word(name), word(`${server}/${name}`), word(category ?? '')],
      ...[word(decision.action), word(decision.code), word(decision.rule)],
      word(record.kind === 'refusal' ? decision.reason : ''),
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
