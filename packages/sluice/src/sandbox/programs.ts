// Code threads: how many there are, which one is free, and the distribution of program pieces.
// Fair: owners take turns. Knows memories and texts, not what a program is for. Owned by the
// agents' runner.

import { extname, join } from 'node:path'
import { SandboxError, type SandboxErrorCode } from './errors.ts'
import { FairQueue } from './fair-queue.ts'
import type { FileOverlay, ProgramOutput } from './read-program.ts'
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
  readonly output: ProgramOutput
  /** Present once the program has ended well. */
  readonly overlay: FileOverlay | undefined
  /** Present until it has ended; shared with the thread that created it. */
  readonly memory: Uint8Array | undefined
  readonly polls: number
  readonly usedMs: number
}

export class Programs {
  readonly #free: Thread[] = []
  readonly #threads: Thread[] = []
  readonly #turns: FairQueue
  readonly #image: Uint8Array<ArrayBuffer>

  constructor(image: Uint8Array<ArrayBuffer>, threads: number) {
    this.#image = image
    this.#turns = new FairQueue(threads)
  }

  /** `make` is called when a thread is free: queued programs are not in memory yet. */
  run(owner: string, make: () => ProgramPiece | Promise<ProgramPiece>): Promise<ProgramAnswer> {
    return this.#turns.run(owner, async () => {
      const thread = this.#free.pop() ?? this.#start()
      try {
        return await thread.ask<ProgramAnswer>(await make())
      } finally {
        this.#free.push(thread)
      }
    })
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
