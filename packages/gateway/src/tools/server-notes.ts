// What the console shows of servers beside the ledger: the last error of each, which limit one of its lists
// met, and which extensions of it are not served. Kept by the gate; shown by `sluice status` and the console.

import type { DatabaseSync } from 'node:sqlite'
import type { Log } from '../shared/log.ts'
import type { UpstreamEvents, UpstreamFailure } from '../upstream/upstream.ts'
import { StoredMap } from './stored-map.ts'

export interface ServerFailure extends Pick<UpstreamFailure, 'code' | 'message' | 'help'> {
  readonly atMs: number
}

export class ServerNotes {
  readonly #log: Log
  /** The last failure of each server that has answered nothing since, also before this start. */
  readonly #failures: StoredMap<ServerFailure>
  /** Servers whose failure is from before this start. */
  readonly #earlier: Set<string>
  /** Since the start of the gate. */
  readonly #answered = new Set<string>()
  /** Why not everything that a server lists is known, where a limit was met last. */
  readonly #limitsMet = new Map<string, string>()

  /** Extensions that a server declares and the gate does not serve. */
  readonly #unserved = new Map<string, readonly string[]>()

  /** Clients whose hooks an older version of Sluice wrote. */
  readonly #oldHooks = new Set<string>()

  constructor(store: DatabaseSync, log: Log) {
    this.#log = log
    this.#failures = new StoredMap({ store, kind: 'failure', log })
    this.#earlier = new Set(this.#failures.keys())
  }

  /** Notes what a server fails with, on the way to its receiver. */
  watch(server: string, events: UpstreamEvents): UpstreamEvents {
    const onFailure = (failure: UpstreamFailure): void => {
      this.ended(server, failure)
      events.onFailure(failure)
    }
    return { ...events, onFailure }
  }

  /** A connection to a server ended, because of this failure if there is one. */
  ended(server: string, failure: UpstreamFailure | undefined): void {
    if (failure === undefined) return
    const { code, detail, help = '' } = failure
    const message = detail ?? failure.message
    this.#earlier.delete(server)
    this.#failures.set(server, { atMs: Date.now(), code, message, help })
  }

  /** A client has asked in the way of an older version. */
  noteOldHooks(server: string): void {
    if (this.#oldHooks.has(server)) return
    this.#oldHooks.add(server)
    const help = 'run `sluice init --hooks` again, with `--enforce` if they are to block'
    this.#log('warn', 'the hooks of a client were written by an older version', { server, help })
  }

  hasOldHooks(server: string): boolean {
    return this.#oldHooks.has(server)
  }

  answered(server: string): void {
    if (this.#failures.size > 0) this.#failures.delete(server)
    if (!this.#answered.has(server)) this.#answered.add(server)
  }

  hasAnswered(server: string): boolean {
    return this.#answered.has(server)
  }

  failureOf(server: string): ServerFailure | undefined {
    const failure = this.#failures.get(server)
    if (failure === undefined || !this.#earlier.has(server)) return failure
    const message = `it failed before the restart and was not tried since: ${failure.message}`
    return { ...failure, message }
  }

  /** It is another server by now. */
  forget(server: string): void {
    this.#failures.delete(server)
    this.#answered.delete(server)
    this.#limitsMet.delete(server)
    this.#unserved.delete(server)
  }

  extensionsCut(server: string, extensions: readonly string[]): void {
    const before = this.#unserved.get(server)
    this.#unserved.set(server, extensions)
    if (extensions.length === 0 || before?.join() === extensions.join()) return
    const message = 'extensions that the gate does not serve are not declared to clients'
    this.#log('warn', message, { server, extensions: extensions.join(', ') })
  }

  /** The extensions of a server that are not declared to clients. */
  unservedBy(server: string): readonly string[] {
    return this.#unserved.get(server) ?? []
  }

  limitMet(server: string, why: string): void {
    if (this.#limitsMet.get(server) === why) return
    this.#limitsMet.set(server, why)
    const message = 'a list is cut: what is beyond the limit cannot be called'
    this.#log('warn', message, { server, why })
  }

  /** The limit by which something that the server lists is not known; undefined if all of it is known. */
  limitMetBy(server: string): string | undefined {
    return this.#limitsMet.get(server)
  }
}
