// Quota of server processes, over every front. If it is used up, a session that can do without its
// process gives it up (the session stays), and the next one waits in order, for a stated time. Used by
// the upstreams before they start a process.

import { totalmem } from 'node:os'
import { type Evictable, type EvictionCandidate, pickEvictable } from './evict-idle.ts'
import {
  PROCESS_BYTES_TYPICAL,
  PROCESS_MEMORY_SHARE,
  PROCESSES_MAX_MAX,
  PROCESSES_MAX_MIN,
} from './limits.ts'

/** The place of one process. */
export interface ProcessLease {
  /** Nothing of the process is left. */
  ended(): void
}

export interface ProcessQuotaOptions {
  readonly max: number
  readonly waitMs: number
}

interface Waiter {
  readonly holder: EvictionCandidate
  readonly admit: (place: ProcessLease) => void
}

const GAVE_PLACE = 'its place was needed for another process'

export class ProcessQuota {
  readonly #options: ProcessQuotaOptions
  readonly #holders = new Map<ProcessLease, EvictionCandidate>()
  /** Told to end, and not ended yet. */
  readonly #leaving = new Set<EvictionCandidate>()
  readonly #waiters: Waiter[] = []

  constructor(options: ProcessQuotaOptions) {
    this.#options = options
  }

  /** Rejects where no place is free in time. `owner` is the id of the principal. */
  enter(client: Evictable, owner: string): Promise<ProcessLease> {
    const holder = { client, owner }
    if (this.#holders.size < this.#options.max && this.#waiters.length === 0)
      return Promise.resolve(this.#take(holder))
    return new Promise((resolve, reject) => {
      const waiter = {
        holder,
        admit: (place: ProcessLease) => {
          clearTimeout(patience)
          resolve(place)
        },
      }
      const patience = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        const { max, waitMs } = this.#options
        reject(
          new Error(
            `all ${max} processes of servers are in use, and none ended within ${waitMs} ms: end a client that nobody needs, or raise \`processes: { max }\` in sluice.yaml`,
          ),
        )
      }, this.#options.waitMs)
      patience.unref()
      this.#waiters.push(waiter)
      this.#makeRoom()
    })
  }

  /** Somebody may have become able to do without their process. */
  look(): void {
    if (this.#waiters.length > 0) this.#makeRoom()
  }

  #take(holder: EvictionCandidate): ProcessLease {
    const place: ProcessLease = {
      ended: () => {
        if (!this.#holders.delete(place)) return
        this.#leaving.delete(holder)
        const next = this.#waiters.shift()
        next?.admit(this.#take(next.holder))
      },
    }
    this.#holders.set(place, holder)
    return place
  }

  /** One process for each that waits, and no more. */
  #makeRoom(): void {
    while (this.#leaving.size < this.#waiters.length) {
      const staying = [...this.#holders.values()].filter((holder) => !this.#leaving.has(holder))
      const gives = pickEvictable(staying)
      const candidate = staying.find(({ client }) => client === gives)
      if (gives === undefined || candidate === undefined) return
      this.#leaving.add(candidate)
      gives.close(GAVE_PLACE)
    }
  }
}

/** By the memory that there is, which in a container is the container's (cgroup). */
export function defaultProcessesMax(
  memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
): number {
  const fitting = Math.floor((memoryBytes * PROCESS_MEMORY_SHARE) / PROCESS_BYTES_TYPICAL)
  return Math.min(PROCESSES_MAX_MAX, Math.max(PROCESSES_MAX_MIN, fitting))
}
