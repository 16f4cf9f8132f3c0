// The alerts of gates that share a store. A person who may write to the database, and does not have the key
// of the cluster, could let gates send any message, or keep them from sending one: every row has an
// authentication code, and one without it is removed: it is neither listed nor told, and keeps no alert back.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { AlertRow, AlertRows, ListedAlertRow } from '../alert-rows.ts'
import { ALERT_CLAIM_MS, ALERTS_KEPT, ALERTS_TAKEN_MAX, GATE_GONE_MS } from '../limits.ts'
import type { Queryable, Row } from './connections.ts'

/** `told`: the message about this state was sent; otherwise a gate has claimed it. */
export const ALERT_TABLES = `
  CREATE TABLE sluice.alerts (
    id text PRIMARY KEY,
    gate text NOT NULL,
    at_ms bigint NOT NULL,
    body text NOT NULL,
    open boolean NOT NULL,
    told boolean NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT now(),
    mac bytea NOT NULL
  );
  CREATE TABLE sluice.alert_facts (
    fact bytea PRIMARY KEY,
    alert text NOT NULL REFERENCES sluice.alerts ON DELETE CASCADE
  );
  CREATE INDEX alert_facts_alert ON sluice.alert_facts (alert);
`

const LIST = `SELECT a.*, g.gate IS NOT NULL AS is_live FROM sluice.alerts a LEFT JOIN sluice.gates g
    ON g.gate = a.gate AND g.state <> 'stopped' AND g.beat_at > now() - interval '${GATE_GONE_MS} ms'
  ORDER BY a.at_ms DESC`
/** Facts in one order, so that two gates do not wait for each other. */
const ADD = `WITH added AS (
    INSERT INTO sluice.alerts (id, gate, at_ms, body, open, told, mac) VALUES ($1, $2, $3, $4, $5, false, $6)
    RETURNING id
  )
  INSERT INTO sluice.alert_facts SELECT decode(f.fact, 'hex'), added.id
    FROM added, unnest($7::text[]) AS f(fact) ORDER BY 1`
const PUT = `WITH put AS (
    INSERT INTO sluice.alerts AS a (id, gate, at_ms, body, open, told, mac) VALUES ($1, $2, $3, $4, $5, true, $6)
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, open = excluded.open, told = true, mac = excluded.mac
    RETURNING id
  )
  INSERT INTO sluice.alert_facts SELECT decode(f.fact, 'hex'), put.id
    FROM put, unnest($7::text[]) AS f(fact) ORDER BY 1 ON CONFLICT DO NOTHING`
const TAKEN = `SELECT encode(f.fact, 'hex') AS fact, a.* FROM sluice.alert_facts f
  JOIN sluice.alerts a ON a.id = f.alert WHERE f.fact IN (SELECT decode(unnest($1::text[]), 'hex'))`
const FORGET = 'DELETE FROM sluice.alerts WHERE id = ANY($1)'
const END = `WITH ended AS (
    UPDATE sluice.alerts SET body = $2, mac = $3, open = false, told = $4, claimed_at = now()
    WHERE id = $1 AND open RETURNING id
  ), freed AS (DELETE FROM sluice.alert_facts WHERE alert = $1)
  SELECT id FROM ended`
const TOLD = 'UPDATE sluice.alerts SET body = $2, mac = $3, told = true WHERE id = $1 AND open = $4'
const TAKE_OVER = `UPDATE sluice.alerts SET claimed_at = now() WHERE id IN (
    SELECT id FROM sluice.alerts WHERE NOT told AND id <> ALL($1)
      AND claimed_at < now() - interval '${ALERT_CLAIM_MS} ms'
    ORDER BY at_ms LIMIT ${ALERTS_TAKEN_MAX} FOR UPDATE SKIP LOCKED)
  RETURNING *`
const DROP = `DELETE FROM sluice.alerts WHERE told AND id IN (
  SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY open ORDER BY at_ms DESC) AS place FROM sluice.alerts) a
  WHERE place > ${ALERTS_KEPT})`

const UNIQUE_VIOLATION = '23505'
const CLAIM_TRIES = 3

export interface PostgresAlertRowsParts {
  readonly connections: Queryable
  /** 32 bytes, derived from the cluster's key. */
  readonly key: Buffer
}

export class PostgresAlertRows implements AlertRows {
  readonly #parts: PostgresAlertRowsParts

  constructor(parts: PostgresAlertRowsParts) {
    this.#parts = parts
  }

  async list(): Promise<readonly ListedAlertRow[]> {
    const rows = await this.#select(LIST)
    return rows.map((row) => ({ ...toRow(row), isGateLive: row.is_live === true }))
  }

  async add(row: AlertRow, facts: readonly string[]): Promise<readonly string[]> {
    const { connections } = this.#parts
    const digests = facts.map(digestFact)
    for (let tries = CLAIM_TRIES; ; tries--) {
      try {
        await connections.query(ADD, [...this.#values(row), digests])
        await connections.query(DROP)
        return []
      } catch (error) {
        if ((error as { code?: string }).code !== UNIQUE_VIOLATION || tries === 0) throw error
      }
      const taken = await this.#findTaken(digests)
      // None: the other alert has ended in between.
      if (taken.size > 0) return facts.filter((_, at) => taken.has(digests[at] as string))
    }
  }

  async put(row: AlertRow, facts: readonly string[]): Promise<void> {
    const claimed = row.isOpen ? facts.map(digestFact) : []
    await this.#parts.connections.query(PUT, [...this.#values(row), claimed])
    await this.#parts.connections.query(DROP)
  }

  async end(row: AlertRow, isSilent: boolean): Promise<boolean> {
    const values = [row.id, row.body, this.#code(row), isSilent]
    return (await this.#parts.connections.query(END, values)).length > 0
  }

  async told(row: AlertRow): Promise<void> {
    const values = [row.id, row.body, this.#code(row), row.isOpen]
    await this.#parts.connections.query(TOLD, values)
  }

  async takeOver(own: readonly string[]): Promise<readonly AlertRow[]> {
    return (await this.#select(TAKE_OVER, [own])).map(toRow)
  }

  async #findTaken(digests: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set((await this.#select(TAKEN, [digests])).map(({ fact }) => String(fact)))
  }

  /** Those that were written with the key; the others are removed. */
  async #select(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const { connections } = this.#parts
    const rows = await connections.query(text, values)
    const forged = rows.filter((row) => !this.#isAuthentic(row))
    if (forged.length === 0) return rows
    await connections.query(FORGET, [forged.map(({ id }) => String(id))])
    return rows.filter((row) => !forged.includes(row))
  }

  #values(row: AlertRow): unknown[] {
    const { id, gate, atMs, body, isOpen } = row
    return [id, gate, atMs, body, isOpen, this.#code(row)]
  }

  #code({ id, gate, atMs, body, isOpen }: AlertRow): Buffer {
    const text = JSON.stringify(['alert', id, gate, atMs, body, isOpen])
    return createHmac('sha256', this.#parts.key).update(text).digest()
  }

  #isAuthentic(row: Row): boolean {
    const [code, found] = [this.#code(toRow(row)), row.mac as Buffer]
    return found.length === code.length && timingSafeEqual(code, found)
  }
}

function toRow({ id, gate, at_ms, body, open }: Row): AlertRow {
  const [atMs, isOpen] = [Number(at_ms), open === true]
  return { id: String(id), gate: String(gate), atMs, body: String(body), isOpen }
}

/** An index has a limit on the length of its keys, and facts contain names of foreign tools. */
function digestFact(fact: string): string {
  return createHash('sha256').update(fact).digest('hex')
}
