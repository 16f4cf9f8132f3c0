// What people are told of servers beside the record: what one failed with last, and which limit one of
// its lists met. Kept by the gate; shown by `sluice status` and the console.

import type { Log } from '../shared/log.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure } from '../upstream/upstream.ts'

export interface ServerFailure extends Pick<UpstreamFailure, 'code' | 'message' | 'help'> {
  readonly atMs: number
}

export class ServerNotes {
  readonly #log: Log
  /** The last failure of each server that has answered nothing since. */
  readonly #failures = new Map<string, ServerFailure>()
  /** Why not everything that a server lists is known, where a limit was met last. */
  readonly #limitsMet = new Map<string, string>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Connects to a server, and notes what it fails with. */
  watch(
    name: string,
    connect: (events: UpstreamEvents) => Upstream,
    events: UpstreamEvents,
  ): Upstream {
    const note = (failure: UpstreamFailure) =>
      void this.#failures.set(name, { atMs: Date.now(), ...failure })
    const onFailure = (failure: UpstreamFailure): void => {
      note(failure)
      events.onFailure(failure)
    }
    const server = connect({ ...events, onFailure })
    void server.ended.then(() => {
      if (server.failure !== undefined) note(server.failure)
    })
    return server
  }

  answered(server: string): void {
    if (this.#failures.size > 0) this.#failures.delete(server)
  }

  failureOf(server: string): ServerFailure | undefined {
    return this.#failures.get(server)
  }

  /** It is another server by now. */
  forget(server: string): void {
    this.#failures.delete(server)
    this.#limitsMet.delete(server)
  }

  limitMet(server: string, why: string): void {
    if (this.#limitsMet.get(server) === why) return
    this.#limitsMet.set(server, why)
    const message = 'a list is cut: what is beyond the limit cannot be called'
    this.#log('warn', message, { server, why })
  }

  /** Undefined where everything that it lists is known. */
  limitMetBy(server: string): string | undefined {
    return this.#limitsMet.get(server)
  }
}
