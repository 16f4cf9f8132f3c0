// Every relay of the gate and every client of all servers, and what becomes of them when a server is
// changed, restarted or removed: a process is replaced under its session, any other link ends once it
// has answered what is open. Used by the gate alone.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerConfig } from '../config/config.ts'
import { SERVER_DRAIN_MS } from '../config/limits.ts'
import type { OpenSession } from '../session/open-sessions.ts'
import type { StopDeadline } from '../shared/stop-deadline.ts'
import { GATE_STOPPING } from '../shared/transport.ts'
import type { ServerChange } from '../state/servers.ts'
import type { Relay } from './relay.ts'

/** Ends that a client or a person brought about: no warning is needed. */
export const EXPECTED_ENDS: ReadonlySet<string> = new Set([
  'the client ended the session',
  'the client went away',
  GATE_STOPPING,
  'the server was removed',
  'the view was removed',
  'the server was changed',
  'the server was restarted',
])

/** A client of all servers. */
export interface AggregateClient {
  add(name: string): void
  replace(name: string): void
  remove(name: string): void
  retry(name: string): void
  viewsChanged(): void
}

interface OpenRelay {
  readonly session: OpenSession
  /** How long a process stays that nobody uses. */
  readonly idleMs: number
  lastBusyMs: number
}

export class OpenRelays {
  readonly aggregates = new Set<AggregateClient>()
  readonly #relays = new Map<Relay, OpenRelay>()
  /** Relays that end as soon as nothing is open, and at the latest then. */
  readonly #retiring = new Map<Relay, number>()
  readonly #restartProcesses: (name: string, why: string) => void

  constructor(restartProcesses: (name: string, why: string) => void) {
    this.#restartProcesses = restartProcesses
  }

  add(relay: Relay, session: OpenSession, idleMs: number): void {
    this.#relays.set(relay, { session, idleMs, lastBusyMs: performance.now() })
  }

  /** Nothing of the server is left. */
  delete(relay: Relay): void {
    this.#relays.delete(relay)
    this.#retiring.delete(relay)
  }

  /** With the sessions they belong to. */
  entries(): [Relay, OpenSession][] {
    return [...this.#relays].map(([relay, { session }]) => [relay, session])
  }

  [Symbol.iterator](): Iterator<Relay> {
    return [...this.#relays.keys()][Symbol.iterator]()
  }

  /** A request of a client's has no answer yet. */
  get isBusy(): boolean {
    return [...this].some(({ openRequests }) => openRequests > 0)
  }

  /** Ends what is open and frozen; says how many calls that were. */
  interrupt(): number {
    let calls = 0
    for (const relay of this) if (relay.frozen !== undefined) calls += relay.interrupt(relay.frozen)
    return calls
  }

  async drain(deadline: Pick<StopDeadline, 'isOver'>): Promise<void> {
    while (this.isBusy && !deadline.isOver) await sleep(10)
  }

  /** How much goes on with one server. */
  figures(server: string): { readonly sessions: number; readonly openRequests: number } {
    const relays = this.#of(server)
    const openRequests = relays.reduce((sum, relay) => sum + relay.openRequests, 0)
    return { sessions: relays.length, openRequests }
  }

  changed({ name, before, after }: ServerChange): void {
    const relays = this.#of(name)
    if (after === undefined) {
      for (const client of this.aggregates) client.remove(name)
      for (const relay of relays) void relay.end('the server was removed')
      return
    }
    if (before === undefined) {
      for (const client of this.aggregates) client.add(name)
      return
    }
    const why = 'the server was changed'
    if (canReplaceProcess(before, after)) this.#restartProcesses(name, why)
    else this.#retire(name, why)
    for (const relay of relays) relay.tellListsChanged()
  }

  restart(name: string, kind: ServerConfig['kind'] | undefined): void {
    const why = 'the server was restarted'
    if (kind === 'stdio') this.#restartProcesses(name, why)
    else this.#retire(name, why)
  }

  /** Ends what has nothing open any more, or had time enough, and processes of sessions that can do without: for
   * as long as the configuration says, nobody waits for an answer and nobody listens. */
  look(nowMs: number): void {
    for (const [relay, untilMs] of this.#retiring)
      if (relay.openRequests === 0 || nowMs >= untilMs) void relay.end('the server was changed')
    for (const [{ openRequests, upstream }, open] of this.#relays)
      if (open.session.client.isIdle !== true || openRequests > 0) open.lastBusyMs = nowMs
      else if (nowMs - open.lastBusyMs >= open.idleMs) upstream.rest?.('nobody uses it')
  }

  #of(server: string): Relay[] {
    return [...this].filter((relay) => relay.server === server)
  }

  /** New requests of clients of all servers go over new links; a session with this server alone ends. */
  #retire(name: string, why: string): void {
    for (const client of this.aggregates) client.replace(name)
    for (const relay of this.#of(name))
      if (relay.openRequests === 0) void relay.end(why)
      else this.#retiring.set(relay, performance.now() + SERVER_DRAIN_MS)
  }
}

/** Sessions stay, and only their processes are others. */
function canReplaceProcess(before: ServerConfig, after: ServerConfig): boolean {
  return before.kind === 'stdio' && after.kind === 'stdio' && before.share === after.share
}
