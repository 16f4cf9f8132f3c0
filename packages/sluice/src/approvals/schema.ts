// The tables of the approvals in the gate's store (gate.db): requests with their votes, standing
// approvals, and denials. Arguments are sealed with the installation's key and deleted with the
// verdict; the ledger has digests of the requirements. Created by gate-store.ts.

/**
 * `key` identifies the call, `asked` is the digest of the requirements, `pin` the definition.
 * `used_by` is set before the call is forwarded, in the step that makes the approval single-use;
 * `used_from` is where recovery after a crash starts to look for its intent in the ledger.
 */
export const APPROVAL_TABLES = `
  CREATE TABLE approvals (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
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
    args BLOB,
    edited INTEGER NOT NULL,
    told INTEGER NOT NULL,
    used_by TEXT,
    used_at INTEGER,
    used_from INTEGER,
    why TEXT NOT NULL
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
