// The files of the ledger in the data directory, and their schemas. `ledger.db` is the audit log,
// `ledger-checkpoints.jsonl` has its signed checkpoints, one per line; `ledger-index.db` is derived
// from it for queries and can be deleted at any time. So can the folder `cluster`, which has the records of
// all gates that share a store, for the console.

import type { OpenOptions } from '../store/sqlite/open.ts'
import { MADE_AGAIN } from './held-calls.ts'

/**
 * `seq` is that of the block's first record, `at` the latest time in it, `open` the first record
 * that may be an intent without outcome: where recovery starts to read.
 */
const LEDGER = `
  CREATE TABLE blocks (
    seq INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    at INTEGER NOT NULL,
    open INTEGER NOT NULL,
    data BLOB NOT NULL
  ) STRICT;
  CREATE TABLE anchors (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;`

/** The first remaining record follows a checkpoint, which replaces all before it. */
const BASE = `
  CREATE TABLE base (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    checkpoint TEXT NOT NULL
  ) STRICT;`

/**
 * Of the copy that has the records of all gates, see merged/merged-ledger.ts. `chains`: the last record of each
 * gate. `runs`: record `first` is record `seq` of this gate, and so on up to the next run. `open_calls`: those
 * without outcome.
 */
const MERGED = `
  CREATE TABLE chains (gate TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE runs (first INTEGER PRIMARY KEY, gate TEXT NOT NULL, seq INTEGER NOT NULL) STRICT;
  CREATE INDEX runs_gate ON runs (gate, seq);
  CREATE TABLE open_calls (
    gate TEXT NOT NULL,
    seq INTEGER NOT NULL,
    merged INTEGER NOT NULL,
    PRIMARY KEY (gate, seq)
  ) STRICT, WITHOUT ROWID;`

/**
 * Texts are stored once and referenced by number; `through` is the last indexed record, and its `since` the record
 * after which the index begins, or null while it is emptied to be built again. Most calls
 * are allowed and have no agent, no shadow decision, no program that made them and no approval, so an index on those values would cost much and find nothing.
 * `minutes` and `hours` count calls, see query/call-counts.ts. `became` is the action of a call as later records leave it,
 * and `held` has the last record of each request for approval that is about a held call, see held-calls.ts. `denials`: who
 * denied a request, as the event says.
 * `tool` is server and name together. `judged` has the values of arguments that rules read, and tags of a call, see records/recorded-values.ts.
 */
export const USUAL_WORDS = {
  action: 1,
  code: 2,
  agent: 3,
  shadow: 3,
  parent: 3,
  approval: 3,
  /** The last of them: a held call of which a later record counts, see held-calls.ts. */
  madeAgain: 4,
} as const
export const INDEX_SCHEMA = `
  CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
  INSERT INTO words VALUES (1, 'allow'), (2, 'ALLOWED'), (3, ''), (4, '${MADE_AGAIN}');
  CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    principal INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    session INTEGER NOT NULL,
    server INTEGER NOT NULL,
    method INTEGER NOT NULL,
    name INTEGER NOT NULL,
    tool INTEGER NOT NULL,
    category INTEGER NOT NULL,
    action INTEGER NOT NULL,
    code INTEGER NOT NULL,
    rule INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    shadow INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    approval INTEGER NOT NULL,
    became INTEGER NOT NULL,
    unknown INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE held (approval INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
  CREATE TABLE denials (approval INTEGER PRIMARY KEY, seq INTEGER NOT NULL, by TEXT NOT NULL) STRICT;
  CREATE INDEX calls_at ON calls (at);
  CREATE INDEX calls_principal ON calls (principal);
  CREATE INDEX calls_agent ON calls (agent) WHERE agent <> 3;
  CREATE INDEX calls_session ON calls (session, became);
  CREATE INDEX calls_server ON calls (server);
  CREATE INDEX calls_tool ON calls (tool);
  CREATE INDEX calls_action ON calls (action) WHERE action <> 1;
  CREATE INDEX calls_code ON calls (code) WHERE code <> 2;
  CREATE INDEX calls_shadow ON calls (shadow) WHERE shadow <> 3;
  CREATE INDEX calls_parent ON calls (parent) WHERE parent <> 3;
  CREATE INDEX calls_approval ON calls (approval) WHERE approval <> 3;
  CREATE TABLE judged (
    path INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (path, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX judged_value ON judged (path, value, seq);
  CREATE TABLE outcomes (
    intent INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    status INTEGER NOT NULL,
    duration REAL NOT NULL,
    bytes INTEGER NOT NULL,
    error INTEGER
  ) STRICT;
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    name INTEGER NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_name ON events (name);
  CREATE TABLE minutes (
    minute INTEGER NOT NULL,
    became INTEGER NOT NULL,
    code INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (minute, became, code)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE hours (
    kind INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    word INTEGER NOT NULL,
    became INTEGER NOT NULL,
    code INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (kind, hour, word, became, code)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE through (
    id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    since INTEGER
  ) STRICT;`
/** An index is rebuilt rather than migrated. */
const INDEX_ANEW = [
  'words',
  'calls',
  'held',
  'denials',
  'judged',
  'outcomes',
  'events',
  'minutes',
  'hours',
  'through',
  // Older indexes have checksums of their rows and parts of the tree.
  'tally',
  'subtrees',
]
  .map((table) => `DROP TABLE IF EXISTS ${table};`)
  .join(' ')

export function ledgerFile(directory: string): OpenOptions {
  return { directory, name: 'ledger.db', migrations: [LEDGER, BASE] }
}

export function mergedFile(directory: string): OpenOptions {
  return { directory, name: 'ledger.db', migrations: [LEDGER, BASE, MERGED] }
}

export function indexFile(directory: string): OpenOptions {
  const migrations = [...Array(14).fill(''), INDEX_ANEW + INDEX_SCHEMA]
  return { directory, name: 'ledger-index.db', migrations, isDerived: true }
}

/** In the data directory, the folder with the copy of the records of all gates and its index. */
export const MERGED_FOLDER = 'cluster'
/** The names of people and callers, see names.ts. */
export const NAMES_FILE = 'ledger-names.db'
export const RESERVE_FILE = 'ledger.reserve'
export const CHECKPOINTS_FILE = 'ledger-checkpoints.jsonl'
