// Sessions as rules and limits see them: which session a connection belongs to, what it has seen, and how
// many of them a principal may have. Nothing that a client chooses freely names a session, and reconnecting
// continues it. See docs/decisions/2026-11-15-sessions.md; kept over a restart by SessionMemory.

import { Listeners } from '@sluice/policy/structures/listeners'
import type { Steps } from '@sluice/policy/structures/steps'
import { SESSION_PRINCIPALS_KEPT, SWEPT_PER_PRINCIPAL } from '../limits.ts'
import { AnswerMemory, type SharedMemory } from './answer-memory.ts'
import type { AnswerMemoryStore } from './answer-memory-store.ts'
import { describeSession, type SessionView } from './describe-session.ts'
import {
  type AgentSession,
  addKey,
  familyOwner,
  isLive,
  makeSession,
  type PrincipalSessions,
  SessionLease,
  toView,
  unknownSession,
} from './session-lease.ts'
import type { SessionMemory, SharedSession, StoredSession } from './session-memory.ts'

/** How many sessions of a principal can charge a limit within a window. */
export interface SessionLimit {
  readonly max: number
  readonly windowMs: number
}

/** What a session has done, as a snapshot or the ledger has it. */
export interface SessionPast
  extends Pick<StoredSession, 'id' | 'lastUsedMs' | 'calls' | 'saw'>,
    Pick<AgentSession, 'answerBytes' | 'cost'> {}

/** The key of requests that name no session. */
export const COMMON_KEY = 'common'

export interface AgentSessionsOptions {
  readonly memory: SessionMemory
  /** What sessions remember of answers, over a restart. */
  readonly answers: AnswerMemoryStore
  /** The same for all gates that share the sessions. */
  readonly sharedAnswers?: SharedMemory | undefined
  readonly idleMs: number
  /** The longest window of any quota: sessions are stored at least this long after a restart. */
  readonly windowMs: number
  readonly nowMs: number
}

/** What other gates know of a session. */
type LearntSession = Pick<SharedSession, 'saw' | 'isSplit' | 'hasGap'>

interface JoinOptions {
  readonly limit: SessionLimit
  readonly nowMs: number
  readonly labelled?: string | undefined
}

export class AgentSessions {
  readonly #principals = new Map<string, PrincipalSessions>()
  readonly #byId = new Map<string, AgentSession>()
  readonly #memory: SessionMemory
  readonly #answers: AnswerMemory
  readonly #idleMs: number
  readonly #windowMs: number
  readonly #begun = new Listeners<[session: SessionView]>()
  /** A session is used for the first time. */
  readonly onBegin = this.#begun.subscribe
  #latestMs = Number.NEGATIVE_INFINITY
  /** The principals that are swept next. */
  #toSweep = this.#principals.values()

  constructor(options: AgentSessionsOptions) {
    const { memory, answers, sharedAnswers, idleMs, windowMs, nowMs } = options
    this.#memory = memory
    this.#answers = new AnswerMemory(answers, () => this.#byId.values(), sharedAnswers)
    this.#idleMs = idleMs
    this.#windowMs = windowMs
    const { sessions, principals } = this.#memory.load()
    for (const stored of sessions) this.#load(stored, nowMs)
    for (const { principal, saw, lastUsedMs } of principals) {
      const owner = this.#ownerOf(principal)
      for (const label of saw) owner.saw.add(label)
      owner.lastUsedMs = Math.max(owner.lastUsedMs, Math.min(lastUsedMs, nowMs))
    }
  }

  /** The session of a new connection. Past the quota it joins the newest one. */
  open(principal: string, key: string, limit: SessionLimit, nowMs: number): SessionLease {
    return this.#join(this.#ownerOf(principal), key, { limit, nowMs: this.#advance(nowMs) })
  }

