// The sessions of the HTTP front: by id, bounded, and ended when nobody uses them. A session whose
// server is a process of its own costs more, so there are fewer, and the longest unused makes room.

import { randomUUID } from 'node:crypto'
import type { Caller } from '../../identity/caller.ts'
import {
  PROCESS_SESSION_IDLE_MS,
  PROCESS_SESSIONS_MAX,
  SESSION_IDLE_MS,
  SESSIONS_MAX,
} from '../limits.ts'
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

  /** Undefined where all are in use. `connect` sets what the session calls when it ends. */
  open(
    server: string,
    caller: Caller,
    connect: (session: HttpSession) => void,
  ): HttpSession | undefined {
    return this.add(server, (id, nowMs) => {
      const session = new HttpSession(id, server, caller, nowMs)
      connect(session)
      return session
    })
  }

  /** A session of any transport; undefined, and not made, where all are in use. */
  add<Session extends FrontSession>(
    server: string,
    make: (id: string, nowMs: number) => Session,
  ): Session | undefined {
    if (!this.#hasRoom(server)) return undefined
    const session = make(randomUUID(), this.#nowMs())
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

  #hasRoom(server: string): boolean {
    const all = [...this.#byId.values()]
    const alike = this.#isProcess(server)
      ? all.filter((session) => this.#isProcess(session.server))
      : all
    const max = this.#isProcess(server) ? PROCESS_SESSIONS_MAX : SESSIONS_MAX
    if (alike.length < max) return true
    // Whoever has the most gives one up, or one principal could push all others out.
    const counts = new Map<string, number>()
    for (const { caller } of alike)
      counts.set(caller.principal.id, (counts.get(caller.principal.id) ?? 0) + 1)
    const has = ({ caller }: FrontSession): number => counts.get(caller.principal.id) ?? 0
    const [oldest] = alike
      .filter(({ openRequests }) => openRequests === 0)
      .sort((one, other) => has(other) - has(one) || rank(one) - rank(other))
    oldest?.close('the session made room for a newer one')
    return oldest !== undefined
  }
}

/** Idle ones first, then those that only listen. */
function rank({ isIdle, lastUsedMs }: FrontSession): number {
  return isIdle ? lastUsedMs : lastUsedMs + Number.MAX_SAFE_INTEGER / 2
}
