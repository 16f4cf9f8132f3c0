// Sessions that gates share: the shared store decides which session a connection belongs to and keeps what
// each has seen. This gate has a copy of those it uses. A call says by which version it was decided, so a
// label that another gate has stored counts for the next call here; nothing that brings a new label is sent
// before the label is stored (`whenStored`). A session that the store no longer has is over.

import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionCheck } from '@sluice/ledger/store/admission'
import { StoreError } from '@sluice/ledger/store/errors'
import {
  SESSION_TOUCH_MS,
  SESSIONS_RESTORED_AT_ONCE,
  SHARED_RETRY_MS_MAX,
} from '@sluice/ledger/store/limits'
import {
  digestOwner,
  type OpenedSessionRow,
  type SessionName,
  type SessionRow,
  type SessionRows,
} from '@sluice/ledger/store/postgres/session-rows'
import { Listeners } from '@sluice/policy/structures/listeners'
import { FAMILY_SESSION_IDLE_MS, SESSION_KEYS_MAX } from '../limits.ts'
import type { AgentSessions, SessionLimit } from './agent-sessions.ts'
import { type KnownSession, KnownSessions } from './known-sessions.ts'
import { addKey, familyOwner, type SessionLease } from './session-lease.ts'
import type { LoadedSessions, SessionMemory, StoredSession } from './session-memory.ts'
import { SharedAnswers } from './shared-answers.ts'

type SessionOrigin = Pick<KnownSession, 'principal' | 'keepMs' | 'labelled'> & {
  readonly owner: string
}

interface KnownOwner {
  readonly principal: string
  version: bigint
}

interface OpenOptions {
  readonly idleMs: number
  /** A rule reads where values came from, so what becomes of answers is stored. */
  readonly remembers: boolean
}

/** No session has it: a call that is decided by a session that is over is never admitted. */
const OVER = '-1'

export interface SharedSessionsOptions {
  readonly rows: SessionRows
  /** The key of what sessions remember of answers: 32 bytes, the same at every gate. */
  readonly answersKey: Buffer
  readonly idleMs: number
  readonly windowMs: number
  /** The clock that sessions are measured by. */
  readonly nowMs: () => number
}

