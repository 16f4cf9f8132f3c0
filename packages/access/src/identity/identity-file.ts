// The database of the data directory with grants, logins and approvers, and its schema. Commands
// write to it while a gate reads it: the database is the source of truth, and readers see a change
// at the next refresh.

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { guardFile } from '@sluice/ledger/store/files/faults'
import { type OpenOptions, openDatabase } from '@sluice/ledger/store/sqlite/open'

/**
 * A name is free again once its grant is revoked; the principal, and so its limits, stay the same.
 */
const GRANTS = `
  CREATE TABLE grants (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    name TEXT NOT NULL,
    policy TEXT NOT NULL,
    slots INTEGER NOT NULL CHECK (slots >= 1),
    groups TEXT NOT NULL,
    explain INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    last_used_ms INTEGER,
    revoked_ms INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX grants_name ON grants (name) WHERE revoked_ms IS NULL;`

/**
 * `sealed`: encrypted with the key of the installation; `principal` is empty for the gate's own.
 */
const LOGINS = `
  CREATE TABLE logins (
    server TEXT NOT NULL,
    principal TEXT NOT NULL,
    sealed BLOB NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY (server, principal)
  ) STRICT;`

/** Who may decide. `pin` and `token` are hashes; lists are JSON. */
const PEOPLE = `
  CREATE TABLE people (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('person', 'system')),
    roles TEXT NOT NULL,
    groups TEXT NOT NULL,
    owns TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    pin TEXT,
    pin_set_ms INTEGER,
    wrong_pins INTEGER NOT NULL DEFAULT 0,
    paused_until_ms INTEGER NOT NULL DEFAULT 0,
    token BLOB UNIQUE
  ) STRICT;
  CREATE TABLE passkeys (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    public_key BLOB NOT NULL,
    counter INTEGER NOT NULL,
    rp TEXT NOT NULL,
    label TEXT NOT NULL,
    transports TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    used_ms INTEGER
  ) STRICT;
  CREATE INDEX passkeys_person ON passkeys (person);`

/** When a pause ends by the monotonic clock of the boot in which it started. */
const PAUSES = `
  ALTER TABLE people ADD COLUMN paused_boot TEXT NOT NULL DEFAULT '';
  ALTER TABLE people ADD COLUMN paused_until_up_ms INTEGER NOT NULL DEFAULT 0;`

/** Pages that are signed in. `hash` is that of the token; `guest` is JSON. */
const SIGN_INS = `
  CREATE TABLE sign_ins (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
    name TEXT NOT NULL,
    basis TEXT NOT NULL,
    proof TEXT NOT NULL,
    guest TEXT,
    since_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
  ) STRICT;`

/** Its client may say what the user asked for. */
const PROMPTS = `ALTER TABLE grants ADD COLUMN says_prompt INTEGER NOT NULL DEFAULT 0;`

/**
 * A grant that ends has its end in `revoked_ms` as well until somebody revokes it. So a gate of an
 * older version that shares the store refuses it instead of taking it as one without an end.
 */
const ENDS = `ALTER TABLE grants ADD COLUMN until_ms INTEGER;`

export function identityFile(directory: string): OpenOptions {
  return {
    directory,
    name: 'identity.db',
    migrations: [GRANTS, LOGINS, PEOPLE, PAUSES, SIGN_INS, PROMPTS, ENDS],
  }
}

/** Parameters by position, or all of them by name. */
type Parameter = SQLInputValue | Readonly<Record<string, SQLInputValue>>

/** A connection to the database. Every method throws StoreError. */
export class IdentityFile {
  readonly database: DatabaseSync
  readonly #path: string
  readonly #statements = new Map<string, StatementSync>()
  #version: unknown

  constructor(directory: string) {
    const options = identityFile(directory)
    this.database = openDatabase(options)
    this.#path = `${directory}/${options.name}`
  }

  all(sql: string, ...values: Parameter[]): Record<string, SQLOutputValue>[] {
    return this.#use(sql, (statement) => statement.all(...(values as SQLInputValue[])))
  }

  get(sql: string, ...values: Parameter[]): Record<string, SQLOutputValue> | undefined {
    return this.#use(sql, (statement) => statement.get(...(values as SQLInputValue[])))
  }

  /** Returns the number of rows that were changed. */
  run(sql: string, ...values: Parameter[]): number {
    return this.#use(sql, (statement) =>
      Number(statement.run(...(values as SQLInputValue[])).changes),
    )
  }

  /** Does work if another process has written since the last time that it succeeded. */
  ifChanged<Result>(work: () => Result): Result | undefined {
    const version = this.get('PRAGMA data_version')?.data_version
    if (version === this.#version) return undefined
    const result = work()
    this.#version = version
    return result
  }

  close(): void {
    if (this.database.isOpen) this.database.close()
  }

  #use<Result>(sql: string, work: (statement: StatementSync) => Result): Result {
    return guardFile(this.#path, () => {
      const statement = this.#statements.get(sql) ?? this.database.prepare(sql)
      this.#statements.set(sql, statement)
      return work(statement)
    })
  }
}
