// The sessions of the HTTP front: by id, bounded, and ended when nobody uses them. The process behind a
// session ends earlier than the session (see the gate).

import { hash, randomUUID } from 'node:crypto'
import { type Caller, getCallerKey } from '@sluice/access/identity/callers/caller'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { MADE_ROOM, pickEvictable } from '../../processes/evict-idle.ts'
import { SESSION_IDLE_MS, SESSIONS_MAX, SESSIONS_OVER_MAX } from '../../shared/limits.ts'
import { type ClientEvents, SESSION_TAKEN } from '../../shared/transport.ts'
import { ReplayStore } from '../exchange/replay.ts'
import type { ClientSession } from './front-session.ts'
import { HttpSession } from './http-session.ts'
import { StatelessClient } from './stateless-client.ts'

type ClientConnection = ClientSession | StatelessClient

/** What it takes to go on with a session after a restart of the gate. */
export interface ResumableSession {
  readonly sessionKey: string
  readonly revision: string
  /** Empty if its server cannot go on with it. */
  readonly handle: string
  /** The gate of a cluster that opened it. */
  readonly gate?: string | undefined
}

/** What requests of the stateless generation must agree in to share a conversation with a server. */
interface CommonToClients {
  readonly capabilities: string
  readonly tokenKey: string | undefined
  readonly mode?: string | undefined
}

/** Names of sessions that say how to go on with them, and only to whom they were given. */
export interface SessionIds {
  readonly give: (
    server: string,
    caller: Caller,
    session: Omit<ResumableSession, 'handle'> & { readonly handle: string | undefined },
  ) => string | undefined
  readonly read: (server: string, caller: Caller, name: string) => ResumableSession | undefined
}

export class SessionRegistry {
  readonly #byId = new Map<string, ClientSession>()
  /** Clients without a session, by what they have in common. */
  readonly #stateless = new Map<string, StatelessClient>()
  readonly #replays = new ReplayStore()
  readonly #nowMs: () => number

  /** Names of sessions that are over, or are not to be gone on with, and why. */
  readonly #over = new LruMap<string, string>(SESSIONS_OVER_MAX)
  readonly #names: SessionIds

  constructor(
    nowMs: () => number,
    names: SessionIds = { give: () => undefined, read: () => undefined },
  ) {
    this.#nowMs = nowMs
    this.#names = names
  }

  /** A session of another server or of another principal is none. */
  use(server: string, id: string | undefined, caller: Caller): ClientSession | undefined {
    const session = this.#byId.get(id ?? '')
    if (session === undefined || session.server !== server) return undefined
    if (session.caller.principal.id !== caller.principal.id) return undefined
    session.caller = caller
    session.lastUsedMs = this.#nowMs()
    return session
  }

  /** The gate of a cluster that opened a session; undefined if it is none of this caller's. */
  gateOf(server: string, id: string, caller: Caller): string | undefined {
    return this.#names.read(server, caller, id)?.gate
  }

