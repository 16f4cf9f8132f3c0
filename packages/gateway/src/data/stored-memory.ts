// AnswerMemoryStore on `session-memory.db`: what sessions remember of answers and their sealed values, over
// a restart. Each part is encrypted and authenticated (AES-256-GCM) for its session. A file of its own: it
// is left out of backups, and removed if it cannot be written, so that no old part passes for all.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type {
  AnswerMemoryStore,
  MemoryPart,
} from '@sluice/access/identity/sessions/answer-memory-store'
import { bootId } from '@sluice/ledger/store/files/boot-id'
import { openDatabase } from '@sluice/ledger/store/sqlite/open'
import { attempt } from '@sluice/policy/structures/attempt'
import type { Log } from '../shared/log.ts'
import { MEMORY_STORED_BYTES_KEPT, MEMORY_STORED_BYTES_MAX } from './limits.ts'

const NAME = 'session-memory.db'

/** `changed`: sessions of which `parts` has no longer all. `run`: which boot of the machine last wrote
 * here, and whether the file was closed. */
const TABLES = `
  CREATE TABLE parts (
    session TEXT NOT NULL,
    part TEXT NOT NULL,
    written INTEGER NOT NULL,
    size INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (session, part)
  ) STRICT;
  CREATE INDEX parts_written ON parts (written, size);
  CREATE TABLE changed (session TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE run (id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, closed INTEGER NOT NULL) STRICT;`

const SALT_BYTES = 16
const TAG_BYTES = 16
/** Each part has a key of its own. */
const NONCE = Buffer.alloc(12)

export interface StoredMemoryParts {
  readonly directory: string
  readonly key: Buffer
  readonly log: Log
  /** Of the machine; tests say another. */
  readonly boot?: string
  readonly bytesMax?: number
}

type Statements = Record<'load' | 'save' | 'drop' | 'mark' | 'unmark' | 'isMarked', StatementSync>

export class StoredMemory implements AnswerMemoryStore {
  readonly #key: Buffer
  readonly #log: Log
  readonly #directory: string
  readonly #bytesMax: number
  #statements: Statements | undefined
  #store: DatabaseSync | undefined
  #written = 0
  #bytes = 0

  constructor({ directory, key, log, boot = bootId(), bytesMax }: StoredMemoryParts) {
    this.#key = key
    this.#log = log
    this.#directory = directory
    this.#bytesMax = bytesMax ?? MEMORY_STORED_BYTES_MAX
    try {
      this.#open(boot)
    } catch (error) {
      this.#giveUp(error as Error)
    }
  }

