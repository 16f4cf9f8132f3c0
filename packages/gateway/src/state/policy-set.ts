// The documents a gate judges by: each caller is bound by exactly one, found by its name. A name that
// nothing has is deny-all: a slip in a grant opens nothing.

import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { LOCAL_POLICY } from '../config/grants.ts'

export interface BoundPolicy {
  readonly policy: CompiledPolicy
  /** Name and digest, for the record. */
  readonly id: string
}

export class PolicySet {
  readonly #byName: ReadonlyMap<string, BoundPolicy>
  readonly #denyAll: BoundPolicy

  /** `named` has the local user's under `policy`. */
  constructor(named: ReadonlyMap<string, BoundPolicy>, denyAll: BoundPolicy) {
    this.#byName = named
    this.#denyAll = denyAll
  }

  of(name: string): BoundPolicy {
    return this.#byName.get(name) ?? this.#denyAll
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  get local(): BoundPolicy {
    return this.of(LOCAL_POLICY)
  }

  get all(): readonly CompiledPolicy[] {
    return [...this.#byName.values()].map(({ policy }) => policy)
  }
}
