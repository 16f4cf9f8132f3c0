// What agents need of the store that gates share: handed by the gate to the service that runs them.

import type { PostgresAddress } from './address.ts'
import type { PostgresConnections } from './connections.ts'

export interface SharedAgents {
  readonly address: PostgresAddress
  /** The name of this gate. */
  readonly gate: string
  readonly connections: Pick<PostgresConnections, 'query'>
  /** Of the cluster: for requests of gates to each other, and the seed of the key of bundles. */
  readonly requestKey: Uint8Array
  readonly bundleSeed: Uint8Array
  /** What is wrong with the clock of this gate: others run its agents until it is right. */
  readonly clockFault: () => string | undefined
}
