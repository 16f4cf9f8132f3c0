// What is frozen: everything, a server, a principal or an agent. Nothing is forwarded for it until a
// person thaws it. Kept in gate.db, so that a restart thaws nothing; asked by the call path before every
// call, and by the relay before every message.

import type { DatabaseSync } from 'node:sqlite'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { FREEZES_MAX } from './limits.ts'

export const SCOPES = ['all', 'server', 'principal', 'agent', 'session'] as const
export type FreezeScope = (typeof SCOPES)[number]

export interface Freeze {
  readonly scope: FreezeScope
  /** Empty if everything is frozen. */
  readonly id: string
  readonly atMs: number
  readonly why: string
}

/** Who asks, and what for. */
export interface FreezeTarget {
  readonly server: string
  readonly principal: string
  readonly agent: string | null
  readonly session?: string | undefined
}

export class FreezeStore {
  readonly #store: DatabaseSync
  readonly #freezes = new Map<string, Freeze>()
  /** Held, and not stored yet. */
  readonly #unsaved = new Map<string, Freeze>()

  constructor(store: DatabaseSync) {
    this.#store = store
    this.reload()
  }

  /** Reads what is stored; another gate may have written it. */
  reload(): void {
    this.#freezes.clear()
    for (const [key, frozen] of this.#unsaved) this.#freezes.set(key, frozen)
    for (const frozen of readFreezes(this.#store)) this.#freezes.set(toFreezeKey(frozen), frozen)
  }

  get list(): readonly Freeze[] {
    return [...this.#freezes.values()]
  }

  get isEmpty(): boolean {
    return this.#freezes.size === 0
  }

  /** Why it may not go on; undefined if nothing of it is frozen. */
  of({ server, principal, agent, session }: FreezeTarget): Freeze | undefined {
    if (this.isEmpty) return undefined
    return (
      this.find('all', '') ??
      this.find('server', server) ??
      this.find('principal', principal) ??
      (agent === null ? undefined : this.find('agent', agent)) ??
      (session === undefined ? undefined : this.find('session', session))
    )
  }

  /** Holds from here on; `keep` makes it last. */
  hold(frozen: Freeze): void {
    const key = toFreezeKey(frozen)
    if (this.#freezes.size >= FREEZES_MAX && !this.#freezes.has(key))
      throw new OperationError(
        `${FREEZES_MAX} things are frozen already`,
        'freeze everything with `sluice freeze`, or thaw what may go on',
      )
    this.#freezes.set(key, frozen)
    this.#unsaved.set(key, frozen)
  }

  /** Throws if it cannot be written: then a restart would thaw it. */
  keep({ scope, id, atMs, why }: Freeze): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO freezes VALUES (?, ?, ?, ?)')
      .run(scope, id, atMs, why)
    this.#unsaved.delete(toFreezeKey({ scope, id }))
  }

  find(scope: FreezeScope, id: string): Freeze | undefined {
    return this.#freezes.get(toFreezeKey({ scope, id }))
  }

  /** Written before it takes effect. */
  thaw(frozen: Freeze): void {
    const { scope, id } = frozen
    this.#store.prepare('DELETE FROM freezes WHERE scope = ? AND id = ?').run(scope, id)
    const key = toFreezeKey(frozen)
    this.#freezes.delete(key)
    this.#unsaved.delete(key)
  }
}

export function readFreezes(store: DatabaseSync): Freeze[] {
  return store
    .prepare('SELECT scope, id, at, why FROM freezes ORDER BY at')
    .all()
    .map(({ scope, id, at, why }) => ({
      scope: scope as FreezeScope,
      id: String(id),
      atMs: Number(at),
      why: String(why),
    }))
}

/** `the gate`, `the server \`notes\``. */
export function describeFreezeTarget({ scope, id }: Pick<Freeze, 'scope' | 'id'>): string {
  return scope === 'all' ? 'the gate' : `the ${scope} \`${id}\``
}

/** The reply to a caller. */
export function frozenReason(frozen: Freeze): string {
  const why = frozen.why === '' ? '' : ` (${frozen.why})`
  return `${describeFreezeTarget(frozen)} is frozen${why}: nothing is forwarded until a person runs \`sluice freeze --lift\``
}

function toFreezeKey({ scope, id }: Pick<Freeze, 'scope' | 'id'>): string {
  return `${scope}\n${id}`
}
