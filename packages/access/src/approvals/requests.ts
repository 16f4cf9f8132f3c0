// Requests as stored in gate.db. Every change is one statement, durable when it returns; the engine
// has the rules of who may change what. Arguments are large, so a row is read without them, and what
// concerns a few of many open requests is found by an index (schema.ts). Used by the registry only.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { inTransaction } from '@sluice/ledger/store/sqlite/in-transaction'
import { prepareAll } from '@sluice/ledger/store/sqlite/prepare'
import type { ApprovalRequirement } from '@sluice/policy/calls/decision'
import type { ApprovalFilter, ApprovalState, ApprovalSubject, PriorCall, Vote } from './approval.ts'
import { DECIDED_KEPT_MAX, UNUSED_MS_MAX } from './limits.ts'
import { ENDED, UNUSED } from './schema.ts'

/** A vote, with the requirements it counts for and the arguments it was given on. */
export interface StoredVote extends Vote {
  readonly asks: readonly number[]
  /** How often the arguments had been edited: an approval of others does not count for these. */
  readonly edit: number
}

export interface ApprovalRow extends ApprovalSubject {
  readonly seq: number
  readonly id: string
  readonly key: string
  readonly asked: string
  readonly pin: string
  readonly state: ApprovalState
  readonly atMs: number
  readonly expiresAtMs: number
  readonly asks: readonly ApprovalRequirement[]
  readonly votes: readonly StoredVote[]
  readonly before: readonly PriorCall[]
  readonly edited: number
  readonly isReported: boolean
  readonly usedBy: string | null
  readonly usedAtMs: number | null
  readonly usedFrom: number | null
  readonly why: string
}

/** The state of a new request. */
export const UNDECIDED = {
  state: 'pending',
  votes: [],
  edited: 0,
  isReported: false,
  usedBy: null,
  usedAtMs: null,
  usedFrom: null,
  why: '',
} as const satisfies Partial<ApprovalRow>

export type SqlRow = Readonly<Record<string, unknown>>

/** All but `args`. */
const COLUMNS = `seq, id, key, asked, pin, state, at, expires_at, principal, principal_kind, agent,
  session, session_name, server, method, name, category, risk, asks, votes, before, call_id, edited,
  unknown, told, used_by, used_at, used_from, why`

