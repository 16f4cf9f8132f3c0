// Counts what a link to a server has started or waits for, so that `ended` of the link resolves only when nothing
// of it is left: no process, no connection, no place in the quota that is still to be given back.

export class OpenResources {
  readonly #ended = Promise.withResolvers<void>()
  /** Resolves when the link is closed and the last resource has been released. */
  readonly ended: Promise<void> = this.#ended.promise
  #open = 0
  #isClosed = false

  /** The caller calls `release` exactly once for each call. */
  acquire(): void {
    this.#open += 1
  }

  release(): void {
    this.#open -= 1
    this.#resolveIfOver()
  }

  /** The link is closed, so nothing more is started. */
  close(): void {
    this.#isClosed = true
    this.#resolveIfOver()
  }

  #resolveIfOver(): void {
    if (this.#isClosed && this.#open === 0) this.#ended.resolve()
  }
}
