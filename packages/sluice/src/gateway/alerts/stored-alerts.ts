// The alerts that the console lists, in gate.db: a person who was told of something finds it there after
// a restart, and a gate that restarts often sends no more than one that runs.

import type { DatabaseSync } from 'node:sqlite'
import type { ListedAlert } from './alerts.ts'

const LIST = 'SELECT alert FROM alerts ORDER BY at DESC'
const SAVE = 'INSERT OR REPLACE INTO alerts VALUES (?, ?, ?)'
const DROP = 'DELETE FROM alerts WHERE id NOT IN (SELECT value FROM json_each(?))'

export class StoredAlerts {
  readonly #store: DatabaseSync

  constructor(store: DatabaseSync) {
    this.#store = store
  }

  /** The newest first. */
  load(): ListedAlert[] {
    const rows = this.#store.prepare(LIST).all()
    return rows.map(({ alert }) => JSON.parse(String(alert)) as ListedAlert)
  }

  /** Without its subjects: whether it is ongoing is not known to a gate that has just started. */
  save({ subjects: _, ...alert }: ListedAlert, kept: readonly ListedAlert[]): void {
    this.#store.prepare(SAVE).run(alert.id, alert.atMs, JSON.stringify(alert))
    this.#store.prepare(DROP).run(JSON.stringify(kept.map(({ id }) => id)))
  }
}
