// Code threads: how many there are, which one is free, and the distribution of program pieces. Fair: owners take
// turns. A thread keeps the instance of the program that it ran last, until it runs another one: then what it keeps
// becomes a memory at rest. Knows memories and texts, not what a program is for. Owned by the agents' runner.

import { extname, join } from 'node:path'
import { SandboxError, type SandboxErrorCode } from './errors.ts'
import { FairQueue } from './fair-queue.ts'
import type { FileOverlay, ProgramOutput } from './read-program.ts'
import { Thread } from './thread.ts'

export interface ProgramPiece {
  readonly operation: 'start' | 'settle'
  readonly text: string
  readonly bytes?: Uint8Array | undefined
  /** The memory of the program so far; absent at its start, and if the thread has its instance. */
  readonly memory?: Uint8Array | undefined
  readonly nowMs: number
  readonly polls: number
  readonly timeoutMs: number
}

export interface ProgramAnswer {
  readonly output: ProgramOutput
  /** Present once the program has ended well. */
  readonly overlay: FileOverlay | undefined
  readonly polls: number
  readonly usedMs: number
}

/** A program between two pieces, as its owner holds it. */
export interface PausedProgram {
  /** Its thread runs another program from now on: its memory, which the thread shares. */
  rest(memory: Promise<Uint8Array>): void
}

export class Programs {
  readonly #free: Thread[] = []
  readonly #threads: Thread[] = []
  /** The program whose instance a thread has. */
  readonly #kept = new Map<Thread, PausedProgram>()
  readonly #turns: FairQueue
  readonly #most: number
  readonly #image: Uint8Array<ArrayBuffer>

  constructor(image: Uint8Array<ArrayBuffer>, threads: number) {
    this.#image = image
    this.#most = threads
    this.#turns = new FairQueue(threads)
  }

  /** `make` is called when a thread is free: queued programs are not in memory yet. It is told whether the
   * thread has the program's instance. */
  run(
    owner: string,
    program: PausedProgram,
    make: (isKept: boolean) => ProgramPiece | Promise<ProgramPiece>,
  ): Promise<ProgramAnswer> {
    return this.#turns.run(owner, async () => {
      const thread = this.#take(program)
      const isKept = this.#kept.get(thread) === program
      if (!isKept) this.#vacate(thread)
      try {
        const piece = await make(isKept)
        // Whatever fails in there leaves no instance.
        this.#kept.delete(thread)
        const answer = await thread.ask<ProgramAnswer>(piece)
        if (answer.output.ended === null) this.#kept.set(thread, program)
        return answer
      } finally {
        this.#free.push(thread)
      }
    })
  }

  /** Nobody goes on with it. */
  drop(program: PausedProgram): void {
    for (const [thread, each] of this.#kept) if (each === program) this.#kept.delete(thread)
  }

  /** The one that has the program's instance, or one that has none, or the one that has waited longest. */
  #take(program: PausedProgram): Thread {
    const own = this.#free.findIndex((each) => this.#kept.get(each) === program)
    const empty = this.#free.findIndex((each) => !this.#kept.has(each))
    if (own < 0 && empty < 0 && this.#threads.length < this.#most) return this.#start()
    return this.#free.splice(Math.max(own < 0 ? empty : own, 0), 1)[0] as Thread
  }

  #vacate(thread: Thread): void {
    this.#kept.get(thread)?.rest(thread.ask<Uint8Array>({ operation: 'rest' }))
    this.#kept.delete(thread)
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  #start(): Thread {
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
