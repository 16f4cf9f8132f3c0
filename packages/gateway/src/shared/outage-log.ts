// The log of what an outage stops: one line when it begins and one in a while, however many requests it stops. What
// is recorded again in between makes the next one another outage.

import { OUTAGE_LOG_EVERY_MS } from './limits.ts'
import { type Log, limitLog } from './log.ts'

export class OutageLog {
  readonly #warn: (text: string) => void
  readonly #commits: () => number
  readonly #nowMs: () => number
  /** Commits of the ledger at the last line. */
  #atCommits = -1
  #atMs = 0
  #leftOut = 0

  constructor(log: Log, commits: () => number, nowMs = () => performance.now()) {
    this.#warn = limitLog(log)
    this.#commits = commits
    this.#nowMs = nowMs
  }

  /** A request that could not be handled; its caller is not told why. */
  readonly ofRequest = (error: Error): void =>
    this.warn(`a request could not be handled: ${error.message}`)

  warn(text: string): void {
    const [commits, nowMs] = [this.#commits(), this.#nowMs()]
    if (commits === this.#atCommits && nowMs < this.#atMs + OUTAGE_LOG_EVERY_MS) {
      this.#leftOut += 1
      return
    }
    this.#warn(
      this.#leftOut === 0 ? text : `${text} (and ${this.#leftOut} before, in the same way)`,
    )
    this.#atCommits = commits
    this.#atMs = nowMs
    this.#leftOut = 0
  }
}
