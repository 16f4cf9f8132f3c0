// A file next to the ledger that only takes up space. When the disk is full it is released, so that
// what must still be written (denials, events, outcomes) fits; no call is forwarded until the file
// could be created again.

import { randomFillSync } from 'node:crypto'
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { RESERVE_FILE } from '../records/files.ts'
import { RESERVE_BYTES } from '../records/limits.ts'

export interface Reserve {
  /** Whether the space is reserved; reserves it if it is not. */
  fill(): boolean
  release(): void
}

export class ReserveFile implements Reserve {
  readonly #file: string
  readonly #bytes: number

  constructor(directory: string, bytes = RESERVE_BYTES) {
    this.#file = join(directory, RESERVE_FILE)
    this.#bytes = bytes
  }

  fill(): boolean {
    try {
      if (statSync(this.#file, { throwIfNoEntry: false })?.size === this.#bytes) return true
      const { bavail, bsize } = statfsSync(dirname(this.#file))
      // Twice: does not take the last bytes of a disk, and leaves space for calls.
      if (bavail * bsize < 2 * this.#bytes) return false
      this.#write()
      return true
    } catch {
      this.release()
      return false
    }
  }

  release(): void {
    rmSync(this.#file, { force: true })
  }

  /** Random bytes: zeros would take no space on a compressing disk. */
  #write(): void {
    const handle = openSync(this.#file, 'w', 0o600)
    try {
      const chunk = randomFillSync(Buffer.allocUnsafe(Math.min(this.#bytes, 1_048_576)))
      for (let at = 0; at < this.#bytes; )
        at += writeSync(handle, chunk, 0, Math.min(chunk.length, this.#bytes - at))
    } finally {
      closeSync(handle)
    }
  }
}
