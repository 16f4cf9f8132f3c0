// What a server says on stdout, line by line, no faster than the receiver takes it and no faster
// than a bound: a pause stops the pipe, so that a server that floods waits, and the gate holds one
// chunk of it at most, or one message that is not complete. Used by stdio.ts.

import type { Readable } from 'node:stream'
import { type DecodedLine, LineSplitter } from '@sluice/protocol/lines'
import { decodeUtf8 } from '../../shared/decode-utf8.ts'
import { LargeMessagePlace } from '../../shared/large-messages.ts'
import { TokenBucket } from '../../shared/token-bucket.ts'
import {
  STDOUT_CREDIT_MAX,
  STDOUT_LINES_PER_TURN,
  STDOUT_UNIT_BYTES,
  STDOUT_UNITS_PER_SECOND,
  UPSTREAM_MESSAGE_BYTES,
} from '../limits.ts'

export class StdioReader {
  readonly #stdout: Readable
  readonly #onLine: (line: DecodedLine) => void
  readonly #onEnd: () => void
  readonly #splitter: LineSplitter
  readonly #budget = new TokenBucket(STDOUT_UNITS_PER_SECOND, performance.now(), STDOUT_CREDIT_MAX)
  readonly #place = new LargeMessagePlace(() => this.#goOn())
  #lines: DecodedLine[] = []
  #at = 0
  #isPaused = false
  /** A turn or the budget has to pass; then `#drain` goes on. */
  #waits = false
  #ended = false
  #stopped = false

  /** `onEnd`: stdout has ended and every line of it was handed over. */
  constructor(
    stdout: Readable,
    onLine: (line: DecodedLine) => void,
    onEnd: () => void,
    lineBytesMax = UPSTREAM_MESSAGE_BYTES,
  ) {
    this.#splitter = new LineSplitter(decodeUtf8, { lineBytesMax })
    this.#stdout = stdout
    this.#onLine = onLine
    this.#onEnd = onEnd
    stdout.on('data', (chunk: Buffer) => this.#take(chunk))
    stdout.on('error', () => {})
    stdout.on('close', () => {
      this.#ended = true
      if (!this.#stopped) this.#lines.push(...this.#splitter.end())
      this.#drain()
    })
  }

  /** A message was sent: one may come back at full speed. */
  expectOne(): void {
    this.#budget.addCredit()
  }

  pause(): void {
    this.#isPaused = true
    this.#stdout.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#drain()
  }

  /** Hands over nothing more. Goes on reading, so that a process on its way out is not blocked. */
  stop(): void {
    this.#stopped = true
    this.#isPaused = false
    this.#waits = false
    this.#place.leave()
    this.#lines = []
    this.#at = 0
    this.#drain()
  }

  #take(chunk: Buffer): void {
    const lines = this.#stopped ? [] : this.#splitter.push(chunk)
    if (this.#at === this.#lines.length) {
      this.#lines = lines
      this.#at = 0
    } else for (const line of lines) this.#lines.push(line)
    this.#drain(chunk.length / STDOUT_UNIT_BYTES)
  }

  #drain(spent = 0): void {
    if (this.#waits) return
    let waitMs = this.#budget.spend(spent, performance.now())
    let turn = 0
    while (this.#at < this.#lines.length && !this.#isPaused && waitMs === 0) {
      if (turn === STDOUT_LINES_PER_TURN) return this.#goOnLater(() => setImmediate(this.#goOn))
      turn += 1
      const line = this.#lines[this.#at] as DecodedLine
      this.#at += 1
      this.#onLine(line)
      waitMs = this.#budget.spendOne(performance.now())
    }
    if (waitMs > 0) return this.#goOnLater(() => setTimeout(this.#goOn, waitMs).unref())
    if (this.#isPaused) return
    if (!this.#stopped) this.#place.hold(this.#splitter.heldBytes)
    if (this.#place.isWaiting) return this.#goOnLater(() => {})
    if (!this.#ended) {
      if (this.#stdout.isPaused()) this.#stdout.resume()
    } else if (!this.#stopped) {
      this.#stopped = true
      this.#onEnd()
    }
  }

  readonly #goOn = (): void => {
    this.#waits = false
    this.#drain()
  }

  #goOnLater(schedule: () => unknown): void {
    this.#waits = true
    this.#stdout.pause()
    schedule()
  }
}
