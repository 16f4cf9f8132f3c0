// What agents need of the store that gates share: handed by the gate to the service that runs them.

import type { PostgresAddress } from './address.ts'
import type { Queryable } from './connections.ts'

export type GateAnswer = Buffer | 'gone' | 'unknown'

export interface SharedAgents {
  readonly address: PostgresAddress
  /** The name of this gate. */
  readonly gate: string
  readonly connections: Queryable
  /** Of the cluster: the seed of the key of bundles. */
  readonly bundleSeed: Uint8Array
  /** Asks another gate and resolves with its answer. `gone`: nothing was sent. `unknown`: it was sent, and the gate went
   * away. Rejects if the gate does not understand it. */
  readonly ask: (gate: string, body: Buffer, signal: AbortSignal) => Promise<GateAnswer>
  /** Answers other gates, while the agents run here. */
  serve?: ((body: Buffer) => Promise<Uint8Array>) | undefined
  /** What is wrong with the clock of this gate: others run its agents until it is right. */
  readonly clockFault: () => string | undefined
}
