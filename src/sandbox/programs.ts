// Code threads: how many there are, which one is free, and a program's pieces handed to them. Knows
// memories and texts, not what a program is for. Owned by whoever runs agents.

import { extname, join } from 'node:path'
import { SandboxError, type SandboxErrorCode } from './errors.ts'
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
  readonly said: string
  /** Present once the program has ended. */
  readonly overlay: { readonly text: string; readonly bytes: Uint8Array } | undefined
  readonly memory: Uint8Array | undefined
  readonly polls: number
  readonly usedMs: number
}

export class Programs {
  readonly #threads: Thread[] = []
  readonly #image: Uint8Array<ArrayBuffer>
  readonly #most: number

  constructor(image: Uint8Array<ArrayBuffer>, threads: number) {
    this.#image = image
    this.#most = threads
  }

  run(piece: ProgramPiece): Promise<ProgramAnswer> {
    return this.#thread().ask<ProgramAnswer>(piece)
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()))
  }

  /** A thread with nothing to do, a new one, or the one with the least. */
  #thread(): Thread {
    const free = this.#threads.find(({ load }) => load === 0)
    if (free !== undefined) return free
    if (this.#threads.length < this.#most) {
      const file = join(import.meta.dirname, `program-thread${extname(import.meta.filename)}`)
      const thread = new Thread(file, { image: this.#image }, toError)
      this.#threads.push(thread)
      return thread
    }
    return this.#threads.reduce((least, each) => (each.load < least.load ? each : least))
  }
}

function toError({ code, message }: { code?: string; message: string }): SandboxError {
  const known = code?.startsWith('SANDBOX_') === true
  return new SandboxError(known ? (code as SandboxErrorCode) : 'SANDBOX_TRAP', message)
}
