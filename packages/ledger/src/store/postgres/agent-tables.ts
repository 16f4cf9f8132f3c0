// The tables of agents in a shared store, in the schema `sluice_agents`: the same rows as in agents.db, so that
// one journal runs on both, and what several gates need besides. A lease belongs to one process; a family
// belongs to the gate that has its lease, and to nobody if that lease is gone. Applied by migrate.ts.

export const AGENT_TABLES = `
  CREATE SCHEMA sluice_agents;
  CREATE TABLE sluice_agents.leases (
    lease uuid PRIMARY KEY,
    gate text NOT NULL,
    beat_at timestamptz NOT NULL DEFAULT now(),
    -- Of the database on which it was taken: a failover may have lost steps.
    timeline text NOT NULL DEFAULT ''
  ) WITH (fillfactor = 50);
  -- Only gates of version 0.1 use it.
  CREATE TABLE sluice_agents.requests (
    id uuid PRIMARY KEY,
    lease uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    body bytea NOT NULL,
    is_taken boolean NOT NULL DEFAULT false,
    reply bytea
  );
  CREATE INDEX requests_waiting ON sluice_agents.requests (lease) WHERE NOT is_taken;

  -- A gate takes a thousand keys at a time, so that keys of one statement follow one another.
  CREATE SEQUENCE sluice_agents.keys INCREMENT BY 1000;

  CREATE TABLE sluice_agents.images (hash text PRIMARY KEY, bytes bytea NOT NULL);
  CREATE TABLE sluice_agents.families (
    family bigint PRIMARY KEY,
    turns bigint NOT NULL DEFAULT 0,
    tokens bigint NOT NULL DEFAULT 0,
    cost_micros double precision NOT NULL DEFAULT 0,
    calls bigint NOT NULL DEFAULT 0,
    limits text NOT NULL,
    price text NOT NULL,
    members bigint NOT NULL DEFAULT 0,
    owner text NOT NULL DEFAULT '',
    labels text NOT NULL DEFAULT '[]',
    removed_at bigint,
    lease uuid
  ) WITH (fillfactor = 70);
  CREATE INDEX families_removed ON sluice_agents.families (owner, removed_at) WHERE removed_at IS NOT NULL;
  CREATE INDEX families_labelled ON sluice_agents.families (owner) WHERE labels <> '[]';
  CREATE TABLE sluice_agents.agents (
    agent bigint PRIMARY KEY,
    id text NOT NULL UNIQUE,
    owner text NOT NULL,
    family bigint NOT NULL,
    depth int NOT NULL,
    image text NOT NULL,
    created_at bigint NOT NULL,
    seq bigint NOT NULL,
    asked text NOT NULL,
    model text NOT NULL,
    template text,
    grants text NOT NULL,
    state text NOT NULL,
    summary text NOT NULL,
    wake_at bigint,
    host_stop text,
    journal_bytes bigint NOT NULL DEFAULT 0,
    price text NOT NULL DEFAULT 'null',
    paused_at bigint
  ) WITH (fillfactor = 70);
  CREATE INDEX agents_by_owner ON sluice_agents.agents (owner, agent);
  CREATE INDEX agents_by_family ON sluice_agents.agents (family);
  CREATE INDEX agents_by_wake ON sluice_agents.agents (wake_at) WHERE wake_at IS NOT NULL;
  CREATE TABLE sluice_agents.events (
    agent bigint NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    turn bigint NOT NULL,
    event text NOT NULL,
    bytes bytea,
    answer bytea,
    nonce text,
    PRIMARY KEY (agent, seq)
  );
  CREATE TABLE sluice_agents.memories (memory bigint PRIMARY KEY, bytes bytea NOT NULL);
  CREATE TABLE sluice_agents.memory_answers (memory bigint PRIMARY KEY, at_rest text, forked text);
  CREATE TABLE sluice_agents.checkpoints (
    agent bigint NOT NULL,
    seq bigint NOT NULL,
    image text NOT NULL,
    memory bigint NOT NULL,
    PRIMARY KEY (agent, seq)
  );
  CREATE INDEX checkpoints_by_memory ON sluice_agents.checkpoints (memory);
  CREATE TABLE sluice_agents.runs (
    agent bigint NOT NULL,
    run text COLLATE "C" NOT NULL,
    request text,
    started_at bigint NOT NULL,
    result text,
    PRIMARY KEY (agent, run)
  );
  CREATE UNIQUE INDEX runs_by_request ON sluice_agents.runs (agent, request) WHERE request IS NOT NULL;
  CREATE TABLE sluice_agents.effects (
    agent bigint NOT NULL,
    effect text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    started_at bigint,
    ticket text,
    PRIMARY KEY (agent, effect)
  );
  CREATE TABLE sluice_agents.program_events (
    agent bigint NOT NULL,
    effect text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (agent, effect, seq)
  );
  CREATE TABLE sluice_agents.templates (
    owner text NOT NULL,
    id text NOT NULL,
    template text NOT NULL,
    PRIMARY KEY (owner, id)
  );
  CREATE TABLE sluice_agents.settings (
    owner text NOT NULL,
    name text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (owner, name)
  );
  -- What models took in a minute or an hour.
  CREATE TABLE sluice_agents.model_usage (
    span bigint NOT NULL,
    start_at bigint NOT NULL,
    model text COLLATE "C" NOT NULL,
    writer text COLLATE "C" NOT NULL,
    model_calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_nanos bigint NOT NULL,
    PRIMARY KEY (span, start_at, model, writer)
  ) WITH (fillfactor = 70);
`

/** Prompts of agents that come by themselves, at a time or with a webhook. */
export const SCHEDULE_TABLES = `
  CREATE TABLE sluice_agents.schedules (
    agent bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    plan text NOT NULL,
    input text NOT NULL,
    writer text NOT NULL,
    next_at bigint,
    last text,
    PRIMARY KEY (agent, name)
  );
  CREATE INDEX schedules_by_time ON sluice_agents.schedules (next_at) WHERE next_at IS NOT NULL;
`
