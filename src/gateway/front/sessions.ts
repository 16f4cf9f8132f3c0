// The sessions of the HTTP front: by id, bounded, and ended when nobody uses them. A session whose
// server is a process of its own costs more and ends earlier; how many of those there may be is the
// gate's to say, since there are other fronts.

import { createHash, randomUUID } from 'node:crypto'
import type { Caller } from '../../identity/caller.ts'
import { PROCESS_SESSION_IDLE_MS, SESSION_IDLE_MS, SESSIONS_MAX } from '../limits.ts'
import { MADE_ROOM, sparest } from '../make-room.ts'
import type { FrontSession } from './front-session.ts'
import { HttpSession } from './http-session.ts'
import { StatelessClient } from './stateless-client.ts'

type Held = FrontSession | StatelessClient

export class Sessions {
  readonly #byId = new Map<string, FrontSession>()
  /** Clients without a session, by what they have in common. */
  readonly #stateless = new Map<string, StatelessClient>()
  readonly #isProcess: (server: string) => boolean
  readonly #nowMs: () => number

  constructor(isProcess: (server: string) => boolean, nowMs: () => number) {
    this.#isProcess = isProcess
    this.#nowMs = nowMs
  }

  /** A session of another server or of another principal is none. */
  use(server: string, id: string | undefined, caller: Caller): FrontSession | undefined {
    const session = this.#byId.get(id ?? '')
    if (session === undefined || session.server !== server) return undefined
    if (session.caller.principal.id !== caller.principal.id) return undefined
    session.caller = caller
    session.lastUsedMs = this.#nowMs()
    return session
  }

  /** Undefined where all are in use. `connect` sets what the session calls when it ends, and is false
   * where there is no room behind it. */
  open(
    server: string,
    caller: Caller,
    connect: (session: HttpSession) => boolean,
  ): HttpSession | undefined {
    return this.add((id, nowMs) => {
      const session = new HttpSession(id, server, caller, nowMs)
      return connect(session) ? session : undefined
    })
  }

  /** A session of any transport; undefined, and not made, where all are in use. */
  add<Session extends FrontSession>(
    make: (id: string, nowMs: number) => Session | undefined,
  ): Session | undefined {
    const session = this.#hasRoom() ? make(randomUUID(), this.#nowMs()) : undefined
    return session === undefined ? undefined : keep(this.#byId, session.id, session)
  }

  /** The conversation of a principal's clients of the stateless era that can do the same: a server
   * with sessions has been told what that is. Undefined where all are in use. */
  stateless(
    server: string,
    caller: Caller,
    capabilities: string,
    connect: (client: StatelessClient) => boolean,
  ): StatelessClient | undefined {
    const common = JSON.stringify([server, caller.principal.id, capabilities])
    const key = createHash('sha256').update(common).digest('hex')
    const there = this.#stateless.get(key)
    if (there !== undefined) {
      there.caller = caller
      there.lastUsedMs = this.#nowMs()
      return there
    }
    if (!this.#hasRoom()) return undefined
    const client = new StatelessClient(server, caller, this.#nowMs())
    return connect(client) ? keep(this.#stateless, key, client) : undefined
  }

  /** Ends what is idle; what is open shows that it lives. */
  sweep(): void {
    const now = this.#nowMs()
    for (const session of this.#all()) {
      const idleMs = this.#isProcess(session.server) ? PROCESS_SESSION_IDLE_MS : SESSION_IDLE_MS
      if (session.isIdle && now - session.lastUsedMs >= idleMs) session.close('idle for too long')
      else session.pulse()
    }
  }

  closeAll(why: string): void {
    for (const session of this.#all()) session.close(why)
  }

  #all(): Held[] {
    return [...this.#byId.values(), ...this.#stateless.values()]
  }

  #hasRoom(): boolean {
    const all = this.#all()
    if (all.length < SESSIONS_MAX) return true
    const gives = sparest(all.map((client) => ({ client, owner: client.caller.principal.id })))
    gives?.close(MADE_ROOM)
    return gives !== undefined
  }
}

/** Until it closes by itself. */
function keep<Kept extends Held>(map: Map<string, Held>, key: string, made: Kept): Kept {
  const { onClose } = made
  made.onClose = (why) => {
    map.delete(key)
    onClose(why)
  }
  map.set(key, made)
  return made
}
