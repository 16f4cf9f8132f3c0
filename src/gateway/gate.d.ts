import type { Principal } from '../core/call.ts'
import type { Counters, Usage } from '../core/counters.ts'
import { Slots } from '../identity/slots.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import type { GateConfig } from './config.ts'
import type { Link } from './link.ts'
import type { HttpPools } from './upstream/http-pools.ts'
import type { Log } from './upstream/upstream.ts'
import type { Watcher } from './upstream/watcher.ts'
export interface GateParts {
  readonly config: GateConfig
  readonly policy: CompiledPolicy
  /** Name and digest of the policy, for the record. */
  readonly policyId: string
  readonly counters: Counters & Usage
  readonly ledger: Ledger
  readonly watcher: Watcher
  readonly pools: HttpPools
  /** The gate's own files, which no argument may name. */
  readonly ownPaths: readonly string[]
  readonly log: Log
}
/** A client's side of a session; fronts that speak revisions by themselves keep theirs here. */
export type ClientLink = Link & {
  revision?: string
}
export declare class Gate {
  #private
  constructor(parts: GateParts)
  get slots(): Slots
  hasServer(name: string): boolean
  /** Puts the gate between a client's session and a server. */
  open(name: string, client: ClientLink, principal: Principal): void
  close(why: string): Promise<void>
}
