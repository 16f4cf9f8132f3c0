// The place of a session's process in the quota of processes. The link waits here for the place, gives the process
// up if another session needs it, and gives a process that is to be replaced a bounded time to answer.

import { SERVER_DRAIN_MS } from '../../config/limits.ts'
import type { Evictable } from '../../processes/evict-idle.ts'
import type { ProcessLease } from '../../processes/process-quota.ts'

export interface ProcessPlaces {
  /** Waits for the quota of processes. Rejects if it stays used up for too long. */
  readonly enter: (user: Evictable) => Promise<ProcessLease>
  /** How easily the session can do without its process. Undefined if it cannot at present. */
  readonly spare: () => number | undefined
}

/** The link that the process belongs to. */
export interface PlaceUser {
  /** Whether the process is up and nothing of the session depends on it. */
  readonly isIdle: () => boolean
  /** Gives up the process and keeps the session. Does nothing if the process is in use again. */
  readonly rest: (why: string) => void
}

export class ProcessPlace {
  readonly #places: ProcessPlaces
  readonly #user: Evictable
  #drainTimer: NodeJS.Timeout | undefined

  constructor(places: ProcessPlaces, { isIdle, rest }: PlaceUser) {
    this.#places = places
    this.#user = {
      get spare() {
        return isIdle() ? places.spare() : undefined
      },
      close: rest,
    }
  }

  /** Waits for a place. Rejects with what to tell the client if there is none in time. */
  enter(): Promise<ProcessLease> {
    return this.#places.enter(this.#user)
  }

  /** Calls `onExpired` if the process does not answer what it has within the time limit. */
  startDrain(onExpired: () => void): void {
    this.#drainTimer = setTimeout(onExpired, SERVER_DRAIN_MS).unref()
  }

  endDrain(): void {
    clearTimeout(this.#drainTimer)
  }
}