export class SharedSessions implements SessionMemory {
  readonly #ended = new Listeners<[id: string]>()
  /** A session is over: its connections are to be closed. */
  readonly onOver = this.#ended.subscribe
  readonly #options: SharedSessionsOptions
  readonly #known = new KnownSessions()
  readonly answers: SharedAnswers
  readonly #owners = new Map<string, KnownOwner>()
  #sessions: AgentSessions | undefined
  /** Which timeline the database was on when this gate last stored there what it knows. */
  #timeline: string | undefined
  #tick = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: SharedSessionsOptions) {
    this.#options = options
    const { answersKey: key, rows } = options
    this.answers = new SharedAnswers({ key, rows, refresh: (owners) => this.refresh(owners) })
  }

  start(sessions: AgentSessions): void {
    this.#sessions = sessions
    this.#timer = setInterval(() => void this.#touch().catch(() => {}), SESSION_TOUCH_MS).unref()
  }

  close(): void {
    this.#isClosed = true
    this.answers.close()
    clearInterval(this.#timer)
  }

  /** The session of a new connection; `remembers`: what becomes of answers is stored. Rejects if the store does not answer. */
  open(
    principal: string,
    key: string,
    limit: SessionLimit & Pick<OpenOptions, 'remembers'>,
  ): Promise<SessionLease> {
    return this.#open(principal, key, { ...limit, idleMs: this.#options.idleMs })
  }

  /** One session for all agents of a family; its labels are those of `principal` too. */
  async openFamily(
    family: string,
    principal: string | undefined,
    remembers: boolean,
  ): Promise<SessionLease> {
    const limit = { max: 1, windowMs: 0, idleMs: FAMILY_SESSION_IDLE_MS, remembers }
    if (principal !== undefined && !this.#owners.has(digestOwner(principal)))
      await this.#load(principal)
    return this.#open(familyOwner(family), 'family', limit, principal)
  }

  /** A person ends a session, for all gates. */
  async end(id: string): Promise<void> {
    const known = this.#known.get(id)
    if (known === undefined) return
    await this.#options.rows.end(known.name)
    this.#over(known)
  }

  /** What other gates have changed in sessions of these principals. */
  async refresh(owners: Iterable<string>): Promise<void> {
    const wanted = [...owners]
    const tick = ++this.#tick
    const { sessions, timeline } = await this.#options.rows.read(wanted, this.answers.writer)
    this.#checkTimeline(timeline)
    await this.answers.follow(sessions)
    const rowsOf = new Map(wanted.map((owner): [string, SessionRow[]] => [owner, []]))
    for (const row of sessions) rowsOf.get(row.owner)?.push(row)
    for (const owner of wanted) this.#apply(owner, rowsOf.get(owner) ?? [], tick)
  }

  /** After a failover that may have lost commits: what this gate knows is stored again, sessions and their labels. */
  async restore(): Promise<void> {
    let newest = 0n
    for (const { version } of this.#owners.values()) if (version > newest) newest = version
    const { rows } = this.#options
    const timeline = await rows.raiseVersions(newest)
    const known = [...this.#known]
    for (let at = 0; at < known.length; at += SESSIONS_RESTORED_AT_ONCE)
      await rows.restore(known.slice(at, at + SESSIONS_RESTORED_AT_ONCE))
    for (const each of known) each.since = ++this.#tick
    this.#timeline = timeline
    for (const owner of this.#owners.values()) owner.version = 0n
    await this.refresh(this.#owners.keys())
    for (const known of this.#known) {
      for (const label of known.stored) known.unstored.add(label)
      known.stored.clear()
      if (known.unstored.size > 0) this.#startStoring(known)
    }
    // Nothing is decided here before other gates can know of them.
    await Promise.allSettled([...this.#known].map(({ storing }) => storing))
  }

  load(): LoadedSessions {
    return { sessions: [], principals: [] }
  }

  save({ id, isConnected, saw }: StoredSession): void {
    const known = this.#known.get(id)
    if (known === undefined) return
    const hasEnded = known.isConnected && !isConnected
    known.isConnected = isConnected
    for (const label of saw) if (!known.stored.has(label)) known.unstored.add(label)
    if (known.unstored.size > 0) this.#startStoring(known)
    // From then on its idle time counts.
    else if (hasEnded) void this.#options.rows.touch([known.name]).catch(() => {})
  }

  remove(id: string): void {
    this.#drop(id)
  }

  /** The store has them: they are written with those of the session. */
  saveLabels(): void {}
  removeLabels(): void {}

  forget(id: string): void {
    const known = this.#known.get(id)
    this.#drop(id)
    if (known !== undefined) void this.#options.rows.forget(known.name).catch(() => {})
  }

  whenStored(id: string): Promise<void> | undefined {
    const labels = this.#known.get(id)?.storing
    const answers = this.answers.whenStored(id)
    if (labels === undefined || answers === undefined) return labels ?? answers
    return Promise.all([labels, answers]).then(() => {})
  }

  checksOf(id: string, principals: readonly string[]): readonly SessionCheck[] {
    const isKnown = this.#known.has(id)
    return principals.map((principal) => {
      const owner = digestOwner(principal)
      const known = this.#owners.get(owner) ?? { principal, version: 0n }
      this.#owners.set(owner, known)
      return { owner, version: isKnown ? String(known.version) : OVER }
    })
  }

  async #open(
    principal: string,
    key: string,
    { max, windowMs, idleMs, remembers }: SessionLimit & OpenOptions,
    labelled = principal,
  ): Promise<SessionLease> {
    const opened = await this.#options.rows.open({
      principal,
      key,
      max,
      keysMax: SESSION_KEYS_MAX,
      windowMs,
      idleMs,
      storesAnswers: remembers,
    })
    this.#checkTimeline(opened.timeline)
    const owner = digestOwner(principal)
    if (remembers) await this.answers.open(opened.id, toName(opened.id, owner), opened.isNew)
    const keepMs = Math.max(windowMs, idleMs)
    const lease = this.#adopt(opened, key, { owner, principal, labelled, keepMs })
    const known = this.#owners.get(owner)
    if (known === undefined) this.#owners.set(owner, { principal, version: BigInt(opened.version) })
    // Other sessions of the principal have changed too: all of them are read at once, or none.
    else if (String(known.version) !== opened.version) await this.refresh([owner])
    if (known === undefined) this.#sessions?.learnLabels(principal, opened.ownerSaw)
    return lease
  }

  /** After a failover a session that is missing was lost: it is not over, and `restore` stores it again. */
  #checkTimeline(timeline: string): void {
    this.#timeline ??= timeline
    if (timeline !== this.#timeline)
      throw new StoreError(
        'STORE_UNREACHABLE',
        'the shared store has failed over, and this gate has not stored its sessions there again',
        'try again in a second',
      )
  }

  #adopt(opened: OpenedSessionRow, key: string, about: SessionOrigin): SessionLease {
    const { id, saw } = opened
    const { keepMs, labelled, owner, principal } = about
    const known: KnownSession = this.#known.get(id) ?? {
      id,
      name: toName(id, owner),
      principal,
      keepMs,
      keys: new Set(),
      labelled,
      labelledOwner: digestOwner(labelled),
      stored: new Set(),
      unstored: new Set(),
      storing: undefined,
      isConnected: true,
      since: ++this.#tick,
    }
    known.isConnected = true
    addKey(known, key)
    for (const label of saw) known.stored.add(label)
    this.#known.add(known, labelled)
    const { nowMs } = this.#options
    const lease = this.#sessions?.adopt(opened, key, nowMs(), labelled)
    if (lease === undefined) throw new Error('sessions are not open yet')
    return lease
  }

  #startStoring(known: KnownSession): void {
    if (known.storing !== undefined) return
    const storing = this.#store(known)
    known.storing = storing
    // Those who wait for it get the error; often nobody does.
    storing.catch(() => {})
  }

  /** Until the store has them: other gates must know of a label before anybody reads what brought it.
   * Rejects if it never will. */
  async #store(known: KnownSession): Promise<void> {
    const { idleMs, rows, windowMs } = this.#options
    while (known.unstored.size > 0 && !this.#isClosed) {
      const labels = [...known.unstored]
      try {
        const keepMs = Math.max(idleMs, windowMs)
        const seen = { principal: known.labelled, keepMs, labels }
        const versions = await rows.see(known.name, seen)
        if (versions.size === 0) {
          await this.refresh([known.name.owner])
          break
        }
        for (const label of labels) {
          known.unstored.delete(label)
          known.stored.add(label)
        }
      } catch {
        await sleep(SHARED_RETRY_MS_MAX, undefined, { ref: false })
      }
    }
    if (known.unstored.size > 0) {
      this.#over(known)
      throw new Error('the session is over')
    }
    known.storing = undefined
    // So that the next call need not be decided twice.
    void this.refresh([known.name.owner]).catch(() => {})
  }

  /** Principals that have no session here any more are forgotten: there may be ever new ones. */
  #dropOwners(): void {
    for (const owner of this.#owners.keys())
      if (!this.#known.concerns(owner)) this.#owners.delete(owner)
  }

  async #touch(): Promise<void> {
    this.#dropOwners()
    const inUse = [...this.#known].filter(({ isConnected }) => isConnected)
    if (inUse.length === 0) return
    const versions = await this.#options.rows.touch(inUse.map(({ name }) => name))
    const owners = new Set(inUse.map(({ name }) => name.owner))
    const stale = [...owners].filter(
      (owner) => versions.get(owner) !== String(this.#owners.get(owner)?.version),
    )
    if (stale.length > 0) await this.refresh(stale)
  }

  async #load(principal: string): Promise<void> {
    const owner = digestOwner(principal)
    this.#owners.set(owner, { principal, version: 0n })
    await this.refresh([owner])
  }

  /** `tick`: when the rows were asked for. */
  #apply(owner: string, rows: readonly SessionRow[], tick: number): void {
    const known = this.#owners.get(owner)
    if (known === undefined) return
    const [first] = rows
    const version = BigInt(first?.version ?? 0)
    // An answer that was overtaken by a newer one.
    if (first !== undefined && version < known.version) return
    known.version = version
    const byNumber = new Map(rows.map((row) => [row.number, row]))
    const unstored: string[] = []
    for (const session of this.#known.of(owner)) {
      if (session.labelledOwner === owner) unstored.push(...session.unstored)
      if (session.name.owner !== owner) continue
      const row = byNumber.get(session.name.number)
      if (row !== undefined && !row.isEnded) {
        for (const label of row.saw) session.stored.add(label)
        this.#sessions?.learn(session.id, row)
      } else if (session.since < tick) this.#over(session)
    }
    this.#sessions?.learnLabels(known.principal, [...(first?.ownerSaw ?? []), ...unstored])
  }

  #over({ id }: KnownSession): void {
    if (!this.#drop(id)) return
    this.#sessions?.end(id)
    this.#ended.emit(id)
  }

  #drop(id: string): boolean {
    this.answers.drop(id)
    return this.#known.delete(id)
  }
}

function toName(id: string, owner: string): SessionName {
  return { owner, number: Number(/#(\d+)@\d+$/.exec(id)?.[1]) }
}