  /** One session for all agents of a family; its labels are those of `principal` too. */
  openFamily(family: string, principal: string | undefined, nowMs: number): SessionLease {
    const now = this.#advance(nowMs)
    const owner = this.#ownerOf(familyOwner(family))
    return this.#join(owner, 'family', {
      limit: { max: 1, windowMs: 0 },
      nowMs: now,
      labelled: principal,
    })
  }

  /** Joins a session that gates share: which one it is, the shared store has decided. */
  adopt(shared: SharedSession, key: string, nowMs: number, labelled?: string): SessionLease {
    const now = this.#advance(nowMs)
    const { id, isNew } = shared
    const startedAtMs = now - shared.ageMs
    const stored = { ...unknownSession(id), startedAtMs, lastUsedMs: now }
    const session = this.#byId.get(id) ?? this.#load(stored, now, !isNew)
    if (session === undefined) throw new Error(`the shared store has no such session: ${id}`)
    this.#principals.set(session.owner.principal, session.owner)
    this.learn(id, shared)
    return this.#lease(session, key, labelled ?? session.owner.principal)
  }

  /** What other gates have added to a session. */
  learn(id: string, { saw, isSplit, hasGap }: LearntSession): void {
    const session = this.#byId.get(id)
    if (session === undefined) return
    for (const label of saw) session.saw.add(label)
    session.isSplit ||= isSplit
    session.hasGap ||= hasGap
  }

  /** What any session of a principal has seen, at any gate. */
  learnLabels(principal: string, saw: Iterable<string>): void {
    const owner = this.#ownerOf(principal)
    owner.saw.clear()
    for (const label of saw) owner.saw.add(label)
  }

  /** Restores a session from the ledger. */
  restore({ id, lastUsedMs, calls, saw, answerBytes, cost }: SessionPast): void {
    const session = this.#byId.get(id) ?? this.#load(unknownSession(id), lastUsedMs)
    if (session === undefined) return
    session.lastUsedMs = Math.max(session.lastUsedMs, lastUsedMs)
    session.calls = Math.max(session.calls, calls)
    session.answerBytes = answerBytes
    session.cost = cost
    session.isUsed = true
    for (const label of saw) {
      session.saw.add(label)
      session.owner.saw.add(label)
    }
    this.#save(session)
  }

  /** Lists for a snapshot the sessions that are live and that the ledger has. */
  *list(nowMs: number): Generator<SessionPast> {
    for (const session of this.#byId.values()) {
      const { id, calls, connections, isUsed, saw, answerBytes, cost } = session
      const lastUsedMs = connections > 0 ? nowMs : session.lastUsedMs
      if (isUsed && isLive(session, nowMs))
        yield { id, lastUsedMs, calls, saw: [...saw], answerBytes, cost }
    }
  }

  /** The sessions as people see them. */
  views(nowMs: number): SessionView[] {
    return this.#live(nowMs).map(toView)
  }

  /** The name of a session; its id if it is no longer known. */
  nameOf(id: string): string {
    const session = this.#byId.get(id)
    return session === undefined ? id : describeSession(toView(session))
  }

  /** Finds a session by its id or an unambiguous beginning of it. */
  find(id: string, nowMs: number): SessionView | undefined {
    const matches: AgentSession[] = []
    for (const [key, session] of this.#byId)
      if ((key === id || key.startsWith(`${id}@`)) && isLive(session, nowMs)) matches.push(session)
    const [session, ...others] = matches
    return session === undefined || others.length > 0 ? undefined : toView(session)
  }

  /** Forgets what the session has seen; it counts for the quota as before. */
  end(id: string): void {
    const session = this.#byId.get(id)
    if (session === undefined) return
    session.isEnded = true
    session.keys.clear()
    session.saw.clear()
    this.#answers.remove(session)
    session.past = undefined
    if (session.connections === 0 && session.isUsed) this.#save(session)
  }

  /** Removes all that is kept of a caller. Does nothing, and returns false, while one of the sessions is connected. */
  forgetPrincipal(principal: string): boolean {
    const owner = this.#principals.get(principal)
    if (owner?.sessions.some(({ connections }) => connections > 0)) return false
    for (const session of owner?.sessions ?? []) this.#drop(session)
    this.#memory.removeLabels(principal)
    this.#principals.delete(principal)
    return true
  }

  /** Since when the ledger is needed to restore the sessions that are in use. */
  neededSinceMs(nowMs: number): number {
    return this.#recent(nowMs).reduce(
      (least, { startedAtMs }) => Math.min(least, startedAtMs),
      nowMs - this.#idleMs,
    )
  }

  /** Sessions that were used or connected not long ago. */
  recentIds(nowMs: number): readonly string[] {
    return this.#recent(nowMs).map(({ id }) => id)
  }

  /** Removes what is over and counts no more. */
  *sweep(nowMs: number): Steps<void> {
    const now = this.#advance(nowMs)
    for (const owner of this.#principals.values()) {
      this.#clean(owner, now)
      yield
    }
  }

  /** The same for some principals, and the next time for the next ones. */
  #sweepSome(count: number): void {
    for (let swept = 0; swept < count; swept++) {
      const { done, value } = this.#toSweep.next()
      if (done !== true) this.#clean(value, this.#latestMs)
      else this.#toSweep = this.#principals.values()
    }
  }

  /** Writes what sessions remember, before the gate stops. */
  flush(): void {
    this.#answers.flush()
  }

  get principals(): number {
    return this.#principals.size
  }

  #join(
    owner: PrincipalSessions,
    key: string,
    { limit, nowMs, labelled = owner.principal }: JoinOptions,
  ): SessionLease {
    owner.windowMs = limit.windowMs
    this.#clean(owner, nowMs)
    // Also if there was nothing left of it.
    this.#principals.set(owner.principal, owner)
    const live = owner.sessions.filter((session) => isLive(session, nowMs))
    const named = live.find(({ keys }) => keys.has(key))
    const isFull = owner.sessions.length >= Math.max(1, limit.max)
    const joined = named ?? (isFull ? (live.at(-1) ?? owner.sessions.at(-1)) : undefined)
    const session = joined ?? this.#begin(owner, nowMs)
    const lease = this.#lease(session, key, labelled)
    if (session.isUsed && (session.connections === 1 || named === undefined)) this.#save(session)
    return lease
  }

  #lease(session: AgentSession, key: string, labelled: string): SessionLease {
    session.isEnded = false
    addKey(session, key)
    session.connections += 1
    const principals = [...new Set([session.owner.principal, labelled])]
    return new SessionLease(session, {
      checks: () => this.#memory.checksOf?.(session.id, principals),
      whenStored: () => this.#memory.whenStored?.(session.id),
      principal: () => this.#ownerOf(labelled),
      begin: () => this.#begun.emit(toView(session)),
      save: () => this.#save(session),
      saveLabels: () => this.#saveLabels(this.#ownerOf(labelled)),
      forget: () => this.#forget(session),
      memory: this.#answers,
    })
  }

  #begin(owner: PrincipalSessions, nowMs: number): AgentSession {
    const number = owner.nextNumber++
    const id = `${owner.principal}#${number}@${nowMs}`
    const session = makeSession(
      owner,
      { id, number, startedAtMs: nowMs, lastUsedMs: nowMs },
      this.#idleMs,
    )
    owner.sessions.push(session)
    this.#byId.set(id, session)
    return session
  }

  #load(stored: StoredSession | undefined, nowMs: number, isUsed = true): AgentSession | undefined {
    const [, principal, number] = (stored && /^(.*)#(\d+)@\d+$/s.exec(stored.id)) ?? []
    if (stored === undefined || principal === undefined) return undefined
    const owner = this.#ownerOf(principal)
    // A gate that was killed has not written when the last connection ended: it may have been just now.
    const lastUsedMs = stored.isConnected ? nowMs : Math.min(stored.lastUsedMs, nowMs)
    const { id, startedAtMs } = stored
    const session = makeSession(
      owner,
      { id, number: Number(number), startedAtMs, lastUsedMs },
      this.#idleMs,
    )
    Object.assign(session, {
      client: stored.client,
      calls: stored.calls,
      isUsed,
      isEnded: stored.isEnded,
      stored: new Set(['answers', 'sealed', 'values']),
      hasReadSeals: false,
    })
    for (const key of stored.keys) session.keys.add(key)
    for (const label of stored.saw) session.saw.add(label)
    for (const server of stored.servers) session.servers.add(server)
    owner.sessions.push(session)
    owner.sessions.sort((one, other) => one.number - other.number)
    owner.nextNumber = Math.max(owner.nextNumber, session.number + 1)
    this.#byId.set(id, session)
    return session
  }

  #ownerOf(principal: string): PrincipalSessions {
    const there = this.#principals.get(principal)
    if (there !== undefined) return there
    if (this.#principals.size >= SESSION_PRINCIPALS_KEPT) this.#sweepSome(SWEPT_PER_PRINCIPAL)
    const owner: PrincipalSessions = {
      principal,
      sessions: [],
      nextNumber: 0,
      windowMs: this.#windowMs,
      saw: new Set(),
      lastUsedMs: Number.NEGATIVE_INFINITY,
    }
    this.#principals.set(principal, owner)
    return owner
  }

  /** The clock never goes back: what has been counted stays so. */
  #advance(nowMs: number): number {
    this.#latestMs = Math.max(this.#latestMs, nowMs)
    return this.#latestMs
  }

  #recent(nowMs: number): AgentSession[] {
    return [...this.#byId.values()].filter(
      ({ lastUsedMs, connections }) => connections > 0 || nowMs - lastUsedMs < this.#idleMs,
    )
  }

  #live(nowMs: number): AgentSession[] {
    return [...this.#byId.values()].filter((session) => isLive(session, nowMs))
  }

  #clean(owner: PrincipalSessions, nowMs: number): void {
    const { sessions, windowMs } = owner
    const isKept = (session: AgentSession): boolean =>
      isLive(session, nowMs) || nowMs - session.lastUsedMs < windowMs
    if (!sessions.every(isKept)) {
      for (const session of sessions) if (!isKept(session)) this.#drop(session)
      owner.sessions = sessions.filter(isKept)
    }
    for (const session of owner.sessions)
      if (isLive(session, nowMs)) owner.lastUsedMs = Math.max(owner.lastUsedMs, session.lastUsedMs)
    if (owner.sessions.some(({ connections }) => connections > 0)) owner.lastUsedMs = nowMs
    if (nowMs - owner.lastUsedMs < this.#idleMs) return
    if (owner.saw.size > 0) this.#memory.removeLabels(owner.principal)
    owner.saw.clear()
    if (owner.sessions.length === 0) this.#principals.delete(owner.principal)
  }

  #drop(session: AgentSession): void {
    this.#byId.delete(session.id)
    this.#answers.remove(session)
    if (session.isUsed || session.saw.size > 0) this.#memory.remove(session.id)
  }

  /** Nothing has happened in it. */
  #forget(session: AgentSession): void {
    this.#byId.delete(session.id)
    this.#answers.remove(session)
    session.owner.sessions = session.owner.sessions.filter((each) => each !== session)
    this.#memory.forget?.(session.id)
  }

  #save(session: AgentSession): void {
    const { id, owner, startedAtMs, lastUsedMs, isEnded, calls, client } = session
    this.#memory.save({
      id,
      startedAtMs,
      lastUsedMs,
      isEnded,
      calls,
      client,
      principal: owner.principal,
      keys: [...session.keys],
      isConnected: session.connections > 0,
      saw: [...session.saw],
      servers: [...session.servers],
    })
  }

  #saveLabels({ principal, saw, lastUsedMs }: PrincipalSessions): void {
    this.#memory.saveLabels({ principal, saw: [...saw], lastUsedMs })
  }
}
