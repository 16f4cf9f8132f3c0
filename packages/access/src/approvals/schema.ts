// The tables of the approvals in the gate's store (gate.db): requests with their votes, standing
// approvals, and denials. Arguments are sealed with the installation's key and deleted with the
// verdict; the ledger has digests of the requirements. Created by gate-store.ts.

/** The columns before and behind the arguments. */
const HEAD_COLUMNS = `    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    asked TEXT NOT NULL,
    pin TEXT NOT NULL,
    state TEXT NOT NULL,
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    principal TEXT NOT NULL,
    principal_kind TEXT NOT NULL,
    agent TEXT,
    session TEXT NOT NULL,
    server TEXT NOT NULL,
    method TEXT NOT NULL,
    name TEXT NOT NULL,
    category TEXT,
    risk TEXT,
    asks TEXT NOT NULL,
    votes TEXT NOT NULL,
    before TEXT NOT NULL,
    call_id TEXT NOT NULL,
`
const TAIL_COLUMNS = `    edited INTEGER NOT NULL,
    told INTEGER NOT NULL,
    used_by TEXT,
    used_at INTEGER,
    used_from INTEGER,
    why TEXT NOT NULL`

/**
 * `key` identifies the call, `asked` is the digest of the requirements, `pin` the definition.
 * `used_by` is set before the call is forwarded, in the step that makes the approval single-use;
 * `used_from` is where recovery after a crash starts to look for its intent in the ledger.
 */
export const APPROVAL_TABLES = `
  CREATE TABLE approvals (
${HEAD_COLUMNS}    args BLOB,
${TAIL_COLUMNS}
  ) STRICT;
  CREATE INDEX approvals_key ON approvals (key, seq);
  CREATE INDEX approvals_state ON approvals (state, seq);
  CREATE TABLE approvals_standing (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    agent TEXT,
    server TEXT NOT NULL,
    method TEXT NOT NULL,
    name TEXT NOT NULL,
    asked TEXT NOT NULL,
    pin TEXT NOT NULL,
    terms BLOB NOT NULL,
    approved_by TEXT NOT NULL,
    until INTEGER NOT NULL,
    used INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE approvals_denied (
    session TEXT NOT NULL,
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    denials INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, server, name)
  ) STRICT;`

/** What the session is called, see identity/sessions. */
export const APPROVAL_SESSION_NAME =
  "ALTER TABLE approvals ADD COLUMN session_name TEXT NOT NULL DEFAULT '';"

/** Whether the category shown to the approver is a guess. */
export const APPROVAL_OF_UNKNOWN =
  'ALTER TABLE approvals ADD COLUMN unknown INTEGER NOT NULL DEFAULT 0;'

/** May still lead to a call, and has not. As in the indexes, so that SQLite can use them. */
export const UNUSED = "state IN ('pending', 'approved') AND used_by IS NULL"
export const ENDED = "state IN ('denied', 'expired', 'void', 'executed', 'unknown')"

const COLUMNS = `id, key, asked, pin, state, at, expires_at, principal, principal_kind, agent, session,
  server, method, name, category, risk, asks, votes, before, call_id, edited, told, used_by, used_at,
  used_from, why, session_name, unknown, args`

/**
 * The arguments last: SQLite reads a row up to the column that is wanted, and what comes after 160 kB
 * of arguments takes 40 pages. And indexes for everything that looks for a few of many open requests,
 * with the columns of their own conditions, because SQLite evaluates these again.
 */
export const APPROVAL_INDEXES = `
  CREATE TABLE approvals_moved (
${HEAD_COLUMNS}${TAIL_COLUMNS},
    session_name TEXT NOT NULL DEFAULT '',
    unknown INTEGER NOT NULL DEFAULT 0,
    args BLOB
  ) STRICT;
  INSERT INTO approvals_moved (seq, ${COLUMNS}) SELECT seq, ${COLUMNS} FROM approvals;
  DROP TABLE approvals;
  ALTER TABLE approvals_moved RENAME TO approvals;
  CREATE INDEX approvals_key ON approvals (key, seq);
  CREATE INDEX approvals_state ON approvals (state, seq, at);
  CREATE INDEX approvals_pending ON approvals (session, server, name) WHERE state = 'pending';
  CREATE INDEX approvals_expiry ON approvals (expires_at, state, used_by, at) WHERE ${UNUSED};
  CREATE INDEX approvals_asked ON approvals (asked, state, used_by) WHERE ${UNUSED};
  CREATE INDEX approvals_tool ON approvals (server, name, pin, state, used_by) WHERE ${UNUSED};
  CREATE INDEX approvals_voted ON approvals (state, used_by, votes)
    WHERE ${UNUSED} AND votes <> '[]';
  CREATE INDEX approvals_ended ON approvals (seq, state) WHERE ${ENDED};`
