// The sessions of the HTTP front: by id, bounded, and ended when nobody uses them. A session whose
// server is a process of its own costs more and ends earlier; how many of those there may be is the
// gate's to say, since there are other fronts.

import { randomUUID } from 'node:crypto'
import type { Caller } from '../../identity/caller.ts'
import { PROCESS_SESSION_IDLE_MS, SESSION_IDLE_MS, SESSIONS_MAX } from '../limits.ts'
import { MADE_ROOM, sparest } from '../make-room.ts'
import type { FrontSession } from './front-session.ts'
import { HttpSession } from './http-session.ts'

export class Sessions {
  readonly #byId = new Map<string, FrontSession>()
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
    if (session === undefined) return undefined
    const { onClose } = session
    session.onClose = (why) => {
      this.#byId.delete(session.id)
      onClose(why)
    }
    this.#byId.set(session.id, session)
    return session
  }

  /** Ends what is idle; what is open shows that it lives. */
  sweep(): void {
    const now = this.#nowMs()
    for (const session of [...this.#byId.values()]) {
      const idleMs = this.#isProcess(session.server) ? PROCESS_SESSION_IDLE_MS : SESSION_IDLE_MS
      if (session.isIdle && now - session.lastUsedMs >= idleMs) session.close('idle for too long')
      else session.pulse()
    }
  }

  closeAll(why: string): void {
    for (const session of [...this.#byId.values()]) session.close(why)
  }

  #hasRoom(): boolean {
    if (this.#byId.size < SESSIONS_MAX) return true
    const all = [...this.#byId.values()]
    const gives = sparest(all.map((client) => ({ client, owner: client.caller.principal.id })))
    gives?.close(MADE_ROOM)
    return gives !== undefined
  }
}