  load(session: string, part: MemoryPart): Uint8Array | undefined {
    return this.#attempt(({ load, isMarked }) => {
      const row = load.get(session, part)
      if (row === undefined) return undefined
      if (part === 'answers' && isMarked.get(session) !== undefined) return undefined
      return this.#decrypt(row.bytes as Uint8Array, toContext(session, part))
    })
  }

  save(session: string, part: MemoryPart, bytes: Uint8Array): void {
    this.#attempt(({ load, save, unmark }, store) => {
      const sealed = this.#encrypt(bytes, toContext(session, part))
      const before = Number(load.get(session, part)?.size ?? 0)
      store.exec('BEGIN')
      save.run(session, part, ++this.#written, sealed.length, sealed)
      if (part === 'answers') unmark.run(session)
      store.exec('COMMIT')
      this.#bytes += sealed.length - before
      if (this.#bytes > this.#bytesMax) this.#makeRoom(store)
    })
  }

  markChanged(session: string): void {
    this.#attempt(({ mark }) => mark.run(session))
  }

  remove(session: string): void {
    this.#attempt(({ drop, unmark }) => {
      for (const { size } of drop.all(session)) this.#bytes -= Number(size)
      unmark.run(session)
    })
  }

  close(): void {
    this.#attempt((_, store) => {
      store.exec('UPDATE run SET closed = 1')
      store.close()
    })
    this.#store = undefined
  }

  #open(boot: string): void {
    const migrations = [TABLES]
    const store = openDatabase({ directory: this.#directory, name: NAME, migrations })
    this.#store = store
    const last = store.prepare('SELECT boot, closed FROM run').get()
    // After a loss of power the last writes may be missing, also that a session has changed.
    const isWhole = last !== undefined && (last.closed === 1 || (boot !== '' && last.boot === boot))
    if (!isWhole) store.exec('DELETE FROM parts; DELETE FROM changed')
    store.exec('PRAGMA synchronous = FULL')
    store.prepare('INSERT OR REPLACE INTO run (id, boot, closed) VALUES (1, ?, 0)').run(boot)
    store.exec('PRAGMA synchronous = NORMAL')
    const sums = store
      .prepare('SELECT max(written) AS written, sum(size) AS bytes FROM parts')
      .get()
    this.#written = Number(sums?.written ?? 0)
    this.#bytes = Number(sums?.bytes ?? 0)
    this.#statements = {
      load: store.prepare('SELECT bytes, size FROM parts WHERE session = ? AND part = ?'),
      save: store.prepare('INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)'),
      drop: store.prepare('DELETE FROM parts WHERE session = ? RETURNING size'),
      mark: store.prepare('INSERT OR IGNORE INTO changed VALUES (?)'),
      unmark: store.prepare('DELETE FROM changed WHERE session = ?'),
      isMarked: store.prepare('SELECT 1 FROM changed WHERE session = ?'),
    }
  }

  /** What was written first is removed: the session then counts as having forgotten. */
  #makeRoom(store: DatabaseSync): void {
    const oldest = store.prepare(
      'DELETE FROM parts WHERE rowid IN (SELECT rowid FROM parts ORDER BY written LIMIT 64) RETURNING size',
    )
    const bytesKept = Math.min(MEMORY_STORED_BYTES_KEPT, this.#bytesMax)
    while (this.#bytes > bytesKept) {
      const removed = oldest.all()
      if (removed.length === 0) return
      for (const { size } of removed) this.#bytes -= Number(size)
    }
  }

  #attempt<Result>(
    use: (statements: Statements, store: DatabaseSync) => Result | undefined,
  ): Result | undefined {
    const [statements, store] = [this.#statements, this.#store]
    if (statements === undefined || store === undefined) return undefined
    try {
      return use(statements, store)
    } catch (error) {
      this.#giveUp(error as Error)
      return undefined
    }
  }

  /** Removing a file needs no space: the next gate finds nothing, rather than a part of it. */
  #giveUp({ message }: Error): void {
    this.#log('error', 'what sessions remember is not kept over a restart', { why: message })
    try {
      if (this.#store?.isOpen) this.#store.close()
    } catch {}
    this.#store = undefined
    for (const ending of ['', '-wal', '-shm'])
      rmSync(join(this.#directory, NAME + ending), { force: true })
  }

  #encrypt(plain: Uint8Array, context: Buffer): Buffer {
    const salt = randomBytes(SALT_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#deriveKey(salt), NONCE)
    cipher.setAAD(context)
    return Buffer.concat([salt, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }

  /** Undefined if it was written with another key, for another session, or changed since. */
  #decrypt(sealed: Uint8Array, context: Buffer): Buffer | undefined {
    if (sealed.length < SALT_BYTES + TAG_BYTES) return undefined
    const key = this.#deriveKey(sealed.subarray(0, SALT_BYTES))
    const decipher = createDecipheriv('aes-256-gcm', key, NONCE)
    decipher.setAAD(context)
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return attempt(() =>
      Buffer.concat([decipher.update(sealed.subarray(SALT_BYTES, -TAG_BYTES)), decipher.final()]),
    )
  }

  #deriveKey(salt: Uint8Array): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, salt, 'session memory 1', 32))
  }
}

function toContext(session: string, part: MemoryPart): Buffer {
  return Buffer.from(JSON.stringify([part, session]))
}
