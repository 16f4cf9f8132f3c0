// One connection's use of a session, and what a session and its principal are in memory. Made by
// AgentSessions, which decides which session a connection belongs to.

import type { SessionFacts } from '@sluice/policy/core/call'
import type { PastCall, PastCalls } from '@sluice/policy/core/past-calls'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import { PAST_CALLS_MAX } from '../limits.ts'
import { cleanClient } from './describe-session.ts'
import { randomSeed } from './random-seed.ts'
import type { SessionVault } from './session-vault.ts'

export type LabelScope = 'session' | 'principal'

export interface AgentSession {
  readonly id: string
  readonly number: number
  readonly startedAtMs: number
  readonly idleMs: number
  readonly owner: PrincipalSessions
  readonly keys: Set<string>
  readonly saw: Set<string>
  readonly servers: Set<string>
  /** Values that its agent may not see. */
  readonly vault: SessionVault
  client: string
  lastUsedMs: number
  calls: number
  /** A call was decided in it, so the ledger has it. */
  isUsed: boolean
  /** By a person. */
  isEnded: boolean
  /** Connections that use it now. */
  connections: number
  /** What it remembers of answers; made when a rule first reads it. */
  provenance: SessionProvenance | undefined
  /** What it called, newest last; made when a rule first reads it. */
  past: { calls: PastCall[]; hasMore: boolean } | undefined
}

export interface PrincipalSessions {
  readonly principal: string
  /** Those that are live or still count, the oldest first. */
  sessions: AgentSession[]
  nextNumber: number
  windowMs: number
  /** What any of its sessions has seen. */
  readonly saw: Set<string>
  lastUsedMs: number
}

interface LeaseContext {
  /** Whose labels those of the session are too. Looked up each time: it is forgotten between uses. */
  readonly principal: () => PrincipalSessions
  readonly begin: () => void
  readonly save: () => void
  readonly saveLabels: () => void
  readonly forget: () => void
  /** Before a session remembers answers. */
  readonly makeRoom: () => void
}

/** One connection's use of a session. */
export class SessionLease {
  readonly #session: AgentSession
  readonly #context: LeaseContext

  constructor(session: AgentSession, context: LeaseContext) {
    this.#session = session
    this.#context = context
  }

  get id(): string {
    return this.#session.id
  }

  get vault(): SessionVault {
    return this.#session.vault
  }

  /** The session as rules see it. */
  facts(nowMs: number, scope: LabelScope = 'session'): SessionFacts {
    const { id, startedAtMs, calls, saw } = this.#session
    if (scope === 'session') return { id, startedAtMs, calls, saw: [...saw] }
    const principal = this.#context.principal()
    principal.lastUsedMs = Math.max(principal.lastUsedMs, nowMs)
    return { id, startedAtMs, calls, saw: [...new Set([...saw, ...principal.saw])] }
  }

  /** What the session remembers of answers. What was read before it is asked for counts as forgotten. */
  provenance(): SessionProvenance {
    const session = this.#session
    if (session.provenance === undefined) {
      this.#context.makeRoom()
      session.provenance = new SessionProvenance(randomSeed())
      if (session.isUsed) session.provenance.markIncomplete()
    }
    return session.provenance
  }

  /** What the session called before. */
  past(): PastCalls {
    return this.#past()
  }

  /** A call was forwarded. */
  remember(call: PastCall): void {
    const past = this.#past()
    past.calls.push(call)
    if (past.calls.length <= 2 * PAST_CALLS_MAX) return
    past.calls = past.calls.slice(-PAST_CALLS_MAX)
    past.hasMore = true
  }

  /** A call was decided: a denied one counts as use too. */
  asked(nowMs: number): void {
    const session = this.#session
    session.lastUsedMs = Math.max(session.lastUsedMs, nowMs)
    if (session.isUsed) return
    session.isUsed = true
    this.#context.save()
    this.#context.begin()
  }

  /** A call was forwarded. */
  used(): void {
    this.#session.calls += 1
  }

  /** Which client this is, by its own word, and which server it uses. */
  introduce(client: string | undefined, server: string | undefined): void {
    const session = this.#session
    const isNew = server !== undefined && !session.servers.has(server)
    if (isNew) session.servers.add(server)
    const said = client === undefined ? '' : cleanClient(client)
    const isFirst = session.client === '' && said !== ''
    if (isFirst) session.client = said
    if (session.isUsed && (isNew || isFirst)) this.#context.save()
  }

  /** Returns those that are new. They are stored before the message that brings them is sent. */
  see(labels: readonly string[], nowMs: number): readonly string[] {
    if (labels.length === 0) return labels
    const session = this.#session
    this.asked(nowMs)
    const added = [...new Set(labels)].filter((label) => !session.saw.has(label))
    for (const label of added) session.saw.add(label)
    if (added.length > 0) this.#context.save()
    const principal = this.#context.principal()
    principal.lastUsedMs = Math.max(principal.lastUsedMs, nowMs)
    const ofPrincipal = added.filter((label) => !principal.saw.has(label))
    for (const label of ofPrincipal) principal.saw.add(label)
    if (ofPrincipal.length > 0) this.#context.saveLabels()
    return added
  }

  #past(): NonNullable<AgentSession['past']> {
    const session = this.#session
    session.past ??= { calls: [], hasMore: session.calls > 0 }
    return session.past
  }

  /** The connection has ended: now, or (`nowMs` undefined) with its last request. */
  release(nowMs?: number): void {
    const session = this.#session
    session.connections -= 1
    if (session.connections > 0) return
    if (nowMs !== undefined) session.lastUsedMs = Math.max(session.lastUsedMs, nowMs)
    if (session.isUsed) this.#context.save()
    else if (!isFamilyOwner(session.owner.principal)) this.#context.forget()
  }
}

const FAMILY = 'agents/'

export function familyOwner(family: string): string {
  return `${FAMILY}${family}`
}

/** No principal is named so: a grant has no `/`, and in `<issuer>:<subject>` the colon comes first. */
export function isFamilyOwner(principal: string): boolean {
  return principal.startsWith(FAMILY)
}
