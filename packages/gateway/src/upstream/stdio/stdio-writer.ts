// What goes to a server's stdin: one message a line, all of one turn in one write, up to a size. What
// the pipe does not take waits here, up to a bound, and is known never to have been written. Used by
// stdio.ts.

import type { Writable } from 'node:stream'
import {
  STDIN_QUEUE_LENGTH_MAX,
  STDIN_QUEUE_MESSAGES_MAX,
  STDIN_STUCK_MS,
  STDIN_WRITE_LENGTH,
} from '../limits.ts'

export class StdioWriter {
  readonly #stdin: Writable
  readonly #onStuck: () => void
  readonly #nowMs: () => number
  #waiting: string[] = []
  #length = 0
  #scheduled = false
  #open = true
  #isPaused = false
  /** When the server last read, or had nothing to read. */
  #lastReadMs: number

  /** `onStuck` is called once: more waits than the bound allows, and the server has read nothing of it for
   * STDIN_STUCK_MS. */
  constructor(stdin: Writable, onStuck: () => void, nowMs = () => performance.now()) {
    this.#stdin = stdin
    this.#onStuck = onStuck
    this.#nowMs = nowMs
    this.#lastReadMs = nowMs()
    stdin.on('drain', () => {
      this.#lastReadMs = nowMs()
      this.#flush()
    })
  }

  /** False if the message does not fit beside what waits: it is not taken. One that nobody would hear
   * of otherwise (`mayRefuse` false: a notification, an answer) is always taken. */
  send(line: string, mayRefuse: boolean): boolean {
    if (!this.#open) return true
    if (this.#isFullWith(line)) {
      if (this.#nowMs() - this.#lastReadMs >= STDIN_STUCK_MS) {
        this.#waiting.push(line)
        this.#open = false
        this.#onStuck()
        return true
      }
      if (mayRefuse) return false
    }
    this.#waiting.push(line)
    this.#length += line.length
    if (!this.#scheduled && !this.#stdin.writableNeedDrain) {
      this.#scheduled = true
      // Not a microtask: a read of 64 KiB can bring many messages, each in microtasks of its own.
      setImmediate(() => this.#flush())
    }
    return true
  }

  /** Nobody reads any more: what comes now is never written. */
  hold(): void {
    this.#isPaused = true
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

  #isFullWith(line: string): boolean {
    // One message alone always fits: its own bound is the reader's.
    if (this.#waiting.length === 0) return false
    const length = this.#length + line.length
    return length > STDIN_QUEUE_LENGTH_MAX || this.#waiting.length >= STDIN_QUEUE_MESSAGES_MAX
  }

  #flush(): void {
    this.#scheduled = false
    while (this.#open && !this.#isPaused && this.#waiting.length > 0) {
      if (this.#stdin.writableNeedDrain) return
      this.#lastReadMs = this.#nowMs()
      this.#stdin.write(this.#takeSome())
    }
  }

  /** All that waits, or if that is much some of it: what is not written yet can still be told apart,
   * and each part that is read shows that the server reads. */
  #takeSome(): string {
    let [count, length] = [0, 0]
    while (count < this.#waiting.length && (count === 0 || length < STDIN_WRITE_LENGTH))
      length += (this.#waiting[count++] as string).length
    const some = count === this.#waiting.length ? this.#waiting : this.#waiting.slice(0, count)
    this.#waiting = count === this.#waiting.length ? [] : this.#waiting.slice(count)
    this.#length -= length
    return `${some.join('\n')}\n`
  }
}
