// Sessions of agents in the shared store, as rows: opened, labelled, kept alive, ended and read again. What
// they mean is decided by identity/sessions and by the functions of session-schema.ts.

import { hash } from 'node:crypto'
import { ADMIT_DEADLINE_MS } from '../limits.ts'
import type { PostgresConnections, Row } from './connections.ts'
import {
  END_SESSION,
  FORGET_SESSION,
  OPEN_SESSION,
  RAISE_VERSIONS,
  READ_SESSIONS,
  RESTORE_SESSIONS,
  SEE_LABELS,
  TOUCH_SESSIONS,
} from './statements.ts'

export interface SessionOpening {
  readonly principal: string
  readonly key: string
  readonly max: number
  readonly keysMax: number
  readonly windowMs: number
  readonly idleMs: number
}

/** A session that was opened, or the one that its key had opened already. */
export interface OpenedSessionRow {
  readonly id: string
  /** The labels that the session has seen. */
  readonly saw: readonly string[]
  readonly ageMs: number
  /** Other gates have used the session too, or may have before a failover. */
  readonly isSplit: boolean
  /** The session was opened now. */
  readonly isNew: boolean
  /** The version of the principal's sessions. It rises with each change, beyond what a number holds. */
  readonly version: string
  /** The labels that the principal has seen in any session. */
  readonly ownerSaw: readonly string[]
  /** The timeline of the database, which is another one after a failover. */
  readonly timeline: string
}

/** One row for each session of a principal; without `number` it has none. */
export interface SessionRow {
  /** 32 bytes, latin1. */
  readonly owner: string
  readonly version: string
  readonly ownerSaw: readonly string[]
  readonly number: number | undefined
  readonly saw: readonly string[]
  readonly isEnded: boolean
  readonly isSplit: boolean
}

export interface SessionName {
  readonly owner: string
  readonly number: number
}

export interface RestoredSession {
  readonly id: string
  readonly name: SessionName
  readonly principal: string
  readonly keepMs: number
  readonly keys: Iterable<string>
}

export class SessionRows {
  readonly #connections: PostgresConnections
  readonly #gate: string

  constructor(connections: PostgresConnections, gate: string) {
    this.#connections = connections
    this.#gate = gate
  }

  async open(opening: SessionOpening): Promise<OpenedSessionRow> {
    const { principal, key, max, keysMax, windowMs, idleMs } = opening
    const values = [
      this.#gate,
      toBytes(digestOwner(principal)),
      principal,
      toBytes(digestOwner(key)),
      max,
      keysMax,
      Math.round(windowMs),
      Math.round(idleMs),
    ]
    const [row] = await this.#connections.query(OPEN_SESSION, values, ADMIT_DEADLINE_MS)
    return {
      id: String(row?.id),
      saw: row?.saw as string[],
      ageMs: Number(row?.age_ms),
      isSplit: row?.is_split === true || row?.is_older === true,
      isNew: row?.is_new === true,
      version: String(row?.version),
      ownerSaw: row?.owner_saw as string[],
      timeline: String(row?.timeline),
    }
  }

  /** Versions up to this one are known to gates, and may be of commits that were lost. Returns the timeline. */
  async raiseVersions(known: bigint): Promise<string> {
    const [row] = await this.#connections.query(RAISE_VERSIONS, [String(known)])
    return String(row?.timeline)
  }

  /** Sessions that this gate knows, so that they are there with it and their keys. */
  async restore(sessions: readonly RestoredSession[]): Promise<void> {
    const rows = sessions.map(({ id, keepMs, keys, name, principal }) => ({
      owner: toBytes(name.owner).toString('hex'),
      number: name.number,
      principal,
      id,
      keep_ms: Math.round(keepMs),
      keys: [...keys].map((key) => toBytes(digestOwner(key)).toString('hex')),
    }))
    await this.#connections.query(RESTORE_SESSIONS, [JSON.stringify(rows), this.#gate])
  }

  /** The new versions by principal; empty if the session is over. */
  async see(
    { owner, number }: SessionName,
    seen: {
      readonly principal: string
      readonly keepMs: number
      readonly labels: readonly string[]
    },
  ): Promise<ReadonlyMap<string, string>> {
    const { principal, keepMs, labels } = seen
    const labelled = toBytes(digestOwner(principal))
    const values = [toBytes(owner), number, labelled, principal, Math.round(keepMs), labels]
    return toVersions(await this.#connections.query(SEE_LABELS, values))
  }

  /** Says that these are in use. Returns the versions of their principals. */
  async touch(sessions: readonly SessionName[]): Promise<ReadonlyMap<string, string>> {
    const owners = sessions.map(({ owner }) => toBytes(owner))
    const numbers = sessions.map(({ number }) => number)
    return toVersions(await this.#connections.query(TOUCH_SESSIONS, [owners, numbers]))
  }

  async forget({ owner, number }: SessionName): Promise<void> {
    await this.#connections.query(FORGET_SESSION, [toBytes(owner), number, this.#gate])
  }

  async end({ owner, number }: SessionName): Promise<void> {
    await this.#connections.query(END_SESSION, [toBytes(owner), number])
  }

  async read(
    owners: Iterable<string>,
  ): Promise<{ readonly timeline: string; readonly sessions: readonly SessionRow[] }> {
    const rows = await this.#connections.query(READ_SESSIONS, [[...owners].map(toBytes)])
    const sessions = rows
      .filter(({ owner }) => owner !== null)
      .map((row) => ({
        owner: (row.owner as Buffer).toString('latin1'),
        version: String(row.version),
        ownerSaw: row.owner_saw as string[],
        number: row.number === null ? undefined : Number(row.number),
        saw: (row.saw as string[] | null) ?? [],
        isEnded: row.ended === true,
        isSplit: row.is_split === true,
      }))
    return { timeline: String(rows[0]?.timeline), sessions }
  }
}

/** 32 bytes (latin1): principals and keys contain what others chose, and an index has a limit. */
export function digestOwner(principal: string): string {
  return hash('sha256', principal, 'binary')
}

function toBytes(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1')
}

function toVersions(rows: readonly Row[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [(row.owner as Buffer).toString('latin1'), String(row.version)]))
}
