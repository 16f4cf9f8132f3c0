// Work that one gate of a cluster does at a time: a lease in the shared store, which ends by itself if the
// gate dies. A gate that was stopped for longer than its lease must not begin the work: `isHeld` tells.

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../errors.ts'
import { LEASE_LOOK_MS, LEASE_MS, LEASE_WAIT_MS_MAX } from '../limits.ts'
import type { PostgresConnections } from './connections.ts'
import { digestOwner } from './session-rows.ts'
import { END_LEASE, TAKE_LEASE } from './statements.ts'

export interface Lease {
  /** By the monotonic clock of this process, counted from before it was taken. */
  isHeld(): boolean
}

export class Leases {
  readonly #connections: PostgresConnections
  readonly #gate: string

  constructor(connections: PostgresConnections, gate: string) {
    this.#connections = connections
    this.#gate = gate
  }

  /** Waits until no other gate does it. */
  async run<Result>(name: string, work: (lease: Lease) => Promise<Result>): Promise<Result> {
    const key = Buffer.from(digestOwner(name), 'latin1')
    const endMs = performance.now() + LEASE_WAIT_MS_MAX
    for (;;) {
      const beganMs = performance.now()
      const rows = await this.#connections.query(TAKE_LEASE, [key, this.#gate, LEASE_MS])
      if (rows.length > 0) {
        try {
          // A margin for clocks that do not run alike.
          return await work({ isHeld: () => performance.now() - beganMs < LEASE_MS * 0.9 })
        } finally {
          await this.#connections.query(END_LEASE, [key, this.#gate]).catch(() => {})
        }
      }
      if (beganMs > endMs)
        throw new StoreError(
          'STORE_CONFLICT',
          `another gate has been doing the same for more than ${LEASE_WAIT_MS_MAX} ms: ${name}`,
          'try again',
        )
      await sleep(LEASE_LOOK_MS)
    }
  }
}
