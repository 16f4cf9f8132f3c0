// Definitions of tools that a person refused: who, when and why, by the digest of just that definition.
// Kept in gate.db, so that it holds over restarts, and until somebody accepts it after all. Used by
// pins.ts alone.

import type { DatabaseSync } from 'node:sqlite'
import { LruMap } from '../../core/lru-map.ts'
import { REFUSALS_MAX } from './limits.ts'

export interface DefinitionRefusal {
  readonly by: string
  readonly why: string
  readonly atMs: number
}

export class RefusedDefinitions {
  readonly #store: DatabaseSync
  readonly #refusals = new LruMap<string, DefinitionRefusal>(REFUSALS_MAX)

  constructor(store: DatabaseSync) {
    this.#store = store
    this.reload()
  }

  /** Reads what is stored; another gate may have written it. */
  reload(): void {
    this.#refusals.clear()
    const rows = this.#store.prepare('SELECT * FROM refusals ORDER BY at').all()
    for (const { server, name, digest, by, why, at } of rows)
      this.#refusals.set(toDefinitionKey(String(server), String(name), String(digest)), {
        by: String(by),
        why: String(why),
        atMs: Number(at),
      })
  }

  of(server: string, name: string, digest: string): DefinitionRefusal | undefined {
    if (this.#refusals.size === 0) return undefined
    return this.#refusals.get(toDefinitionKey(server, name, digest))
  }

  add(server: string, name: string, digest: string, { by, why, atMs }: DefinitionRefusal): void {
    const oldest = this.#refusals.set(toDefinitionKey(server, name, digest), { by, why, atMs })
    this.#store
      .prepare('INSERT OR REPLACE INTO refusals VALUES (?, ?, ?, ?, ?, ?)')
      .run(server, name, digest, by, why, atMs)
    // A server that lists another definition every minute must not fill the disk.
    if (oldest !== undefined) this.#forget(oldest)
  }

  delete(server: string, name: string, digest: string): void {
    const key = toDefinitionKey(server, name, digest)
    if (this.#refusals.has(key)) this.#forget(key)
  }

  #forget(key: string): void {
    this.#refusals.delete(key)
    this.#store
      .prepare('DELETE FROM refusals WHERE server = ? AND name = ? AND digest = ?')
      .run(...(JSON.parse(key) as [string, string, string]))
  }
}

function toDefinitionKey(server: string, name: string, digest: string): string {
  return JSON.stringify([server, name, digest])
}
