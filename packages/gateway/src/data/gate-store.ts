// The file `gate.db` of the data directory: what the gate itself has to know again after a restart.
// Opened by the process that has the directory's lock: the running gate, or a command if none runs.

import type { DatabaseSync } from 'node:sqlite'
import {
  APPROVAL_INDEXES,
  APPROVAL_OF_UNKNOWN,
  APPROVAL_SESSION_NAME,
  APPROVAL_TABLES,
} from '@sluice/access/approvals/schema'
import { ALERT_TABLES } from '@sluice/ledger/store/sqlite/alert-rows'
import { openDatabase, openReadOnly } from '@sluice/ledger/store/sqlite/open'
import { STEP_TABLES } from '@sluice/ledger/store/sqlite/step-chains'

/** `id` is empty if everything is frozen. */
const FREEZES = `
  CREATE TABLE freezes (
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    why TEXT NOT NULL,
    PRIMARY KEY (scope, id)
  ) STRICT;`

/** The policy documents in force. */
const DOCUMENTS = `
  CREATE TABLE documents (
    name TEXT PRIMARY KEY,
    file TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;`

/** Definitions of tools as they were last seen, for `replay` and commands without a running gate. */
const TOOLS = `
  CREATE TABLE tools (
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    category TEXT NOT NULL,
    risk TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (server, name)
  ) STRICT;`

/** Accepted definitions of tools. */
const PINS = `
  CREATE TABLE pins (
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    definition TEXT NOT NULL,
    category TEXT NOT NULL,
    risk TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (server, name)
  ) STRICT;`

/** The lock file in force; null if there is none. */
const LOCK = 'CREATE TABLE lock (id INTEGER PRIMARY KEY CHECK (id = 1), pins TEXT) STRICT;'

/** Definitions of tools that a person does not want, each by its digest. */
const REFUSALS = `
  CREATE TABLE refusals (
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    by TEXT NOT NULL,
    why TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (server, name, digest)
  ) STRICT;`

/** Sessions (`keys`, `saw` and `servers` are JSON), and what any session of a principal has seen. */
const SESSIONS = `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    keys TEXT NOT NULL,
    started INTEGER NOT NULL,
    last_used INTEGER NOT NULL,
    connected INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    saw TEXT NOT NULL,
    client TEXT NOT NULL,
    servers TEXT NOT NULL
  ) STRICT;
  CREATE TABLE principal_labels (
    principal TEXT PRIMARY KEY,
    saw TEXT NOT NULL,
    last_used INTEGER NOT NULL
  ) STRICT;`

/** Tools that a person has yet to look at. */
const NEW_TOOLS = `
  CREATE TABLE new_tools (
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (server, name)
  ) STRICT;`

/** Alerts that were sent, as JSON. */
const ALERTS = `
  CREATE TABLE alerts (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    alert TEXT NOT NULL
  ) STRICT;`

/** For what a person has decided on a definition. */
const PIN_INDEXES = `
  CREATE INDEX pins_digest ON pins (digest);
  CREATE INDEX refusals_digest ON refusals (digest);`

/** What is shown again after a restart, as JSON, see tools/stored-map.ts. */
const NOTES = `
  CREATE TABLE notes (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;`

function gateFile(directory: string) {
  return {
    directory,
    name: 'gate.db',
    migrations: [
      FREEZES + DOCUMENTS,
      TOOLS,
      PINS,
      APPROVAL_TABLES,
      LOCK,
      REFUSALS,
      APPROVAL_OF_UNKNOWN,
      SESSIONS,
      APPROVAL_SESSION_NAME,
      NEW_TOOLS,
      ALERTS,
      ALERT_TABLES,
      APPROVAL_INDEXES,
      PIN_INDEXES,
      NOTES,
      STEP_TABLES,
    ],
  }
}

export function openGateStore(directory: string): DatabaseSync {
  return openDatabase(gateFile(directory))
}

/** Throws STORE_MISSING where no gate ever ran. */
export function openGateStoreReadOnly(directory: string): DatabaseSync {
  return openReadOnly(gateFile(directory))
}

/** The same, closed after `read`. */
export function readGateStore<T>(directory: string, read: (store: DatabaseSync) => T): T {
  using store = openGateStoreReadOnly(directory)
  return read(store)
}
