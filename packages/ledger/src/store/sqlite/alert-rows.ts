// The alerts of a gate that shares no store, in its gate.db.

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { AlertRow, AlertRows, ListedAlertRow } from '../alert-rows.ts'
import { ALERTS_KEPT, ALERTS_TAKEN_MAX } from '../limits.ts'

/** `told`: the message about this state was sent. `alert`: the body. */
export const ALERT_TABLES = `
  ALTER TABLE alerts ADD COLUMN gate TEXT NOT NULL DEFAULT '';
  ALTER TABLE alerts ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE alerts ADD COLUMN told INTEGER NOT NULL DEFAULT 1;
  CREATE TABLE alert_facts (
    fact TEXT PRIMARY KEY,
    alert TEXT NOT NULL REFERENCES alerts (id) ON DELETE CASCADE
  ) STRICT;`

const LIST = 'SELECT id, gate, at, alert, open FROM alerts ORDER BY at DESC, rowid DESC'
const PUT = `INSERT OR REPLACE INTO alerts (id, gate, at, alert, open, told)
  VALUES (?, ?, ?, ?, ?, ?)`
const TAKEN = 'SELECT fact FROM alert_facts WHERE fact IN (SELECT value FROM json_each(?))'
const CLAIM = 'INSERT OR IGNORE INTO alert_facts SELECT value, ? FROM json_each(?)'
const FREE = 'DELETE FROM alert_facts WHERE alert NOT IN (SELECT id FROM alerts WHERE open = 1)'
const END = 'UPDATE alerts SET alert = ?, open = 0, told = ? WHERE id = ? AND open = 1'
const TOLD = 'UPDATE alerts SET alert = ?, told = 1 WHERE id = ? AND open = ?'
const UNTOLD = `SELECT id, gate, at, alert, open FROM alerts
  WHERE told = 0 AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY at LIMIT ${ALERTS_TAKEN_MAX}`
const DROP = `DELETE FROM alerts WHERE told = 1 AND id IN (
  SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY open ORDER BY at DESC) AS place FROM alerts)
  WHERE place > ${ALERTS_KEPT})`

export class SqliteAlertRows implements AlertRows {
  readonly #store: DatabaseSync

  constructor(store: DatabaseSync) {
    this.#store = store
  }

  async list(): Promise<readonly ListedAlertRow[]> {
    const rows = this.#store.prepare(LIST).all()
    return rows.map((row) => ({ ...toRow(row), isGateLive: true }))
  }

  async add(row: AlertRow, facts: readonly string[]): Promise<readonly string[]> {
    const taken = this.#store.prepare(TAKEN).all(JSON.stringify(facts))
    if (taken.length > 0) return taken.map(({ fact }) => String(fact))
    this.#write(row, facts, 0)
    return []
  }

  async put(row: AlertRow, facts: readonly string[]): Promise<void> {
    this.#write(row, facts, 1)
  }

  async end({ body, id }: AlertRow, isSilent: boolean): Promise<boolean> {
    const { changes } = this.#store.prepare(END).run(body, isSilent ? 1 : 0, id)
    this.#store.exec(FREE)
    return Number(changes) > 0
  }

  async told({ body, id, isOpen }: AlertRow): Promise<void> {
    this.#store.prepare(TOLD).run(body, id, isOpen ? 1 : 0)
  }

  async takeOver(own: readonly string[]): Promise<readonly AlertRow[]> {
    return this.#store.prepare(UNTOLD).all(JSON.stringify(own)).map(toRow)
  }

  #write(row: AlertRow, facts: readonly string[], told: 0 | 1): void {
    const { id, gate, atMs, body, isOpen } = row
    this.#store.prepare(PUT).run(id, gate, atMs, body, isOpen ? 1 : 0, told)
    if (isOpen) this.#store.prepare(CLAIM).run(id, JSON.stringify(facts))
    this.#store.exec(DROP)
    this.#store.exec(FREE)
  }
}

function toRow({ id, gate, at, alert, open }: Record<string, SQLOutputValue>): AlertRow {
  const [atMs, body] = [Number(at), String(alert)]
  return { id: String(id), gate: String(gate), atMs, body, isOpen: open === 1 }
}
