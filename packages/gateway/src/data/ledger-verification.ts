// The verification of a gate's own ledger, as `sluice ledger verify` does it: when a person asks for it, and
// regularly if alerts of `ledger` are on. In a thread of its own: it takes minutes for a ledger of years, and no
// call waits for it.

import { once } from 'node:events'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Log } from '../shared/log.ts'
import { VERIFY_AGAIN_MS } from './limits.ts'
import type { VerificationRequest, VerifiedLedger } from './verification-thread.ts'

export interface LedgerVerificationOptions extends VerificationRequest {
  readonly log: Log
}

export class LedgerVerification {
  readonly #options: LedgerVerificationOptions
  readonly #end = new AbortController()
  #running: Promise<VerifiedLedger> | undefined
  #last: VerifiedLedger | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: LedgerVerificationOptions) {
    this.#options = options
  }

  /** Undefined until it was verified since the start. */
  get last(): VerifiedLedger | undefined {
    return this.#last
  }

  /** A verification that is under way answers for this one too. */
  verify(): Promise<VerifiedLedger> {
    this.#running ??= this.#verify().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** For the first time after ten minutes, or sooner if `everyMs` is less. */
  startRegularly(everyMs: number): void {
    const soonMs = Math.min(everyMs, VERIFY_AGAIN_MS)
    const plan = (ms: number): void => {
      if (!this.#end.signal.aborted) this.#timer = setTimeout(() => void look(), ms).unref()
    }
    const look = async (): Promise<void> => {
      const verified = await this.verify().catch(() => undefined)
      plan(verified?.problems.length === 0 ? everyMs : soonMs)
    }
    plan(soonMs)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#end.abort()
  }

  async #verify(): Promise<VerifiedLedger> {
    const { log } = this.#options
    try {
      this.#last = await this.#verifyInThread()
    } catch (error) {
      if (!this.#end.signal.aborted)
        log('warn', 'the ledger could not be verified', { why: (error as Error).message })
      throw error
    }
    const [first] = this.#last.problems
    if (first !== undefined) log('error', 'the ledger does not verify', { why: first })
    return this.#last
  }

  async #verifyInThread(): Promise<VerifiedLedger> {
    const { directory, key } = this.#options
    const file = join(import.meta.dirname, `verification-thread${extname(import.meta.filename)}`)
    const workerData: VerificationRequest = { directory, key }
    const worker = new Worker(file, { workerData })
    worker.unref()
    try {
      const { signal } = this.#end
      const [verified] = (await once(worker, 'message', { signal })) as [VerifiedLedger]
      return verified
    } finally {
      await worker.terminate()
    }
  }
}
