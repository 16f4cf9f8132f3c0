// The step chains of a gate that shares no store, in its gate.db.

import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { asBuffer } from '../as-buffer.ts'
import { STEP_CHAINS_KEPT_MS, STEP_IDS_KEPT_MS, STEPS_SWEPT_EVERY } from '../limits.ts'
import type { ChainedStep, StepChains, StepEntry } from '../step-chains.ts'
import { inTransaction } from './in-transaction.ts'

export const STEP_TABLES = `
  CREATE TABLE step_chains (chain TEXT PRIMARY KEY, head BLOB NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE steps (
    chain TEXT NOT NULL,
    request TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (chain, request)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX steps_at ON steps (at);`

const NOTE = 'INSERT OR IGNORE INTO steps (chain, request, at) VALUES (?, ?, ?)'
const HEAD = 'SELECT head FROM step_chains WHERE chain = ?'
const PUT = 'INSERT OR REPLACE INTO step_chains (chain, head, at) VALUES (?, ?, ?)'
const SWEEP = 'DELETE FROM steps WHERE at < ?'
const SWEEP_CHAINS = 'DELETE FROM step_chains WHERE at < ?'

export class SqliteStepChains implements StepChains {
  readonly #store: DatabaseSync
  readonly #nowMs: () => number
  #appended = 0

  constructor(store: DatabaseSync, nowMs: () => number) {
    this.#store = store
    this.#nowMs = nowMs
  }

  async append({ chain, request, content }: ChainedStep): Promise<StepEntry | undefined> {
    const nowMs = Math.round(this.#nowMs())
    return inTransaction(this.#store, () => {
      if (Number(this.#store.prepare(NOTE).run(chain, request, nowMs).changes) === 0)
        return undefined
      const row = this.#store.prepare(HEAD).get(chain)
      const previous = row === undefined ? undefined : asBuffer(row.head as Uint8Array)
      const hash = createHash('sha256')
        .update(content)
        .update(previous ?? '')
      const head = hash.digest()
      this.#store.prepare(PUT).run(chain, head, nowMs)
      this.#appended += 1
      if (this.#appended % STEPS_SWEPT_EVERY === 0) {
        this.#store.prepare(SWEEP).run(nowMs - STEP_IDS_KEPT_MS)
        this.#store.prepare(SWEEP_CHAINS).run(nowMs - STEP_CHAINS_KEPT_MS)
      }
      return { hash: head.toString('hex'), previous: previous?.toString('hex') }
    })
  }
}
