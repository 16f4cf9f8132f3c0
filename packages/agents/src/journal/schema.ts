// The tables of agents.db. `events` is the journal: appending to it is what commits a step, together
// with the summary and the counts in the same transaction. Opened by the step thread only.

import type { Migration } from '@sluice/ledger/store/sqlite/migrate'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { LAST_REMOVED } from './removed-families.ts'

/** All tables of the journal, in the order in which their rows are copied. */
export const TABLES: readonly string[] = [
  ...toWordSet(`
    images families agents events memories memory_answers checkpoints
    runs effects program_events templates settings model_usage schedules
  `),
]

/** The highest key of agents.db. Agents, families and memories have their keys from one row of numbers. */
export const LAST_KEY = `SELECT max(coalesce((SELECT max(agent) FROM agents), 0),
  coalesce((SELECT max(family) FROM families), 0), ${LAST_REMOVED},
  coalesce((SELECT max(memory) FROM memories), 0)) AS key`

/** A file of a version before it is refused: none of them was released. */
export const OLDEST_VERSION = 4

export const MIGRATIONS: readonly Migration[] = [
  '',
  '',
  '',
  `
  CREATE TABLE images (
    hash TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
  ) WITHOUT ROWID;

  -- What an agent, its forks and the agents they made have used together, in the host's own count.
  CREATE TABLE families (
    family INTEGER PRIMARY KEY,
    turns INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros REAL NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    limits TEXT NOT NULL,
    price TEXT NOT NULL,
    -- Counted and named here, so that a commit writes no index for them.
    members INTEGER NOT NULL DEFAULT 0,
    owner TEXT NOT NULL DEFAULT ''
  );

  CREATE TABLE agents (
    agent INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    family INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    image TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    asked TEXT NOT NULL,
    model TEXT NOT NULL,
    template TEXT,
    -- The host's own record of what it was given; what a guest believes to have counts for nothing.
    grants TEXT NOT NULL,
    state TEXT NOT NULL,
    summary TEXT NOT NULL,
    wake_at INTEGER,
    host_stop TEXT,
    -- What its events take, so that nobody has to add it up.
    journal_bytes INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX agents_by_owner ON agents (owner, agent);
  CREATE INDEX agents_by_wake ON agents (wake_at) WHERE wake_at IS NOT NULL;

  -- Without a rowid, finding a place reads whole rows on its way, and one of 8 MB takes 5 ms of every
  -- insert beside it: tables whose rows may be large have one, and a slim index.
  CREATE TABLE events (
    agent INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    turn INTEGER NOT NULL,
    event TEXT NOT NULL,
    bytes BLOB,
    answer BLOB,
    nonce TEXT,
    PRIMARY KEY (agent, seq)
  );

  -- Forks share a memory until they do something of their own.
  CREATE TABLE memories (
    memory INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
  );
  -- What a guest answered when it came to rest: who asks the same again wakes nobody.
  CREATE TABLE memory_answers (
    memory INTEGER PRIMARY KEY,
    at_rest TEXT,
    forked TEXT
  );
  CREATE TABLE checkpoints (
    agent INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    image TEXT NOT NULL,
    memory INTEGER NOT NULL,
    PRIMARY KEY (agent, seq)
  ) WITHOUT ROWID;
  CREATE INDEX checkpoints_by_memory ON checkpoints (memory);

  CREATE TABLE runs (
    agent INTEGER NOT NULL,
    run TEXT NOT NULL,
    request TEXT,
    started_at INTEGER NOT NULL,
    result TEXT,
    PRIMARY KEY (agent, run)
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX runs_by_request ON runs (agent, request) WHERE request IS NOT NULL;

  -- Effects without a result. A row with started_at was begun; what became of it only a result says.
  CREATE TABLE effects (
    agent INTEGER NOT NULL,
    effect TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    started_at INTEGER,
    ticket TEXT,
    PRIMARY KEY (agent, effect)
  );

  -- What programs asked for and were told; a program's own journal.
  CREATE TABLE program_events (
    agent INTEGER NOT NULL,
    effect TEXT NOT NULL,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (agent, effect, seq)
  );

  CREATE TABLE templates (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    template TEXT NOT NULL,
    PRIMARY KEY (owner, id)
  ) WITHOUT ROWID;
  CREATE TABLE settings (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (owner, name)
  ) WITHOUT ROWID;
  `,
  `
  -- What a family has seen, by the labels of the policy: kept here, because a family outlives the
  -- gate's sessions.
  ALTER TABLE families ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';
  `,
  `
  -- What an agent's own model costs: a child or an import of another model is counted at its price.
  ALTER TABLE agents ADD COLUMN price TEXT NOT NULL DEFAULT 'null';
  UPDATE agents SET price =
    coalesce((SELECT price FROM families f WHERE f.family = agents.family), 'null');
  `,
  `
  -- Kept for a time after its last agent was removed: an import continues its budget.
  ALTER TABLE families ADD COLUMN removed_at INTEGER;
  CREATE INDEX families_removed ON families (owner, removed_at) WHERE removed_at IS NOT NULL;
  CREATE INDEX families_labelled ON families (owner, labels) WHERE labels <> '[]';
  `,
  `
  -- Since when nothing is sent for an agent. In a pause, started_at of its run is minus the time the run
  -- had taken by then.
  ALTER TABLE agents ADD COLUMN paused_at INTEGER;
  `,
  `
  -- What models took in a minute or an hour: start_at is its beginning, span its length. What was used
  -- before is in families only, without a time.
  CREATE TABLE model_usage (
    span INTEGER NOT NULL,
    start_at INTEGER NOT NULL,
    model TEXT NOT NULL,
    writer TEXT NOT NULL,
    model_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_nanos INTEGER NOT NULL,
    PRIMARY KEY (span, start_at, model, writer)
  ) WITHOUT ROWID;
  INSERT INTO settings SELECT '', 'usage since', CAST(unixepoch('subsec') * 1000 AS INTEGER)
    WHERE EXISTS (SELECT 1 FROM families WHERE tokens > 0);
  `,
  `
  -- Prompts that come by themselves: at a time, which is next_at, or with a webhook.
  CREATE TABLE schedules (
    agent INTEGER NOT NULL,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    input TEXT NOT NULL,
    writer TEXT NOT NULL,
    next_at INTEGER,
    last TEXT,
    PRIMARY KEY (agent, name)
  ) WITHOUT ROWID;
  CREATE INDEX schedules_by_time ON schedules (next_at) WHERE next_at IS NOT NULL;
  `,
]
