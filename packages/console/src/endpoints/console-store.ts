// What only the console keeps: versions of policy documents that were saved there, with who and why.
// In a file of its own; no decision depends on it.

import type { DatabaseSync } from 'node:sqlite'
import { createRowReader, NUMBER, TEXT } from '@sluice/ledger/store/read-row'
import { openDatabase } from '@sluice/ledger/store/sqlite/open'
import { POLICY_VERSIONS_KEPT } from '../queries/limits.ts'

const SCHEMA = `
  CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    text TEXT NOT NULL,
    by TEXT NOT NULL,
    why TEXT NOT NULL
  ) STRICT;
  CREATE INDEX versions_by_name ON versions (name, id);
  CREATE TABLE refused_pins (
    digest TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    by TEXT NOT NULL
  ) STRICT;`

/** Refused definitions are the gate's to know. */
const NO_PINS = 'DROP TABLE refused_pins;'

/** Who put which document in force, when and why. */
interface PolicyChange {
  readonly atMs: number
  readonly name: string
  readonly digest: string
  readonly by: string
  readonly why: string
}

export interface PolicyVersion extends PolicyChange {
  readonly id: number
}

const readVersion = createRowReader<PolicyVersion>({
  id: NUMBER,
  atMs: NUMBER,
  name: TEXT,
  digest: TEXT,
  by: TEXT,
  why: TEXT,
})

interface SavedVersion extends PolicyChange {
  readonly text: string
}

export class ConsoleStore {
  readonly #database: DatabaseSync

  constructor(directory: string) {
    this.#database = openDatabase({ directory, name: 'console.db', migrations: [SCHEMA, NO_PINS] })
  }

  /** The newest first. */
  versions(): PolicyVersion[] {
    return this.#database
      .prepare(
        'SELECT id, at AS atMs, name, digest, by, why FROM versions ORDER BY id DESC LIMIT ?',
      )
      .all(POLICY_VERSIONS_KEPT)
      .map(readVersion)
  }

  textOf(id: number): string | undefined {
    const row = this.#database.prepare('SELECT text FROM versions WHERE id = ?').get(id)
    return row === undefined ? undefined : String(row.text)
  }

  /** The text of a document by its digest, as records name it. */
  findText(name: string, digest: string): string | undefined {
    const sql = 'SELECT text FROM versions WHERE name = ? AND digest = ? ORDER BY id DESC LIMIT 1'
    const row = this.#database.prepare(sql).get(name, digest)
    return row === undefined ? undefined : String(row.text)
  }

  addVersion({ atMs, name, digest, text, by, why }: SavedVersion): void {
    this.#database
      .prepare('INSERT INTO versions (at, name, digest, text, by, why) VALUES (?, ?, ?, ?, ?, ?)')
      .run(atMs, name, digest, text, by, why)
    this.#database
      .prepare('DELETE FROM versions WHERE id <= (SELECT max(id) FROM versions) - ?')
      .run(POLICY_VERSIONS_KEPT)
  }

  hasVersion(name: string, digest: string): boolean {
    const sql = 'SELECT 1 FROM versions WHERE name = ? AND digest = ? LIMIT 1'
    return this.#database.prepare(sql).get(name, digest) !== undefined
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }
}
