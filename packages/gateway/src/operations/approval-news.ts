// News of approvals for commands that wait for some (`approvals watch`): a number that grows with every
// change, and a promise of the next one.

import type { ApprovalService } from '@sluice/access/approvals/approval'
import { APPROVALS_NEWS_MS } from './limits.ts'

export class ApprovalNews {
  readonly #approvals: ApprovalService
  #count = 0

  constructor(approvals: ApprovalService) {
    this.#approvals = approvals
    approvals.watch(() => void this.#count++)
  }

  get count(): number {
    return this.#count
  }

  /** Resolves with the next change, or after a while. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        stop()
        resolve()
      }
      const timer = setTimeout(done, APPROVALS_NEWS_MS).unref()
      const stop = this.#approvals.watch(done)
    })
  }
}