  /** Other gates have taken these over: `isTaken` tells by the name. */
  closeTaken(isTaken: (id: string) => boolean): void {
    for (const [id, session] of [...this.#byId]) if (isTaken(id)) session.close(SESSION_TAKEN)
  }

  /** Why a session is over; undefined if none of this name is known to be. */
  whyOver(id: string): string | undefined {
    return this.#over.get(id)
  }

  /** Opens a session; undefined if all are in use. `connect` puts the gate behind the session. */
  open(
    server: string,
    caller: Caller,
    tokenKey: string | undefined,
    connect: (session: HttpSession) => ClientEvents,
  ): HttpSession | undefined {
    return this.add((id, nowMs, onEnd) => {
      const sessionKey = tokenKey ?? toSessionKey(id)
      const options = { id, sessionKey, server, caller, nowMs, replays: this.#replays }
      const onBegun = (session: HttpSession, handle?: string) => this.#rename(session, handle)
      return new HttpSession({ ...options, connect, onBegun, onEnd })
    })
  }

  /** Before the client has heard its name. */
  #rename(session: HttpSession, handle: string | undefined): void {
    const { server, caller, revision, sessionKey } = session
    const id = this.#names.give(server, caller, { revision, sessionKey, handle })
    if (id === undefined) return
    this.#byId.delete(session.id)
    session.id = id
    this.#byId.set(id, session)
  }

  /** A session from before a restart of the gate: its sealed id says how to resume it. */
  resume(
    server: string,
    id: string | undefined,
    caller: Caller,
    connect: (session: HttpSession, handle: string) => ClientEvents,
  ): HttpSession | undefined {
    if (id === undefined || this.#over.has(id)) return undefined
    const resumable = this.#names.read(server, caller, id)
    if (resumable === undefined || resumable.handle === '') return undefined
    const { sessionKey, revision, handle } = resumable
    return this.add((_id, nowMs, onEnd) => {
      const options = { id, sessionKey, server, caller, nowMs, replays: this.#replays }
      return new HttpSession({
        ...options,
        revision,
        // The client may come back with the number of an event from before.
        eventsBefore: Date.now(),
        connect: (session) => connect(session, handle),
        onEnd,
      })
    })
  }

  /** A session of any transport; undefined, and not made, where all are in use. */
  add<Session extends ClientSession>(
    make: (id: string, nowMs: number, onEnd: (why: string) => void) => Session,
  ): Session | undefined {
    if (!this.#hasRoom()) return undefined
    let made: Session | undefined
    let isOver = false
    const session = make(randomUUID(), this.#nowMs(), (why) => {
      isOver = true
      if (made === undefined) return
      this.#byId.delete(made.id)
      this.#over.set(made.id, why)
    })
    made = session
    // It may have ended while it was connected.
    if (!isOver) this.#byId.set(session.id, session)
    return session
  }

  /** The conversation of a principal's clients of the stateless generation that are judged alike and can do
   * the same: a server with sessions has been told what that is. Undefined if all are in use. */
  stateless(
    server: string,
    caller: Caller,
    { capabilities, tokenKey, mode }: CommonToClients,
    connect: (client: StatelessClient) => ClientEvents,
  ): StatelessClient | undefined {
    const common = JSON.stringify([
      server,
      getCallerKey(caller),
      capabilities,
      tokenKey ?? null,
      mode,
    ])
    const key = hash('sha256', common)
    const there = this.#stateless.get(key)
    if (there !== undefined) {
      there.caller = caller
      there.lastUsedMs = this.#nowMs()
      return there
    }
    if (!this.#hasRoom()) return undefined
    const onEnd = (): void => void this.#stateless.delete(key)
    const client = new StatelessClient({ server, caller, nowMs: this.#nowMs(), connect, onEnd })
    this.#stateless.set(key, client)
    return client
  }

  /** Ends what is idle; what is open shows that it lives. */
  sweep(): void {
    const now = this.#nowMs()
    for (const session of this.#all()) {
      const isOver = session.isIdle && now - session.lastUsedMs >= SESSION_IDLE_MS
      if (isOver) session.close(`nobody used it for ${SESSION_IDLE_MS / 60_000} minutes`)
      else session.pulse()
    }
  }

  closeAll(why: string): void {
    for (const session of this.#all()) session.close(why)
  }

  #all(): ClientConnection[] {
    return [...this.#byId.values(), ...this.#stateless.values()]
  }

  #hasRoom(): boolean {
    const all = this.#all()
    if (all.length < SESSIONS_MAX) return true
    const gives = pickEvictable(
      all.map((client) => ({ client, owner: client.caller.principal.id })),
    )
    gives?.close(MADE_ROOM)
    return gives !== undefined
  }
}

/** The key of an MCP session that came without a session token. */
export function toSessionKey(id: string): string {
  return `mcp ${id}`
}
