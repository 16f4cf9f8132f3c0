// What a server says on stderr, line by line into the log: cut, counted, and no faster than a bound,
// so that a chatty server drowns neither log nor gate. Keeps the last lines, for the reason its end
// is reported with. Used by stdio.ts.

import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { type Log, shorten } from '../../shared/log.ts'
import { TokenBucket } from '../../shared/token-bucket.ts'
import {
  LAST_LINE_LENGTH_MAX,
  LAST_LINES_MAX,
  LOGGED_LINE_LENGTH_MAX,
  STDERR_BYTES_PER_SECOND,
  STDERR_LINES_PER_SECOND,
} from '../limits.ts'

/** What Node prints around the line that names an error: frames, the place, its version. Kept, they would push that
 * line out of the last lines. */
const STACK_LINE = /^\s+at \S|^node:internal\/|^Node\.js v\d|^\s*[\^{}]+\s*$/

export class StderrLog {
  readonly #log: Log
  readonly #decoder = new StringDecoder('utf8')
  readonly #lines = new TokenBucket(STDERR_LINES_PER_SECOND, performance.now())
  readonly #bytes = new TokenBucket(STDERR_BYTES_PER_SECOND, performance.now())
  #last: string[] = []
  #rest = ''
  #leftOut = 0

  constructor(stderr: Readable, log: Log) {
    this.#log = log
    stderr.on('data', (chunk: Buffer) => {
      this.#read(this.#decoder.write(chunk))
      const waitMs = this.#bytes.spend(chunk.length, performance.now())
      if (waitMs === 0) return
      stderr.pause()
      setTimeout(() => stderr.resume(), waitMs).unref()
    })
    stderr.on('end', () => {
      if (this.#rest !== '') this.#say(this.#rest)
      this.#rest = ''
    })
    stderr.on('error', () => {})
  }

  /** The last lines, in one, for a reason; empty if it said nothing. */
  lastWords(): string {
    const rest = this.#rest === '' ? [] : [shorten(this.#rest, LAST_LINE_LENGTH_MAX)]
    return [...this.#last, ...rest].slice(-LAST_LINES_MAX).join(' | ')
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/)
    this.#rest = (lines.pop() ?? '').slice(0, LOGGED_LINE_LENGTH_MAX + 1)
    for (const line of lines) if (line.trim() !== '') this.#say(line)
  }

  #say(line: string): void {
    if (!STACK_LINE.test(line)) {
      this.#last.push(shorten(line, LAST_LINE_LENGTH_MAX))
      if (this.#last.length > LAST_LINES_MAX) this.#last.shift()
    }
    if (!this.#lines.take(1, performance.now())) {
      this.#leftOut += 1
      return
    }
    if (this.#leftOut > 0) this.#log('warn', 'lines of stderr left out', { lines: this.#leftOut })
    this.#leftOut = 0
    this.#log('info', shorten(line, LOGGED_LINE_LENGTH_MAX), { stream: 'stderr' })
  }
}
