// A map of small facts that the gate shows again after a restart: definitions that wait for a person, the last
// failure of each server. Stored in gate.db as JSON, those of one turn of the event loop in one transaction.

import type { DatabaseSync } from 'node:sqlite'
import { inTransaction } from '@sluice/ledger/store/sqlite/in-transaction'
import type { Log } from '../shared/log.ts'

export interface StoredMapOptions {
  readonly store: DatabaseSync
  /** Which map of the table it is. */
  readonly kind: string
  readonly log: Log
}

export class StoredMap<Value> extends Map<string, Value> {
  readonly #options: StoredMapOptions
  /** Undefined: deleted. */
  readonly #waiting = new Map<string, Value | undefined>()

  constructor(options: StoredMapOptions) {
    super()
    this.#options = options
    const read = options.store.prepare('SELECT id, note FROM notes WHERE kind = ?')
    for (const { id, note } of read.all(options.kind))
      super.set(String(id), JSON.parse(String(note)) as Value)
  }

  override set(id: string, value: Value): this {
    this.#note(id, value)
    return super.set(id, value)
  }

  override delete(id: string): boolean {
    if (this.has(id)) this.#note(id, undefined)
    return super.delete(id)
  }

  override clear(): void {
    for (const id of [...this.keys()]) this.delete(id)
  }

  #note(id: string, value: Value | undefined): void {
    if (this.#waiting.size === 0) queueMicrotask(() => this.#flush())
    this.#waiting.set(id, value)
  }

  #flush(): void {
    const { store, kind, log } = this.#options
    const notes = [...this.#waiting]
    this.#waiting.clear()
    try {
      const put = store.prepare('INSERT OR REPLACE INTO notes VALUES (?, ?, ?)')
      const drop = store.prepare('DELETE FROM notes WHERE kind = ? AND id = ?')
      inTransaction(store, () => {
        for (const [id, value] of notes)
          if (value === undefined) drop.run(kind, id)
          else put.run(kind, id, JSON.stringify(value))
      })
    } catch (error) {
      log('warn', 'notes of the gate were not stored', { kind, why: (error as Error).message })
    }
  }
}
