// A client that does not read makes its server wait: what the server says next is not read either, so
// that it stays in the server's own buffers. Only the stream of one request where the link has one for
// each; all of a process that nobody else uses; nothing if others would wait with it. Used by the
// relay, told by the client's link.

import type { RequestId } from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import type { Upstream } from '../upstream/upstream.ts'

export class BackPressure {
  readonly #server: Upstream
  /** Several callers may be behind a link of the stateless generation. */
  readonly #isShared: boolean
  readonly #oursOf: (request: RequestId) => RequestId | undefined
  /** What is full, by the client's id, with the id that the server knows. */
  readonly #full = new Map<RequestId | undefined, RequestId | undefined>()

  constructor(
    server: Upstream,
    generation: ProtocolGeneration,
    oursOf: (request: RequestId) => RequestId | undefined,
  ) {
    this.#server = server
    this.#isShared = generation === 'stateless'
    this.#oursOf = oursOf
  }

  /** `request` is undefined if all messages to the client use one stream. */
  readonly onPressure = (isFull: boolean, request: RequestId | undefined): void => {
    if (isFull) this.#hold(request)
    else this.#free(request)
  }

  #hold(request: RequestId | undefined): void {
    const server = this.#server
    const ours = request === undefined ? undefined : this.#oursOf(request)
    if (request !== undefined && (ours === undefined || (this.#isShared && !server.pausesApart)))
      return
    this.#full.set(request, ours)
    server.pause(ours)
  }

  #free(request: RequestId | undefined): void {
    if (!this.#full.has(request)) return
    const ours = this.#full.get(request)
    this.#full.delete(request)
    if (this.#server.pausesApart || this.#full.size === 0) this.#server.resume(ours)
  }
}
