// Memories of programs that wait for a tool or a person, together within a bound: what a program
// remembers is its own to fill, and a verdict may take days. Beyond the bound the largest are given
// up; a program that finds its own gone runs again up to where it was. Never the one that comes: it
// would find it gone whenever it goes on, and run until its time is up. Owned by the effects.

import { RESTING_BYTES_MAX } from '../shared/limits.ts'

export interface SuspendedProgram {
  memory: Uint8Array | undefined
}

export class SuspendedPrograms {
  readonly #programs = new Set<SuspendedProgram>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  hold(memory: Uint8Array): SuspendedProgram {
    const rest: SuspendedProgram = { memory }
    this.#programs.add(rest)
    this.#bytes += memory.length
    while (this.#bytes > RESTING_BYTES_MAX && this.#programs.size > 1) this.#giveUpLargestBut(rest)
    return rest
  }

  /** Returns undefined if the memory was given up. */
  take(rest: SuspendedProgram): Uint8Array | undefined {
    const { memory } = rest
    if (this.#programs.delete(rest)) this.#bytes -= memory?.length ?? 0
    rest.memory = undefined
    return memory
  }

  /** Gives up the largest memory but this one; of equally large ones the oldest. */
  #giveUpLargestBut(fresh: SuspendedProgram): void {
    let largest: SuspendedProgram | undefined
    for (const rest of this.#programs)
      if (rest !== fresh && (rest.memory?.length ?? 0) > (largest?.memory?.length ?? -1))
        largest = rest
    if (largest !== undefined) this.take(largest)
  }
}
