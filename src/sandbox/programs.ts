// Code threads: how many there are, which one is free, and a program's pieces handed to them. Whose
// programs are many waits for itself: the owners take turns. Knows memories and texts, not what a
// program is for. Owned by whoever runs agents.

import { extname, join } from 'node:path'
import { SandboxError, type SandboxErrorCode } from './errors.ts'
import type { Overlay, ProgramSaid } from './read-program.ts'
import { Thread } from './thread.ts'

export interface ProgramPiece {
  readonly operation: 'start' | 'settle'
  readonly text: string
  readonly bytes?: Uint8Array | undefined
  /** Of the program so far; absent at its start. */
  readonly memory?: Uint8Array | undefined
  readonly nowMs: number
  readonly polls: number
  readonly timeoutMs: number
}

export interface ProgramAnswer {
  readonly said: ProgramSaid
  /** Present once the program has ended well. */
  readonly overlay: Overlay | undefined
  /** Present until it has ended; shared with the thread that made it. */
  readonly memory: Uint8Array | undefined
  readonly polls: number
  readonly usedMs: number
}

interface Job {
  /** Asked for when a thread is free: what waits is not in memory yet. */
  readonly make: () => ProgramPiece | Promise<ProgramPiece>
  readonly resolve: (answer: ProgramAnswer) => void
  readonly reject: (error: unknown) => void
}

export class Programs {
  readonly #free: Thread[] = []
  readonly #threads: Thread[] = []
  /** By owner; the first in the map is the next whose turn it is. */
  readonly #waiting = new Map<string, Job[]>()
  readonly #image: Uint8Array<ArrayBuffer>
  readonly #most: number

  constructor(image: Uint8Array<ArrayBuffer>, threads: number) {
    this.#image = image
    this.#most = threads
  }

  run(owner: string, make: Job['make']): Promise<ProgramAnswer> {
    return new Promise((resolve, reject) => {
      const job = { make, resolve, reject }
      const jobs = this.#waiting.get(owner)
      if (jobs === undefined) this.#waiting.set(owner, [job])
      else jobs.push(job)
      this.#begin()
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  #begin(): void {
    while (this.#waiting.size > 0) {
      const thread = this.#thread()
      if (thread === undefined) return
      void this.#carryOut(thread, this.#next() as Job)
    }
  }

  async #carryOut(thread: Thread, { make, resolve, reject }: Job): Promise<void> {
    try {
      resolve(await thread.ask<ProgramAnswer>(await make()))
    } catch (error) {
      reject(error)
    }
    this.#free.push(thread)
    this.#begin()
  }

  #next(): Job | undefined {
    for (const [owner, jobs] of this.#waiting) {
      const job = jobs.shift()
      this.#waiting.delete(owner)
      if (jobs.length > 0) this.#waiting.set(owner, jobs)
      return job
    }
    return undefined
  }

  /** One with nothing to do, or a new one where there may be more. */
  #thread(): Thread | undefined {
    const free = this.#free.pop()
    if (free !== undefined || this.#threads.length >= this.#most) return free
    const file = join(import.meta.dirname, `program-thread${extname(import.meta.filename)}`)
    const thread = new Thread(file, { image: this.#image }, toError)
    this.#threads.push(thread)
    return thread
  }
}

function toError({ code, message }: { code?: string; message: string }): SandboxError {
  const known = code?.startsWith('SANDBOX_') === true
  return new SandboxError(known ? (code as SandboxErrorCode) : 'SANDBOX_TRAP', message)
}
