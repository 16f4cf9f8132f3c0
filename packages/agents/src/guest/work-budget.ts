// How much the tools of one turn may do together, counted and not timed: it ends at the same place on
// every machine. The core runs in one thread with those of all other agents; patterns and files that a
// model was made to write must not keep them waiting. A unit is about half a microsecond.

import { GuestError } from './guest-error.ts'

/** Units of one event: at most 200 ms on a machine of today, as agents of other owners wait so long. */
const EFFORT_MAX = 300_000

/** And of a question, which asks for a list at most. */
export const QUESTION_EFFORT_MAX = 200_000

export class WorkBudget {
  #left: number

  constructor(most = EFFORT_MAX) {
    this.#left = most
  }

  /** For what is done already: the next to ask finds less. */
  count(units: number): void {
    this.#left -= units
  }

  spend(units: number): void {
    this.count(units)
    if (this.#left < 0)
      throw new GuestError(
        'AGENT_LIMIT',
        'this takes more steps than the tools of one turn have: make it simpler, look at less, or go on in the next turn',
      )
  }
}
