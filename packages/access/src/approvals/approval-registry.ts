// Approval requests with the side effects of every change: the ledger entry, notification of
// watchers and waiters, and expiry. One change at a time. The engine decides what may happen; this
// module does it.

import type { DatabaseSync } from 'node:sqlite'
import { findLookAlike } from '@sluice/guard/show/look-alikes'
import type { Ledger } from '@sluice/ledger/ledger'
import { recordFirst } from '@sluice/ledger/record-first'
import { Vault } from '@sluice/ledger/store/vault'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import type { JsonObject } from '@sluice/policy/values/json'
import { displayName } from '../identity/display-name.ts'
import type { ApprovalFilter, ApprovalRequest, PriorCall } from './approval.ts'
import type { ApprovalSubmission } from './approval-submission.ts'
import { describeCommand } from './command-line.ts'
import { isSatisfied, listRequirementStatus } from './count-votes.ts'
import { DeferredChanges, type RequestChange, type WorkSlices } from './deferred-changes.ts'
import { describeStart } from './describe-start.ts'
import { canonicalMembers } from './json-text.ts'
import {
  EXPIRED_PER_TURN,
  EXPIRY_AGAIN_MS,
  EXPIRY_LOOK_MS_MAX,
  LISTED_DEFAULT,
  LISTED_LENGTH_MAX,
  LISTED_MAX,
  OPEN_PER_TOOL_MAX,
  PROGRAM_SHOWN_LENGTH_MAX,
} from './limits.ts'
import { maskCall, maskPlainText } from './mask-text.ts'
import { type ApprovalStep, aboutRequest, stepEvent } from './record-steps.ts'
import type { OpenRequests } from './request-limits.ts'
import { hasText } from './request-text.ts'
import { lengthOf, RequestViews } from './request-views.ts'
import { type ApprovalRow, Requests, type SqlRow, toVersion } from './requests.ts'

export interface RegistryParts {
  /** gate.db, with the tables of schema.ts. */
  readonly database: DatabaseSync
  /** 32 bytes, for arguments. */
  readonly key: Buffer
  readonly ledger: Pick<Ledger, 'event'> & { readonly figures: { readonly seq: number } }
  /** What a session is called, for people. */
  readonly nameSession?: (session: string) => string
  /** Earlier calls of a session, the newest last. */
  readonly before: (session: string) => readonly PriorCall[]
  /** What is wrong with arguments that an approver edited; undefined if they can be sent. */
  readonly readArgs: (text: string) => string | undefined
  /** Whether a person may decide, and could at that time: one who was removed may not. */
  readonly isApprover: (name: string, atMs: number) => boolean
  /** A person decides at this time. */
  readonly onVerdict?: (name: string, atMs: number) => void
  /** The clock of expiry, which never goes back. */
  readonly nowMs: () => number
  /** The wall clock as it is, for the ledger. */
  readonly wallMs: () => number
  /** Why nothing may be decided or ended by the clock of this gate, if others have the same requests. */
  readonly clockFault?: (() => string | undefined) | undefined
  readonly newId: () => string
  /** Makes the pauses of work on all open requests. */
  readonly slices: () => WorkSlices
  readonly warn: (message: string, why: string) => void
}

/** What is stored of a call until it is decided. */
export interface SubmittedCall {
  /** Canonical text of every member of `params` but `_meta` and `arguments`. */
  readonly rest: string
  readonly args: string
  readonly program?: string | undefined
}

export const GONE = 'its approver may no longer decide'

