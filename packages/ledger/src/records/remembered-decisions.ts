// The text of the last decision of each session: the next call of it mostly differs in its own fields alone, and encoding
// the others again is most of what a record costs.

import { isShared, type SharedFields, type SharedText } from './encoding.ts'
import { REMEMBERED_SESSIONS_MAX } from './limits.ts'

export class RememberedDecisions {
  readonly #last = new Map<string, { readonly of: SharedFields; readonly text: SharedText }>()

  /** The text of these fields, if the last call of the session had the same. */
  find(of: SharedFields): SharedText | undefined {
    const last = this.#last.get(of.session)
    return last !== undefined && isShared(last.of, of) ? last.text : undefined
  }

  remember(of: SharedFields, text: SharedText): void {
    if (this.#last.size >= REMEMBERED_SESSIONS_MAX) this.#last.clear()
    this.#last.set(of.session, { of, text })
  }

  clear(): void {
    this.#last.clear()
  }
}
