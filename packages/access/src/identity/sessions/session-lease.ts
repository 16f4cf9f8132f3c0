// One connection's use of a session, and what a session and its principal are in memory. Made by
// AgentSessions, which decides which session a connection belongs to.

import type { SessionCheck } from '@sluice/ledger/store/admission'
import type { SessionFacts } from '@sluice/policy/calls/call'
import type { PastCall, PastCalls } from '@sluice/policy/calls/past-calls'
import type { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import { SessionValues } from '@sluice/policy/provenance/session-values'
import { addDecimal, type Decimal, formatDecimal, ZERO } from '@sluice/policy/values/decimal'
import { FAMILY_SESSION_IDLE_MS, PAST_CALLS_MAX, SESSION_KEYS_MAX } from '../limits.ts'
import type { AnswerMemory, RememberingSession } from './answer-memory.ts'
import { cleanClient, type SessionView } from './describe-session.ts'
import type { StoredSession } from './session-memory.ts'
import { SessionVault } from './session-vault.ts'

export type LabelScope = 'session' | 'principal'

export interface AgentSession extends RememberingSession {
  readonly number: number
  readonly startedAtMs: number
  readonly idleMs: number
  readonly owner: PrincipalSessions
  readonly keys: Set<string>
  readonly saw: Set<string>
  readonly servers: Set<string>
  client: string
  /** See `SessionFacts`. Not stored: each hook of the client says it again. */
  mode?: string | undefined
  lastUsedMs: number
  calls: number
  /** A call was decided in it, so the ledger has it. */
  isUsed: boolean
  /** A person has ended it. */
  isEnded: boolean
  /** Connections that use it now. */
  connections: number
  /** What it called, newest last; made when a rule first reads it. */
  past: { calls: PastCall[]; hasMore: boolean } | undefined
  /** The digest of the last call, and how often it came in a row. Not kept over a restart. */
  repeated: { readonly digest: string; readonly times: number }
  /** The size of all answers. */
  answerBytes: number
  /** The prices of all calls. */
  cost: Decimal
  /** Other gates use it too, or may have before a failover: what this one remembers of calls is incomplete. */
  isSplit: boolean
  /** Whether a part of what gates have sent to its clients is not remembered where they share it. */
  hasGap: boolean
}

export interface PrincipalSessions {
  readonly principal: string
  /** The sessions that are live or still count, the oldest first. */
  sessions: AgentSession[]
  nextNumber: number
  windowMs: number
  /** What any of its sessions has seen. */
  readonly saw: Set<string>
  lastUsedMs: number
}

interface LeaseContext {
  /** Returns undefined if the session belongs to this gate alone. */
  readonly checks: () => readonly SessionCheck[] | undefined
  readonly whenStored: () => Promise<void> | undefined
  /** Whose labels those of the session are too. Looked up each time: it is forgotten between uses. */
  readonly principal: () => PrincipalSessions
  readonly begin: () => void
  readonly save: () => void
  readonly saveLabels: () => void
  readonly forget: () => void
  readonly memory: AnswerMemory
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
    return this.#context.memory.vaultOf(this.#session)
  }

  /** The versions of the session by which a call is decided: the shared store compares them. */
  checks(): readonly SessionCheck[] | undefined {
    return this.#context.checks()
  }

  /** Resolves when every gate knows what the session has seen; undefined if they know. What it has seen since must not
   * be sent before. */
  whenStored(): Promise<void> | undefined {
    return this.#context.whenStored()
  }

  /** The session as rules see it. */
  facts(nowMs: number, scope: LabelScope = 'session'): SessionFacts {
    const { id, startedAtMs, calls, saw, mode } = this.#session
    if (scope === 'session') return { id, startedAtMs, calls, mode, saw: [...saw] }
    const principal = this.#context.principal()
    principal.lastUsedMs = Math.max(principal.lastUsedMs, nowMs)
    return { id, startedAtMs, calls, mode, saw: [...new Set([...saw, ...principal.saw])] }
  }

  /** What the session remembers of answers. What was read before it is asked for counts as forgotten. */
  provenance(): SessionProvenance {
    const memory = this.#context.memory.provenanceOf(this.#session)
    if (this.#session.hasGap) memory.markIncomplete()
    return memory
  }

  /** It remembers more than before. Called before the message that brought it is sent. */
  remembered(): void {
    this.#context.memory.changed(this.#session)
  }

  /** The client is sent something that is not remembered. */
  missed(): void {
    this.#context.memory.missed(this.#session)
  }

  /** Values may have been sealed. Called before their placeholders are sent. */
  saveSealed(): void {
    this.#context.memory.saveSealed(this.#session)
  }

  /** Other gates serve the session, too: what is counted here alone is not known. */
  get isSplit(): boolean {
    return this.#session.isSplit
  }

  /** How often this call was made in a row just before. */
  repeats(digest: string): number {
    const { repeated } = this.#session
    return repeated.digest === digest ? repeated.times : 0
  }

  noteRepeated(digest: string): void {
    const times = this.repeats(digest) + 1
    this.#session.repeated = { digest, times }
  }

  /** Tokens of all answers, estimated. */
  get tokens(): number {
    return toTokens(this.#session.answerBytes)
  }

  noteAnswer(bytes: number): void {
    this.#session.answerBytes += bytes
  }

  /** Fields of the answers of the session, as far as a policy reads them. */
  values(reads: string): SessionValues {
    const { memory } = this.#context
    // One of its own: what is remembered in it is of no other session.
    return this.#session.isSplit ? new SessionValues(true) : memory.valuesOf(this.#session, reads)
  }

  /** Fields of an answer were remembered. Called before it is sent. */
  saveValues(): void {
    if (!this.#session.isSplit) this.#context.memory.saveValues(this.#session)
  }

  /** An answer is sent whose fields are not remembered. */
  missedValues(): void {
    this.#context.memory.missedValues(this.#session)
  }

  /** What the session called before. */
  past(): PastCalls {
    return this.#session.isSplit ? UNKNOWN_PAST : this.#past()
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
  noteUse(nowMs: number): void {
    const session = this.#session
    session.lastUsedMs = Math.max(session.lastUsedMs, nowMs)
    if (session.isUsed) return
    session.isUsed = true
    this.#context.save()
    this.#context.begin()
  }

  /** A hook of the client has said its permission mode. */
  noteMode(mode: string): void {
    this.#session.mode = mode
  }

  /** A call was forwarded, at this price. */
  used(price: Decimal | undefined): void {
    const session = this.#session
    session.calls += 1
    if (price !== undefined) session.cost = addDecimal(session.cost, price)
  }

  /** Which client this is, by its own word, and which server it uses. */
  introduce(client: string | undefined, server: string | undefined): void {
    const session = this.#session
    const isNew = server !== undefined && !session.servers.has(server)
    if (isNew) session.servers.add(server)
    const clientName = client === undefined ? '' : cleanClient(client)
    const isFirst = session.client === '' && clientName !== ''
    if (isFirst) session.client = clientName
    if (session.isUsed && (isNew || isFirst)) this.#context.save()
  }

  /** Returns those that are new. They are stored before the message that brings them is sent. */
  see(labels: readonly string[], nowMs: number): readonly string[] {
    if (labels.length === 0) return labels
    const session = this.#session
    this.noteUse(nowMs)
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

/** Estimates the tokens of text and JSON as usual: four bytes each. */
function toTokens(bytes: number): number {
  return Math.floor(bytes / 4)
}

/** It is not known. */
const UNKNOWN_PAST: PastCalls = { calls: [], hasMore: true }

const FAMILY = 'agents/'

export function familyOwner(family: string): string {
  return `${FAMILY}${family}`
}

/** No principal is named so: a grant has no `/`, and in `<issuer>:<subject>` the colon comes first. */
export function isFamilyOwner(principal: string): boolean {
  return principal.startsWith(FAMILY)
}

/** A session that nothing has happened in yet. */
export function makeSession(
  owner: PrincipalSessions,
  fields: Pick<AgentSession, 'id' | 'number' | 'startedAtMs' | 'lastUsedMs'>,
  idleMs: number,
): AgentSession {
  return {
    ...fields,
    idleMs: isFamilyOwner(owner.principal) ? FAMILY_SESSION_IDLE_MS : idleMs,
    owner,
    keys: new Set(),
    saw: new Set(),
    servers: new Set(),
    vault: new SessionVault(),
    client: '',
    calls: 0,
    isUsed: false,
    isEnded: false,
    connections: 0,
    provenance: undefined,
    provenanceBytes: 0,
    stored: new Set(),
    hasReadSeals: true,
    past: undefined,
    values: undefined,
    repeated: { digest: '', times: 0 },
    answerBytes: 0,
    cost: ZERO,
    isSplit: false,
    hasGap: false,
  }
}

export function isLive(session: AgentSession, nowMs: number): boolean {
  if (session.connections > 0) return true
  return !session.isEnded && nowMs - session.lastUsedMs < session.idleMs
}

export function addKey({ keys }: Pick<AgentSession, 'keys'>, key: string): void {
  keys.delete(key)
  keys.add(key)
  const [oldest] = keys
  if (keys.size > SESSION_KEYS_MAX) keys.delete(oldest as string)
}

/** A session that only the ledger knows: it cannot be continued by name, but it counts. */
export function unknownSession(id: string): StoredSession {
  const startedAtMs = Number(/@(\d+)$/.exec(id)?.[1] ?? 0)
  const empty = { keys: [], saw: [], servers: [], client: '', calls: 0 }
  return {
    id,
    principal: '',
    startedAtMs,
    lastUsedMs: startedAtMs,
    isConnected: false,
    isEnded: false,
    ...empty,
  }
}

export function toView(session: AgentSession): SessionView {
  const { id, owner, startedAtMs, lastUsedMs, connections, calls, client, cost } = session
  const [key = ''] = session.keys
  return {
    id,
    principal: owner.principal,
    startedAtMs,
    lastUsedMs,
    connections,
    calls,
    tokens: toTokens(session.answerBytes),
    cost: formatDecimal(cost),
    client,
    kind: key.split(' ')[0] ?? '',
    servers: [...session.servers],
    saw: [...session.saw],
  }
}