export class ApprovalRegistry {
  readonly parts: RegistryParts
  readonly requests: Requests
  readonly vault: Vault
  readonly #watchers = new Set<(request: ApprovalRequest) => void>()
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #deferred: DeferredChanges
  readonly #views = new RequestViews()
  #turn: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(parts: RegistryParts) {
    this.parts = parts
    this.vault = new Vault(parts.key)
    this.requests = new Requests(
      parts.database,
      // A form of the client is not on the list of approvers.
      ({ by, atMs, channel }) => channel === 'client' || parts.isApprover(by, atMs),
    )
    this.#deferred = new DeferredChanges({
      change: (seq, change) => this.#change(seq, change),
      slices: parts.slices,
      warn: parts.warn,
    })
    this.arm()
  }

  get isClosed(): boolean {
    return this.#closed
  }

  find(id: string): ApprovalRow | undefined {
    return this.#settled(this.requests.find(id))
  }

  /** The newest for one call. */
  newest(key: string): ApprovalRow | undefined {
    return this.#settled(this.requests.newest(key))
  }

  /** Why the request before this one for the same call expired; undefined if it did not. */
  whyExpiredBefore({ key, seq }: ApprovalRow): string | undefined {
    const before = this.requests.before(key, seq)
    return before?.state === 'expired' ? before.why : undefined
  }

  #settled(row: ApprovalRow | undefined): ApprovalRow | undefined {
    return row !== undefined && this.#deferred.settle(row.seq) ? this.requests.at(row.seq) : row
  }

  /** What no longer holds of the session's requests does not count. */
  counts(call: ApprovalSubmission): OpenRequests {
    const { session, server, name, args } = call
    const seqs = this.requests.ofSession(session)
    for (const seq of seqs) this.#deferred.settle(seq)
    const { every, tool, session: all } = this.requests.counts(session, server, name)
    const start = tool < OPEN_PER_TOOL_MAX ? undefined : describeStart(call, args)
    const open = { every, session: all, start }
    if (start === undefined) return { ...open, alike: tool }
    // At most as many as a session may have open.
    const alike = seqs.filter((seq) => {
      const row = this.requests.at(seq)
      if (row?.state !== 'pending' || row.server !== server || row.name !== name) return false
      return describeStart(row, this.openCall(row)?.args ?? '') === start
    })
    return { ...open, alike: alike.length }
  }

  getRow(id: string): ApprovalRow {
    const row = this.find(id)
    if (row !== undefined) return row
    throw new OperationError(
      `there is no request \`${id.slice(0, 40)}\``,
      '`sluice approvals list`',
    )
  }

  seal(id: string, { rest, args, program }: SubmittedCall): Uint8Array {
    const shown = program?.slice(0, PROGRAM_SHOWN_LENGTH_MAX)
    return this.vault.seal(`request ${id}`, JSON.stringify({ rest, args, program: shown }))
  }

  /** Reads the call as it was submitted. It is stored until the request is decided. */
  openCall({ id }: ApprovalRow): SubmittedCall | undefined {
    const args = this.requests.args(id)
    if (args === null) return undefined
    return JSON.parse(this.vault.open(`request ${id}`, args)) as SubmittedCall
  }

  /** One change at a time: two concurrent verdicts must not both be the last one needed. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => {})
    return mine
  }

  /** Throws if its times would be those of a wrong clock. */
  beginVerdict(name: string): void {
    const { clockFault, nowMs, onVerdict } = this.parts
    const why = clockFault?.()
    if (why !== undefined) throw new OperationError(why, 'decide at another gate')
    onVerdict?.(name, nowMs())
  }

  /** Throws if it cannot be written: then the change does not happen. */
  async record(step: ApprovalStep, detail: JsonObject): Promise<void> {
    await recordFirst(this.parts.ledger, stepEvent(step, this.parts.wallMs(), detail))
  }

  /** Records what has already happened. */
  note(step: ApprovalStep, detail: JsonObject): void {
    const { ledger, wallMs, warn } = this.parts
    ledger.event(stepEvent(step, wallMs(), detail)).catch((error: Error) => {
      warn(`a step of an approval could not be recorded: ${step}`, error.message)
    })
  }

  /** Notifies all watchers and waiters. */
  changed(id: string): ApprovalRequest {
    const stored = this.requests.stored(id)
    const request = stored === undefined ? this.toView(this.getRow(id)) : this.#shownOnce(stored)
    for (const watcher of [...this.#watchers]) watcher(request)
    this.#wake(id)
    return request
  }

  /** Another gate has changed these: all are notified, in slices. */
  async sharedChanged(ids: readonly string[]): Promise<void> {
    const slices = this.parts.slices()
    try {
      for (const id of ids) {
        if (slices.isOver) await slices.next()
        if (this.#closed) return
        if (this.find(id) !== undefined) this.changed(id)
      }
    } catch (error) {
      this.parts.warn('requests of other gates could not be read', (error as Error).message)
    }
  }

  watch(listener: (request: ApprovalRequest) => void): () => void {
    this.#watchers.add(listener)
    return () => void this.#watchers.delete(listener)
  }

  /** Resolves when the request changes, or on timeout; immediately if the gate stops. */
  async waitForChange(id: string, waitMs: number): Promise<void> {
    if (this.#closed || waitMs <= 0) return
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set()
      const done = (): void => {
        clearTimeout(timer)
        waiting.delete(done)
        if (waiting.size === 0) this.#waiting.delete(id)
        resolve()
      }
      const timer = setTimeout(done, waitMs)
      this.#waiting.set(id, waiting.add(done))
    })
  }

  /** Expiry is a denial: it applies even if it cannot be recorded. */
  expire(row: ApprovalRow): void {
    const { state, usedBy } = this.getRow(row.id)
    if (state !== row.state || usedBy !== null) return
    const wasApproved = row.state === 'approved'
    const why = wasApproved ? 'it was approved and did not come back' : 'nobody decided in time'
    this.requests.end(row.id, 'expired', why)
    this.note('expired', { ...aboutRequest(row), wasApproved })
    this.changed(row.id)
  }

  /** Tightens, so it applies immediately, even if it cannot be written. */
  void(row: ApprovalRow, why: string): void {
    this.requests.end(row.id, 'void', why)
    this.note('void', { ...aboutRequest(row), why })
    this.changed(row.id)
  }

  /** Voids unused requests, given by `seq`, in slices; each is void from now on. */
  voidAll(seqs: readonly number[], why: string): void {
    this.#deferred.add(seqs, why)
  }

  /** An approver was removed: what they approved is shown, and counts, without them. */
  peopleChanged(): void {
    this.#views.clear()
    this.#deferred.add(this.requests.voted(), undefined)
  }

  #change(seq: number, why: RequestChange): void {
    const row = this.requests.at(seq)
    if (row === undefined || row.usedBy !== null) return
    if (row.state !== 'pending' && row.state !== 'approved') return
    if (why !== undefined) return this.void(row, why)
    if (!row.votes.some(({ gone }) => gone)) return
    if (row.state === 'approved' && !isSatisfied(row.asks, row.votes, row.edited))
      return this.void(row, GONE)
    this.requests.vote(row.id, row.votes)
    this.changed(row.id)
  }

  /** Schedules the next expiry check; by wall time, so at least at a fixed interval. */
  arm(): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    const nextMs = this.requests.nextExpiryMs()
    if (nextMs === undefined) return
    this.#lookIn(Math.max(0, Math.min(nextMs - this.parts.nowMs(), EXPIRY_LOOK_MS_MAX)) + 1)
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => void this.inTurn(() => this.#expireDue()), ms).unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#deferred.close()
    for (const id of [...this.#waiting.keys()]) this.#wake(id)
  }

  /** In slices: each request is as it is when its turn comes. */
  async list(filter: ApprovalFilter): Promise<ApprovalRequest[]> {
    const most = Math.max(1, Math.min(LISTED_MAX, filter.limit ?? LISTED_DEFAULT))
    const page: ApprovalRequest[] = []
    let length = 0
    const isSearch = filter.text !== undefined
    for await (const request of this.#find({ ...filter, limit: isSearch ? -1 : most })) {
      length += lengthOf(request)
      if (length > LISTED_LENGTH_MAX && page.length > 0) break
      if (page.push(request) === most) break
    }
    return page
  }

  async count({ before: _, limit: __, ...filter }: ApprovalFilter): Promise<number> {
    if (filter.text === undefined) return this.requests.list(filter).length
    let found = 0
    for await (const _request of this.#find(filter)) found++
    return found
  }

  async *#find(filter: ApprovalFilter): AsyncGenerator<ApprovalRequest> {
    const slices = this.parts.slices()
    for (const seq of this.requests.list(filter)) {
      if (slices.isOver) await slices.next()
      if (this.#closed) return
      const request = this.#listed(seq, filter)
      if (request !== undefined) yield request
    }
  }

  /** Reads a request of a list; undefined if the filter no longer matches it. */
  #listed(seq: number, { states, text, recorded }: ApprovalFilter): ApprovalRequest | undefined {
    this.#deferred.settle(seq)
    const stored = this.requests.storedAt(seq)
    const request = stored && this.#shownOnce(stored)
    if (request === undefined || states?.includes(request.state) === false) return undefined
    const isFound = text === undefined || hasText(request, text) || recorded?.has(request.id)
    return isFound ? request : undefined
  }

  #shownOnce(stored: SqlRow): ApprovalRequest {
    const version = toVersion(stored)
    const cached = this.#views.get(String(stored.id), version)
    if (cached !== undefined) return cached
    const request = this.toView(this.requests.read(stored))
    this.#views.set(version, request)
    return request
  }

  toView(row: ApprovalRow): ApprovalRequest {
    const { rest = '', args = '', program } = this.openCall(row) ?? {}
    const looksLike = findLookAlike(row.name)
    const masked = maskCall(args, withoutName(rest))
    const command = describeCommand(row.name, masked.args)
    const { id, state, atMs, expiresAtMs, principal, agent, session, server, method } = row
    const { sessionName, category, risk, unknown, edited, before, callId, usedBy, why } = row
    return {
      id,
      state,
      atMs,
      expiresAtMs,
      principal,
      agent,
      session,
      server,
      method,
      name: displayName(method, row.name),
      category,
      risk,
      asks: listRequirementStatus(row),
      votes: row.votes.map(({ asks: _asks, edit: _edit, ...vote }) => vote),
      ...masked,
      ...pickDefined({
        sessionName,
        unknown,
        looksLike,
        command,
        program: program && maskPlainText(program),
      }),
      edited: edited > 0,
      edits: edited,
      before,
      callId,
      usedBy,
      why,
    }
  }

  async #expireDue(): Promise<void> {
    const nowMs = this.parts.nowMs()
    if (this.#closed) return
    if (this.parts.clockFault?.() !== undefined) return this.#lookIn(EXPIRY_AGAIN_MS)
    try {
      const due = this.requests.due(nowMs, EXPIRED_PER_TURN)
      for (const row of due) this.expire(row)
      this.arm()
    } catch (error) {
      // A full disk: retried later, and no request is lost.
      this.parts.warn('requests that have run out could not be ended', (error as Error).message)
      this.#lookIn(EXPIRY_AGAIN_MS)
    }
  }

  #wake(id: string): void {
    for (const done of [...(this.#waiting.get(id) ?? [])]) done()
  }
}

/** The name is shown separately. */
export function withoutName(rest: string): string {
  if (rest === '') return ''
  const members = [...canonicalMembers(rest)].filter(([name]) => name !== 'name')
  if (members.length === 0) return ''
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`
}
