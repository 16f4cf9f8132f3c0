// What is frozen: everything, a server, a principal or an agent. Nothing is forwarded for it until a
// person thaws it. Kept in gate.db, so that a restart thaws nothing; asked by the spine before every
// call, and by the relay before every message.

import type { DatabaseSync } from 'node:sqlite'
import { Refused } from '../../core/operation-error.ts'
import { FREEZES_MAX } from '../shared/limits.ts'

export const SCOPES = ['all', 'server', 'principal', 'agent'] as const
export type Scope = (typeof SCOPES)[number]

export interface Frozen {
  readonly scope: Scope
  /** Empty where everything is frozen. */
  readonly id: string
  readonly atMs: number
  readonly why: string
}

/** Who asks, and what for. */
export interface Concerned {
  readonly server: string
  readonly principal: string
  readonly agent: string | null
}

export class Freezes {
  readonly #store: DatabaseSync
  readonly #held = new Map<string, Frozen>()

  constructor(store: DatabaseSync) {
    this.#store = store
    for (const frozen of readFreezes(store)) this.#held.set(keyOf(frozen), frozen)
  }

  get list(): readonly Frozen[] {
    return [...this.#held.values()]
  }

  /** Why it may not go on; undefined where nothing of it is frozen. */
  of({ server, principal, agent }: Concerned): Frozen | undefined {
    if (this.#held.size === 0) return undefined
    return (
      this.#held.get(keyOf({ scope: 'all', id: '' })) ??
      this.#held.get(keyOf({ scope: 'server', id: server })) ??
      this.#held.get(keyOf({ scope: 'principal', id: principal })) ??
      (agent === null ? undefined : this.#held.get(keyOf({ scope: 'agent', id: agent })))
    )
  }

  /** Holds from here on; `keep` makes it last. */
  hold(frozen: Frozen): void {
    if (this.#held.size >= FREEZES_MAX && !this.#held.has(keyOf(frozen)))
      throw new Refused(
        `${FREEZES_MAX} things are frozen already`,
        'freeze everything with `sluice freeze`, or thaw what may go on',
      )
    this.#held.set(keyOf(frozen), frozen)
  }

  /** Throws where it cannot be written: then a restart would thaw it. */
  keep({ scope, id, atMs, why }: Frozen): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO freezes VALUES (?, ?, ?, ?)')
      .run(scope, id, atMs, why)
  }

  find(scope: Scope, id: string): Frozen | undefined {
    return this.#held.get(keyOf({ scope, id }))
  }

  /** Written before it takes effect. */
  thaw(frozen: Frozen): void {
    const { scope, id } = frozen
    this.#store.prepare('DELETE FROM freezes WHERE scope = ? AND id = ?').run(scope, id)
    this.#held.delete(keyOf(frozen))
  }
}

export function readFreezes(store: DatabaseSync): Frozen[] {
  return store
    .prepare('SELECT scope, id, at, why FROM freezes ORDER BY at')
    .all()
    .map(({ scope, id, at, why }) => ({
      scope: scope as Scope,
      id: String(id),
      atMs: Number(at),
      why: String(why),
    }))
}

/** `the gate`, `the server \`notes\``. */
export function nameOf({ scope, id }: Pick<Frozen, 'scope' | 'id'>): string {
  return scope === 'all' ? 'the gate' : `the ${scope} \`${id}\``
}

/** What a caller is told. */
export function frozenReason(frozen: Frozen): string {
  const why = frozen.why === '' ? '' : ` (${frozen.why})`
  return `${nameOf(frozen)} is frozen${why}: nothing is forwarded until a person runs \`sluice thaw\``
}

function keyOf({ scope, id }: Pick<Frozen, 'scope' | 'id'>): string {
  return `${scope}\n${id}`
}
