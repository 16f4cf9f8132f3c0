// What goes to a server's stdin: one message a line, all of one turn in one write. What the pipe does
// not take waits here, up to a bound, and is known never to have been written. Used by stdio.ts.

import type { Writable } from 'node:stream'
import { STDIN_QUEUE_LENGTH_MAX, STDIN_QUEUE_MESSAGES_MAX } from '../../limits.ts'

export class StdioWriter {
  readonly #stdin: Writable
  readonly #onFull: () => void
  #waiting: string[] = []
  #length = 0
  #scheduled = false
  #open = true
  #held = false

  /** `onFull` is told once, when more waits than the bound allows; that message is not taken. */
  constructor(stdin: Writable, onFull: () => void) {
    this.#stdin = stdin
    this.#onFull = onFull
    stdin.on('drain', () => this.#flush())
  }

  send(line: string): void {
    if (!this.#open) return
    this.#waiting.push(line)
    this.#length += line.length
    if (this.#isFull()) {
      this.#open = false
      this.#onFull()
    } else if (!this.#scheduled && !this.#stdin.writableNeedDrain) {
      this.#scheduled = true
      // Not a microtask: a read of 64 KiB can bring many messages, each in microtasks of its own.
      setImmediate(() => this.#flush())
    }
  }

  /** Nobody reads any more: what comes now is never written. */
  hold(): void {
    this.#held = true
  }

  /** Ends stdin, after what waits if it can still be written, and returns what never was. */
  end(): string[] {
    this.#flush()
    this.#open = false
    const unwritten = this.#waiting
    this.#waiting = []
    this.#length = 0
    this.#stdin.end()
    return unwritten
  }

  #isFull(): boolean {
    // One message alone always fits: its own bound is the reader's.
    if (this.#waiting.length === 1) return false
    return this.#length > STDIN_QUEUE_LENGTH_MAX || this.#waiting.length > STDIN_QUEUE_MESSAGES_MAX
  }

  #flush(): void {
    this.#scheduled = false
    if (!this.#open || this.#held || this.#waiting.length === 0) return
    if (this.#stdin.writableNeedDrain) return
    const lines = `${this.#waiting.join('\n')}\n`
    this.#waiting = []
    this.#length = 0
    this.#stdin.write(lines)
  }
}