export const REQUEST_STATEMENTS = {
  insert: `INSERT INTO approvals (id, key, asked, pin, state, at, expires_at, principal, principal_kind,
      agent, session, session_name, server, method, name, category, risk, asks, votes, before,
      call_id, args, edited, unknown, told, used_by, used_at, used_from, why)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, NULL, NULL, '')`,
  find: `SELECT ${COLUMNS} FROM approvals WHERE id = ?`,
  at: `SELECT ${COLUMNS} FROM approvals WHERE seq = ?`,
  args: 'SELECT args FROM approvals WHERE id = ?',
  startingWith: 'SELECT id FROM approvals WHERE id BETWEEN ? AND ?',
  newest: `SELECT ${COLUMNS} FROM approvals WHERE key = ? ORDER BY seq DESC LIMIT 1`,
  before: `SELECT ${COLUMNS} FROM approvals WHERE key = ? AND seq < ? ORDER BY seq DESC LIMIT 1`,
  used: `SELECT ${COLUMNS} FROM approvals WHERE state = 'approved' AND used_by IS NOT NULL ORDER BY seq`,
  due: `SELECT ${COLUMNS} FROM approvals INDEXED BY approvals_expiry
    WHERE ${UNUSED} AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  // The clock that approved was ahead: what is unused expires so long after its approval, see `approve` in engine.ts.
  madeAfter: `SELECT seq FROM approvals INDEXED BY approvals_expiry
    WHERE ${UNUSED} AND (at > ?1 OR (state = 'approved' AND expires_at > ?1 + ${UNUSED_MS_MAX}))`,
  nextExpiry: `SELECT min(expires_at) AS at FROM approvals INDEXED BY approvals_expiry WHERE ${UNUSED}`,
  oldestOpen: "SELECT min(at) AS at FROM approvals WHERE state IN ('pending', 'approved')",
  asked: `SELECT DISTINCT asked FROM approvals INDEXED BY approvals_asked WHERE ${UNUSED}`,
  asks: `SELECT asks FROM approvals INDEXED BY approvals_asked WHERE ${UNUSED} AND asked = ? LIMIT 1`,
  ofAsked: `SELECT seq FROM approvals INDEXED BY approvals_asked
    WHERE ${UNUSED} AND asked = ?`,
  ofOtherPin: `SELECT seq FROM approvals INDEXED BY approvals_tool
    WHERE ${UNUSED} AND server = ? AND name = ? AND pin NOT IN ('', ?)`,
  ofSession: `SELECT seq FROM approvals INDEXED BY approvals_pending
    WHERE state = 'pending' AND session = ?`,
  voted: `SELECT seq FROM approvals INDEXED BY approvals_voted
    WHERE ${UNUSED} AND votes <> '[]'`,
  pending:
    "SELECT count(*) AS n FROM approvals INDEXED BY approvals_pending WHERE state = 'pending'",
  pendingOfSession: `SELECT count(*) AS session, sum(server = ?2 AND name = ?3) AS tool
    FROM approvals INDEXED BY approvals_pending WHERE state = 'pending' AND session = ?1`,
  vote: 'UPDATE approvals SET votes = ? WHERE id = ?',
  edit: 'UPDATE approvals SET args = ?, edited = ? WHERE id = ?',
  approve:
    "UPDATE approvals SET state = 'approved', expires_at = ? WHERE id = ? AND state = 'pending'",
  end: 'UPDATE approvals SET state = ?, why = ?, args = NULL WHERE id = ?',
  endUnknown: "UPDATE approvals SET state = 'unknown', why = ? WHERE id = ?",
  use: `UPDATE approvals SET used_by = ?, used_at = ?, used_from = ?
    WHERE id = ? AND state = 'approved' AND used_by IS NULL`,
  release: `UPDATE approvals SET used_by = NULL, used_at = NULL, used_from = NULL
    WHERE id = ? AND used_by = ? AND state = 'approved'`,
  markSettled: 'UPDATE approvals SET used_at = ? WHERE id = ?',
  markReported: 'UPDATE approvals SET told = 1 WHERE id = ?',
  prune: `DELETE FROM approvals WHERE ${ENDED} AND seq <= (
    SELECT seq FROM approvals INDEXED BY approvals_ended WHERE ${ENDED} ORDER BY seq DESC
    LIMIT 1 OFFSET ${DECIDED_KEPT_MAX})`,
} as const

/** How many requests are pending: each limit counts one of these. */
export interface PendingCounts {
  readonly every: number
  /** How many are of the session. */
  readonly session: number
  /** How many are of the session for the same tool. */
  readonly tool: number
}

export class Requests {
  readonly #database: DatabaseSync
  readonly #statements: Readonly<Record<keyof typeof REQUEST_STATEMENTS, StatementSync>>
  readonly #counts: (vote: Vote) => boolean

  /** `counts`: whether the approver of a vote may still decide. */
  constructor(database: DatabaseSync, counts: (vote: Vote) => boolean) {
    this.#database = database
    this.#statements = prepareAll(database, REQUEST_STATEMENTS)
    this.#counts = counts
  }

  insert(row: Omit<ApprovalRow, 'seq'>, args: Uint8Array): void {
    this.#statements.insert.run(
      row.id,
      row.key,
      row.asked,
      row.pin,
      row.state,
      row.atMs,
      row.expiresAtMs,
      row.principal.id,
      row.principal.kind,
      row.agent,
      row.session,
      row.sessionName ?? '',
      row.server,
      row.method,
      row.name,
      row.category,
      row.risk,
      JSON.stringify(row.asks),
      JSON.stringify(row.votes),
      JSON.stringify(row.before),
      row.callId,
      args,
      row.edited,
      row.unknown === true ? 1 : 0,
    )
  }

  find(id: string): ApprovalRow | undefined {
    return this.#readOne(this.stored(id))
  }

  at(seq: number): ApprovalRow | undefined {
    return this.#readOne(this.storedAt(seq))
  }

  /** Returns the row as stored: `read` parses it, `toVersion` detects changes. */
  storedAt(seq: number): SqlRow | undefined {
    return this.#statements.at.get(seq)
  }

  /** Sealed; null once they are deleted. */
  args(id: string): Uint8Array | null {
    return (this.#statements.args.get(id)?.args as Uint8Array | null | undefined) ?? null
  }

  /**
   * Votes of removed approvers no longer count, permanently: a later person of the same name is a
   * different one.
   */
  read(stored: SqlRow): ApprovalRow {
    const row = toRow(stored)
    const votes = row.votes.map((vote): StoredVote => {
      const isGone = vote.verdict === 'approve' && (vote.gone === true || !this.#counts(vote))
      return isGone ? { ...vote, asks: [], gone: true } : vote
    })
    return { ...row, votes }
  }

  stored(id: string): SqlRow | undefined {
    return this.#statements.find.get(id)
  }

  /** Ids that begin so. */
  startingWith(prefix: string): string[] {
    const rows = this.#statements.startingWith.all(prefix, `${prefix}\u{10ffff}`)
    return rows.map(({ id }) => String(id))
  }

  /** The newest for one call. */
  newest(key: string): ApprovalRow | undefined {
    return this.#readOne(this.#statements.newest.get(key))
  }

  /** The one before it for the same call. */
  before(key: string, seq: number): ApprovalRow | undefined {
    return this.#readOne(this.#statements.before.get(key, seq))
  }

  /** Lists requests by `seq`, the newest first; all without a limit. Whether they have `text` is not looked at. */
  list({ states, server, principal, before, limit = -1 }: ApprovalFilter): number[] {
    const where: string[] = []
    const values: SQLInputValue[] = []
    const only = (sql: string, ...parameters: readonly string[]): void => {
      where.push(sql)
      values.push(...parameters)
    }
    if (states !== undefined) only(`state IN (${states.map(() => '?').join(', ')})`, ...states)
    if (server !== undefined) only('server = ?', server)
    if (principal !== undefined) only('principal = ?', principal)
    if (before !== undefined)
      only('seq < coalesce((SELECT seq FROM approvals WHERE id = ?), 0)', before)
    const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
    return this.#database
      .prepare(`SELECT seq FROM approvals ${condition} ORDER BY seq DESC LIMIT ${limit}`)
      .all(...values)
      .map(({ seq }) => Number(seq))
  }

  /** Lists requests that a call has used and that have no outcome, the oldest first. */
  used(): ApprovalRow[] {
    return this.#statements.used.all().map((row) => this.read(row))
  }

  /** Unused ones that have expired, the first ones first. */
  due(nowMs: number, limit: number): ApprovalRow[] {
    return this.#statements.due.all(nowMs, limit).map((row) => this.read(row))
  }

  /** Unused ones that were created or approved after this time, by `seq`. */
  madeAfter(timeMs: number): number[] {
    return toSeqs(this.#statements.madeAfter.all(timeMs))
  }

  /** When the next one expires. */
  nextExpiryMs(): number | undefined {
    return toNumber(this.#statements.nextExpiry.get()?.at)
  }

  /** When the oldest was created that may still lead to a call. */
  oldestOpenMs(): number | undefined {
    return toNumber(this.#statements.oldestOpen.get()?.at)
  }

  /** Unused ones with a requirement that is not there, by `seq`. Those of one digest have the same. */
  withoutRules(isThere: (says: string) => boolean): number[] {
    const { asked: all, asks, ofAsked } = this.#statements
    return all.all().flatMap(({ asked }) => {
      const required = JSON.parse(String(asks.get(asked as string)?.asks)) as ApprovalRequirement[]
      return required.every(({ says }) => isThere(says)) ? [] : toSeqs(ofAsked.all(asked as string))
    })
  }

  /** Unused ones for another definition of the tool, by `seq`. */
  ofOtherPin(server: string, name: string, pin: string): number[] {
    return toSeqs(this.#statements.ofOtherPin.all(server, name, pin))
  }

  /** Pending ones of the session, by `seq`. */
  ofSession(session: string): number[] {
    return toSeqs(this.#statements.ofSession.all(session))
  }

  /** Unused ones that someone has voted on, by `seq`. */
  voted(): number[] {
    return toSeqs(this.#statements.voted.all())
  }

  pendingCount(): number {
    return Number(this.#statements.pending.get()?.n)
  }

  counts(session: string, server: string, name: string): PendingCounts {
    const row = this.#statements.pendingOfSession.get(session, server, name)
    const of = (name: string): number => Number(row?.[name] ?? 0)
    return { every: this.pendingCount(), session: of('session'), tool: of('tool') }
  }

  vote(
    id: string,
    votes: readonly StoredVote[],
    edit?: { args: Uint8Array; edited: number },
  ): void {
    this.#statements.vote.run(JSON.stringify(votes), id)
    if (edit !== undefined) this.#statements.edit.run(edit.args, edit.edited, id)
  }

  /** An approved call may be retried until `expiresAtMs`. */
  approve(id: string, expiresAtMs: number): void {
    this.#statements.approve.run(expiresAtMs, id)
  }

  /** Ended: the arguments are deleted, unless a person still has to check. */
  end(id: string, state: ApprovalState, why: string): void {
    if (state === 'unknown') this.#statements.endUnknown.run(why, id)
    else this.#statements.end.run(state, why, id)
  }

  /** All of it, or nothing. */
  inOne(work: () => void): void {
    inTransaction(this.#database, work)
  }

  /** False if another call used it, or it is not approved: in one statement, so at most once. */
  use(id: string, callId: string, atMs: number, from: number): boolean {
    return this.#statements.use.run(callId, atMs, from, id).changes === 1
  }

  /** Nothing of the call left the gate. */
  release(id: string, callId: string): void {
    this.#statements.release.run(id, callId)
  }

  /** The call that used it has its outcome: from now on it is shown as used for a while. */
  markSettled(id: string, atMs: number): void {
    this.#statements.markSettled.run(atMs, id)
  }

  /** Its caller has been informed. */
  markReported(id: string): void {
    this.#statements.markReported.run(id)
  }

  /** Deletes the oldest of those that have ended. */
  prune(): void {
    this.#statements.prune.run()
  }

  #readOne(stored: SqlRow | undefined): ApprovalRow | undefined {
    return stored === undefined ? undefined : this.read(stored)
  }
}

function toNumber(value: unknown): number | undefined {
  return value == null ? undefined : Number(value)
}

/** The oldest first. */
function toSeqs(rows: readonly SqlRow[]): number[] {
  return rows.map(({ seq }) => Number(seq)).sort((one, other) => one - other)
}

/** Equal as long as a request is unchanged. */
export function toVersion({ state, edited, used_by, expires_at, votes }: SqlRow): string {
  return `${state} ${edited} ${used_by} ${expires_at} ${votes}`
}

function toRow(row: SqlRow): ApprovalRow {
  const text = (name: string): string => String(row[name])
  const maybe = (name: string): string | null => (row[name] === null ? null : text(name))
  const maybeNumber = (name: string): number | null =>
    row[name] === null ? null : Number(row[name])
  return {
    seq: Number(row.seq),
    id: text('id'),
    key: text('key'),
    asked: text('asked'),
    pin: text('pin'),
    state: text('state') as ApprovalState,
    atMs: Number(row.at),
    expiresAtMs: Number(row.expires_at),
    principal: { id: text('principal'), kind: text('principal_kind') },
    agent: maybe('agent'),
    session: text('session'),
    ...(row.session_name === '' ? {} : { sessionName: text('session_name') }),
    server: text('server'),
    method: text('method'),
    name: text('name'),
    category: maybe('category'),
    risk: maybe('risk'),
    ...(row.unknown === 1 ? { unknown: true } : {}),
    asks: JSON.parse(text('asks')) as ApprovalRequirement[],
    votes: JSON.parse(text('votes')) as StoredVote[],
    before: JSON.parse(text('before')) as PriorCall[],
    callId: text('call_id'),
    edited: Number(row.edited),
    isReported: row.told === 1,
    usedBy: maybe('used_by'),
    usedAtMs: maybeNumber('used_at'),
    usedFrom: maybeNumber('used_from'),
    why: text('why'),
  }
}
