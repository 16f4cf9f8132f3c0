// The step chains of gates that share a store. One statement takes the id of the request, computes the hash by the
// head that it finds, and moves the head: two gates that write to one chain wait for each other at its row.

import { STEP_CHAINS_KEPT_MS, STEP_IDS_KEPT_MS, STEPS_SWEPT_EVERY } from '../limits.ts'
import type { ChainedStep, StepChains, StepEntry } from '../step-chains.ts'
import type { PostgresConnections } from './connections.ts'

export const STEP_TABLES = `
  CREATE TABLE sluice.step_chains (
    chain text PRIMARY KEY,
    head bytea NOT NULL,
    previous bytea,
    at timestamptz NOT NULL
  );
  CREATE TABLE sluice.steps (
    chain text NOT NULL,
    request text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (chain, request)
  );
  CREATE INDEX steps_at ON sluice.steps (at);
`

const APPEND = `WITH fresh AS (
    INSERT INTO sluice.steps (chain, request, at) VALUES ($1, $2, now()) ON CONFLICT DO NOTHING RETURNING chain
  )
  INSERT INTO sluice.step_chains AS c (chain, head, at) SELECT fresh.chain, sha256($3::bytea), now() FROM fresh
  ON CONFLICT (chain) DO UPDATE SET previous = c.head, head = sha256($3::bytea || c.head), at = now()
  RETURNING encode(head, 'hex') AS head, encode(previous, 'hex') AS previous`
const SWEEP = `WITH old AS (DELETE FROM sluice.step_chains WHERE at < now() - interval '${STEP_CHAINS_KEPT_MS} ms')
  DELETE FROM sluice.steps WHERE at < now() - interval '${STEP_IDS_KEPT_MS} ms'`

export class PostgresStepChains implements StepChains {
  readonly #connections: PostgresConnections
  #appended = 0

  constructor(connections: PostgresConnections) {
    this.#connections = connections
  }

  async append({ chain, request, content }: ChainedStep): Promise<StepEntry | undefined> {
    const values = [chain, request, Buffer.from(content)]
    const [row] = await this.#connections.query(APPEND, values)
    this.#appended += 1
    if (this.#appended % STEPS_SWEPT_EVERY === 0)
      // What is not deleted now is deleted the next time.
      await this.#connections.query(SWEEP).catch(() => {})
    if (row === undefined) return undefined
    const previous = row.previous === null ? undefined : String(row.previous)
    return { hash: String(row.head), previous }
  }
}
