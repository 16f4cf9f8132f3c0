// The files of the ledger in the data directory, and their schemas. `ledger.db` is the record;
// `ledger-index.db` is derived from it for queries and can be thrown away at any time.

import type { OpenOptions } from '../store/sqlite/open.ts'

/** `seq` is that of the block's first record, `at` the latest time in it, `open` the first record
 * that may be an intent without outcome: where recovery begins to read. */
const LEDGER = `
  CREATE TABLE blocks (
    seq INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    at INTEGER NOT NULL,
    open INTEGER NOT NULL,
    data BLOB NOT NULL
  ) STRICT;
  CREATE TABLE anchors (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;`

/** Texts are kept once, as numbers; `through` says up to where the index knows the ledger. Most calls
 * are allowed, so an index of those would cost much and find nothing. */
export const USUAL_WORDS = { action: 1, code: 2 } as const
const INDEX = `
  CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
  INSERT INTO words VALUES (1, 'allow'), (2, 'ALLOWED');
  CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    principal INTEGER NOT NULL,
    session INTEGER NOT NULL,
    server INTEGER NOT NULL,
    name INTEGER NOT NULL,
    action INTEGER NOT NULL,
    code INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX calls_at ON calls (at);
  CREATE INDEX calls_principal ON calls (principal);
  CREATE INDEX calls_session ON calls (session);
  CREATE INDEX calls_server ON calls (server);
  CREATE INDEX calls_tool ON calls (server, name);
  CREATE INDEX calls_action ON calls (action) WHERE action <> 1;
  CREATE INDEX calls_code ON calls (code) WHERE code <> 2;
  CREATE TABLE outcomes (intent INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
  CREATE TABLE through (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;`

export function ledgerFile(directory: string): OpenOptions {
  return { directory, name: 'ledger.db', migrations: [LEDGER] }
}

export function indexFile(directory: string): OpenOptions {
  return { directory, name: 'ledger-index.db', migrations: [INDEX] }
}

export const RESERVE_FILE = 'ledger.reserve'
