// How many servers may be processes at once, over every front: a process for each session with each
// such server. Where all are in use, a session makes room; where none can be spared, there is none.
// Asked by the gate before it starts a process.

import { PROCESS_SESSIONS_MAX, PROCESSES_MAX } from '../limits.ts'
import { type Guest, type Held, MADE_ROOM, sparest } from '../make-room.ts'

/** The place of one process. */
export interface Place {
  /** Its session no longer needs it. */
  leave(): void
  /** Nothing of it is left. */
  ended(): void
}

export class ProcessRoom {
  readonly #held = new Map<Place, Held>()
  /** Processes that are there, also those that only have to end. */
  #living = 0

  /** Undefined where all are in use. `owner` is the id of the principal. */
  take(client: Guest, owner: string): Place | undefined {
    if (this.#held.size >= PROCESS_SESSIONS_MAX) sparest([...this.#held.values()])?.close(MADE_ROOM)
    if (this.#held.size >= PROCESS_SESSIONS_MAX || this.#living >= PROCESSES_MAX) return undefined
    this.#living += 1
    const place: Place = {
      leave: () => void this.#held.delete(place),
      ended: () => {
        this.#held.delete(place)
        this.#living -= 1
      },
    }
    this.#held.set(place, { client, owner })
    return place
  }
}
