// Requests as people see them, cached until they change: unsealing and masking the arguments dominates
// the cost of a list. Bounded by number and by text.

import type { ApprovalRequest } from './approval.ts'
import { SHOWN_KEPT_LENGTH_MAX, SHOWN_KEPT_MAX } from './limits.ts'

interface CachedView {
  readonly version: string
  readonly request: ApprovalRequest
}

export class RequestViews {
  /** The least recently used first. */
  readonly #views = new Map<string, CachedView>()
  #length = 0

  get(id: string, version: string): ApprovalRequest | undefined {
    const found = this.#views.get(id)
    if (found?.version !== version) return undefined
    this.#views.delete(id)
    this.#views.set(id, found)
    return found.request
  }

  set(version: string, request: ApprovalRequest): void {
    this.#delete(request.id)
    this.#views.set(request.id, { version, request })
    this.#length += lengthOf(request)
    for (const id of this.#views.keys()) {
      if (this.#views.size <= SHOWN_KEPT_MAX && this.#length <= SHOWN_KEPT_LENGTH_MAX) return
      this.#delete(id)
    }
  }

  clear(): void {
    this.#views.clear()
    this.#length = 0
  }

  #delete(id: string): void {
    const found = this.#views.get(id)
    if (found === undefined) return
    this.#views.delete(id)
    this.#length -= lengthOf(found.request)
  }
}

/** Returns the length of what a caller wrote. */
export function lengthOf({ args, rest }: ApprovalRequest): number {
  return args.length + rest.length
}
