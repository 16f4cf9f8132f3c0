// Requests as stored in gate.db. Every change is one statement, durable when it returns; the engine
// has the rules of who may change what. Used by engine.ts only.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { ApprovalRequirement } from '@sluice/policy/core/decision'
import type {
  ApprovalFilter,
  ApprovalState,
  ApprovalSubject,
  PriorCall,
  Vote,
} from '../core/approval.ts'
import { DECIDED_KEPT_MAX, LISTED_DEFAULT, LISTED_MAX } from './limits.ts'

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
  readonly args: Uint8Array | null
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

const FINAL = "('denied', 'expired', 'void', 'executed', 'unknown')"

export class Requests {
  readonly #database: DatabaseSync
  readonly #counts: (vote: Vote) => boolean

  /** `counts`: whether the approver of a vote may still decide. */
  constructor(database: DatabaseSync, counts: (vote: Vote) => boolean) {
    this.#database = database
    this.#counts = counts
  }

  insert(row: Omit<ApprovalRow, 'seq'>): void {
    this.#run(
      `INSERT INTO approvals (id, key, asked, pin, state, at, expires_at, principal, principal_kind,
        agent, session, session_name, server, method, name, category, risk, asks, votes, before,
        call_id, args, edited, unknown, told, used_by, used_at, used_from, why)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, NULL, NULL, '')`,
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
      row.args,
      row.edited,
      row.unknown === true ? 1 : 0,
    )
  }

  find(id: string): ApprovalRow | undefined {
    const row = this.stored(id)
    return row === undefined ? undefined : this.read(row)
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
    return this.#database.prepare('SELECT * FROM approvals WHERE id = ?').get(id)
  }

  /** The newest for one call. */
  newest(key: string): ApprovalRow | undefined {
    const row = this.#database
      .prepare('SELECT * FROM approvals WHERE key = ? ORDER BY seq DESC LIMIT 1')
      .get(key)
    return row === undefined ? undefined : this.read(row)
  }

  /** As stored: `read` parses them, `signOf` detects changes. */
  list({ states, server, principal, before, limit }: ApprovalFilter): SqlRow[] {
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
    const most = Math.max(1, Math.min(LISTED_MAX, limit ?? LISTED_DEFAULT))
    return this.#database
      .prepare(`SELECT * FROM approvals ${condition} ORDER BY seq DESC LIMIT ${most}`)
      .all(...values)
  }

  /** Those that may still lead to a call, the oldest first. */
  open(): ApprovalRow[] {
    return this.#database
      .prepare("SELECT * FROM approvals WHERE state IN ('pending', 'approved') ORDER BY seq")
      .all()
      .map((row) => this.read(row))
  }

  /** When the next of them expires. */
  nextExpiryMs(): number | undefined {
    const row = this.#database
      .prepare(
        `SELECT min(expires_at) AS at FROM approvals
         WHERE state IN ('pending', 'approved') AND used_by IS NULL`,
      )
      .get()
    return row?.at == null ? undefined : Number(row.at)
  }

  /** Pending requests: in total, of the session, and of the tool in it. */
  counts(session: string, server: string, name: string) {
    const row = this.#database
      .prepare(
        `SELECT count(*) AS every, sum(session = ?1) AS session,
          sum(session = ?1 AND server = ?2 AND name = ?3) AS tool
         FROM approvals WHERE state = 'pending'`,
      )
      .get(session, server, name)
    const of = (name: string): number => Number(row?.[name] ?? 0)
    return { every: of('every'), session: of('session'), tool: of('tool') }
  }

  vote(
    id: string,
    votes: readonly StoredVote[],
    edit?: { args: Uint8Array; edited: number },
  ): void {
    this.#run('UPDATE approvals SET votes = ? WHERE id = ?', JSON.stringify(votes), id)
    if (edit !== undefined)
      this.#run(
        'UPDATE approvals SET args = ?, edited = ? WHERE id = ?',
        edit.args,
        edit.edited,
        id,
      )
  }

  /** An approved call may be retried until `expiresAtMs`. */
  approve(id: string, expiresAtMs: number): void {
    this.#run(
      "UPDATE approvals SET state = 'approved', expires_at = ? WHERE id = ? AND state = 'pending'",
      expiresAtMs,
      id,
    )
  }

  /** Ended: the arguments are deleted, unless a person still has to check. */
  end(id: string, state: ApprovalState, why: string): void {
    const args = state === 'unknown' ? '' : ', args = NULL'
    this.#run(`UPDATE approvals SET state = ?, why = ? ${args} WHERE id = ?`, state, why, id)
  }

  /** All of it, or nothing. */
  inOne(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }

  /** False if another call used it, or it is not approved: in one statement, so at most once. */
  use(id: string, callId: string, atMs: number, from: number): boolean {
    const { changes } = this.#run(
      `UPDATE approvals SET used_by = ?, used_at = ?, used_from = ?
       WHERE id = ? AND state = 'approved' AND used_by IS NULL`,
      callId,
      atMs,
      from,
      id,
    )
    return changes === 1
  }

  /** Nothing of the call left the gate. */
  release(id: string, callId: string): void {
    this.#run(
      `UPDATE approvals SET used_by = NULL, used_at = NULL, used_from = NULL
       WHERE id = ? AND used_by = ? AND state = 'approved'`,
      id,
      callId,
    )
  }

  /** Its caller has been informed. */
  markReported(id: string): void {
    this.#run('UPDATE approvals SET told = 1 WHERE id = ?', id)
  }

  /** Deletes the oldest of those that have ended. */
  prune(): void {
    this.#run(
      `DELETE FROM approvals WHERE state IN ${FINAL} AND seq <= (
        SELECT seq FROM approvals WHERE state IN ${FINAL} ORDER BY seq DESC
        LIMIT 1 OFFSET ${DECIDED_KEPT_MAX})`,
    )
  }

  #run(sql: string, ...values: SQLInputValue[]) {
    return this.#database.prepare(sql).run(...values)
  }
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
    args: (row.args as Uint8Array | null) ?? null,
    edited: Number(row.edited),
    isReported: row.told === 1,
    usedBy: maybe('used_by'),
    usedAtMs: maybeNumber('used_at'),
    usedFrom: maybeNumber('used_from'),
    why: text('why'),
  }
}
