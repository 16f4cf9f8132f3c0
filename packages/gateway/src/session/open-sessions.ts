// The connections that are open, each with the session that it belongs to: opened for a client or for a
// family of agents, and closed when the client may no longer call or a person ends the session. Used by
// the gate.

import type { Caller } from '@sluice/access/identity/callers/caller'
import { SESSION_SWEEP_EVERY_MS } from '@sluice/access/identity/limits'
import { type AgentSessions, COMMON_KEY } from '@sluice/access/identity/sessions/agent-sessions'
import type { SessionView } from '@sluice/access/identity/sessions/describe-session'
import type { SessionLease } from '@sluice/access/identity/sessions/session-lease'
import type { SharedSessions } from '@sluice/access/identity/sessions/shared-sessions'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { AgentFacts } from '@sluice/policy/calls/call'
import type { SessionLabels } from '@sluice/protocol/agent-calls'
import { runInSlices } from '../shared/slices.ts'
import type { ClientTransport } from '../shared/transport.ts'

/** Idle times of sessions: setting the machine's clock makes none forget what it saw. */
const { steadyMs } = processClock

export interface OpenSession {
  readonly client: ClientTransport
  readonly who: () => Caller
  readonly lease: SessionLease
  readonly agent: () => AgentFacts | null
  /** What the connection is recognised by; undefined for a family of agents. */
  readonly key?: string | undefined
  /** The connection has ended. */
  readonly release: () => void
}

export interface AgentFamilySession {
  readonly family: string
  /** A client's program calls: `family` is the key of the client's session. */
  readonly isProgram?: boolean
  readonly agent: () => AgentFacts | null
}

/** A session beside its links. */
export interface FamilyMemory
  extends SessionLabels,
    Pick<SessionLease, 'provenance' | 'remembered' | 'noteMode'> {}

export class OpenSessions {
  readonly #sessions: AgentSessions
  /** Undefined if they are those of this gate alone. */
  readonly #shared: SharedSessions | undefined
  /** Whether a rule for this caller reads where values came from. */
  readonly #remembers: (caller: Caller) => boolean
  readonly #open = new Set<OpenSession>()
  #sweptMs = 0

  constructor(
    sessions: AgentSessions,
    shared: SharedSessions | undefined,
    remembers: (caller: Caller) => boolean,
  ) {
    this.#sessions = sessions
    this.#shared = shared
    this.#remembers = remembers
    shared?.onOver((id) =>
      this.#closeAll(id, 'the session is over: it was ended, or not used for its idle time'),
    )
  }

  /** A promise if gates share their sessions: the store is asked which one it is. */
  open(
    client: ClientTransport,
    who: () => Caller,
    sessionKey = COMMON_KEY,
  ): OpenSession | Promise<OpenSession> {
    const caller = who()
    const { principal, sessions: limit } = caller
    const add = (lease: SessionLease) =>
      this.#add({ client, who, lease, agent: () => null, key: sessionKey })
    if (this.#shared !== undefined)
      return this.#openShared(this.#shared, caller, sessionKey).then(add)
    return add(this.#sessions.open(principal.id, sessionKey, limit, steadyMs()))
  }

  openFamily(
    client: ClientTransport,
    who: () => Caller,
    { family, agent }: AgentFamilySession,
  ): OpenSession | Promise<OpenSession> {
    const caller = who()
    const { id } = caller.principal
    const add = (lease: SessionLease) => this.#add({ client, who, lease, agent })
    if (this.#shared !== undefined)
      return this.#shared.openFamily(family, id, this.#remembers(caller)).then(add)
    return add(this.#sessions.openFamily(family, id, steadyMs()))
  }

  /** What the session of a key remembers, while a connection keeps it. */
  memoryOf(caller: Caller, key: string): FamilyMemory | Promise<FamilyMemory> {
    const { principal, sessions } = caller
    if (this.#shared !== undefined)
      return this.#openShared(this.#shared, caller, key).then(toMemory)
    return toMemory(this.#sessions.open(principal.id, key, sessions, steadyMs()))
  }

  /** What a family of agents has seen and remembers, whatever links it has. */
  familyMemory(family: string, owner: Caller | undefined): FamilyMemory | Promise<FamilyMemory> {
    const remembers = owner !== undefined && this.#remembers(owner)
    if (this.#shared !== undefined)
      return this.#shared.openFamily(family, undefined, remembers).then(toMemory)
    return toMemory(this.#sessions.openFamily(family, undefined, steadyMs()))
  }

  #openShared(shared: SharedSessions, caller: Caller, key: string): Promise<SessionLease> {
    const { principal, sessions: limit } = caller
    return shared.open(principal.id, key, { ...limit, remembers: this.#remembers(caller) })
  }

  /** Closes the connections of callers that no longer hold: revoked, expired, or not local any more. */
  endUnheld(): void {
    for (const { client, who } of [...this.#open])
      if (!who().holds()) client.close('the caller that opened this session may no longer call')
  }

  /** For people. */
  list(): SessionView[] {
    return this.#sessions.views(steadyMs())
  }

  nameOf(id: string): string {
    return this.#sessions.nameOf(id)
  }

  /** Closes its connections and forgets what it has seen, at every gate. Undefined if there is none. */
  async end(id: string): Promise<SessionView | undefined> {
    const found = this.#sessions.find(id, steadyMs())
    if (found === undefined) return undefined
    const why = 'a person ended the session'
    if (this.#shared === undefined) this.#sessions.end(found.id)
    else await this.#shared.end(found.id)
    this.#closeAll(found.id, why)
    return found
  }

  #closeAll(id: string, why: string): void {
    for (const { client, lease } of [...this.#open]) if (lease.id === id) client.close(why)
  }

  sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < SESSION_SWEEP_EVERY_MS) return
    this.#sweptMs = nowMs
    // Families of agents may have left very many.
    void runInSlices(this.#sessions.sweep(steadyMs()), 'other')
  }

  #add(opened: Omit<OpenSession, 'release'>): OpenSession {
    const { client, lease } = opened
    const session: OpenSession = {
      ...opened,
      release: () => {
        if (!this.#open.delete(session)) return
        // Requests of the stateless protocol have no connection that ends.
        lease.release(client.generation === 'stateless' ? undefined : steadyMs())
      },
    }
    this.#open.add(session)
    return session
  }
}

function toMemory(lease: SessionLease): FamilyMemory {
  lease.release()
  return {
    saw: () => lease.facts(steadyMs()).saw,
    see: (labels) => void lease.see(labels, steadyMs()),
    provenance: () => lease.provenance(),
    remembered: () => lease.remembered(),
    noteMode: (mode) => lease.noteMode(mode),
  }
}
