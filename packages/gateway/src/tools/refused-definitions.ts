// Definitions of tools that a person refused: who, when and why, by the digest of just that definition.
// Kept in gate.db, so that it holds over restarts, and until somebody accepts it after all. Used by
// pins.ts alone.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { prepareAll } from '@sluice/ledger/store/sqlite/prepare'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { REFUSALS_MAX } from './limits.ts'

export interface DefinitionRefusal {
  readonly by: string
  readonly why: string
  readonly atMs: number
}

const STATEMENTS = {
  readAll: 'SELECT * FROM refusals ORDER BY at',
  put: 'INSERT OR REPLACE INTO refusals VALUES (?, ?, ?, ?, ?, ?)',
  drop: 'DELETE FROM refusals WHERE server = ? AND name = ? AND digest = ?',
} as const

export class RefusedDefinitions {
  readonly #statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>
  readonly #refusals = new LruMap<string, DefinitionRefusal>(REFUSALS_MAX)

  constructor(store: DatabaseSync) {
    this.#statements = prepareAll(store, STATEMENTS)
    this.reload()
  }

  /** Reads what is stored; another gate may have written it. */
  reload(): void {
    this.#refusals.clear()
    for (const { server, name, digest, by, why, at } of this.#statements.readAll.all())
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
    this.#statements.put.run(server, name, digest, by, why, atMs)
    // A server that lists another definition every minute must not fill the disk.
    if (oldest !== undefined) this.#forget(oldest)
  }

  delete(server: string, name: string, digest: string): void {
    const key = toDefinitionKey(server, name, digest)
    if (this.#refusals.has(key)) this.#forget(key)
  }

  #forget(key: string): void {
    this.#refusals.delete(key)
    this.#statements.drop.run(...(JSON.parse(key) as [string, string, string]))
  }
}

function toDefinitionKey(server: string, name: string, digest: string): string {
  return JSON.stringify([server, name, digest])
}
