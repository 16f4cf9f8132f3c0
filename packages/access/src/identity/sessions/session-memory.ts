// What is kept of sessions over a restart of the gate: the interface that AgentSessions writes through.
// The gateway implements it on `gate.db`; tests use one in memory.

import type { SessionCheck } from '@sluice/ledger/store/admission'

/** What is known of a session wherever it is stored or shown. */
export interface KnownSession {
  readonly id: string
  readonly principal: string
  readonly calls: number
  readonly saw: readonly string[]
  /** Name and version of the client: its own word. */
  readonly client: string
  readonly servers: readonly string[]
}

export interface StoredSession extends KnownSession {
  /** What connections name it by, see docs/decisions/2026-11-15-sessions.md. */
  readonly keys: readonly string[]
  readonly startedAtMs: number
  readonly lastUsedMs: number
  /** A connection was open when this was written. */
  readonly isConnected: boolean
  /** Ended by a person: it is only counted, and cannot be continued. */
  readonly isEnded: boolean
}

/** Labels that any session of a principal has seen. */
export interface PrincipalLabels {
  readonly principal: string
  readonly saw: readonly string[]
  readonly lastUsedMs: number
}

/** What was stored before a restart. */
export interface LoadedSessions {
  readonly sessions: StoredSession[]
  readonly principals: PrincipalLabels[]
}

export interface SessionMemory {
  load(): LoadedSessions
  save(session: StoredSession): void
  remove(id: string): void
  saveLabels(labels: PrincipalLabels): void
  removeLabels(principal: string): void
  /** Nothing has happened in it, and its last connection has ended. */
  forget?(id: string): void
  /** Returns undefined if what the session has seen is stored. */
  whenStored?(id: string): Promise<void> | undefined
  /** The versions of these principals' sessions by which a call is decided. */
  checksOf?(id: string, principals: readonly string[]): readonly SessionCheck[]
}

/** A session as the shared store has it, for a new connection. */
export interface SharedSession {
  readonly id: string
  readonly saw: readonly string[]
  readonly ageMs: number
  /** Other gates have used it too, or may have before a failover. */
  readonly isSplit: boolean
  /** Whether a part of what gates have sent to its clients is not remembered where they share it. */
  readonly hasGap: boolean
  readonly isNew: boolean
}
