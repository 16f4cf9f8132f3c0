// Sessions of agents in the shared store, as rows: opened, labelled, kept alive, ended and read again. What
// they mean is decided by identity/sessions and by the functions of session-schema.ts.

import { hash } from 'node:crypto'
import { ADMIT_DEADLINE_MS } from '../limits.ts'
import type { PostgresConnections, Row } from './connections.ts'
import { STORES_ANSWERS } from './session-schema.ts'
import {
  ADD_ANSWERS,
  ANSWERS_SINCE,
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
  /** This gate stores what the session remembers of answers. */
  readonly storesAnswers: boolean
}

/** A session that was opened, or the one that its key had opened already. */
export interface OpenedSessionRow {
  readonly id: string
  /** The labels that the session has seen. */
  readonly saw: readonly string[]
  readonly ageMs: number
  /** Other gates have used the session too, or may have before a failover. */
  readonly isSplit: boolean
  /** Not all that gates have sent to clients of the session is remembered in the store. */
  readonly hasGap: boolean
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
  readonly hasGap: boolean
  /** The newest row of what others than this writer remember of its answers; 0 if there is none. */
  readonly answers: bigint
}

export interface SessionName {
  readonly owner: string
  readonly number: number
}

/** What a gate has added to what a session remembers of answers. */
export interface AnswerRow {
  readonly name: SessionName
  readonly seq: bigint
  /** Encrypted. */
  readonly body: Uint8Array
}

/** A row to be added. */
export interface AddedAnswers extends Pick<AnswerRow, 'name' | 'body'> {
  /** All that the gate remembers: rows up to this one, and its own, are replaced by it. */
  readonly replacesThrough?: bigint | undefined
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
    const { principal, key, max, keysMax, windowMs, idleMs, storesAnswers } = opening
    const values = [
      storesAnswers ? this.#gate + STORES_ANSWERS : this.#gate,
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
      hasGap: row?.has_gap === true || row?.is_older === true,
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

  /** Returns the sessions that are not over, and whether other gates use them. */
  async addAnswers(
    writer: string,
    added: readonly AddedAnswers[],
  ): Promise<readonly (SessionName & { readonly isSplit: boolean })[]> {
    const rows = await this.#connections.query(ADD_ANSWERS, [
      writer,
      added.map(({ name }) => toBytes(name.owner)),
      added.map(({ name }) => name.number),
      added.map(({ body }) => body),
      added.map(({ replacesThrough = -1n }) => String(replacesThrough)),
    ])
    return rows.map((row) => ({ ...toName(row), isSplit: row.is_raised === true }))
  }

  /** What others than this writer have added to each of these sessions since row `seq`. */
  async readAnswers(
    writer: string,
    since: readonly Omit<AnswerRow, 'body'>[],
  ): Promise<AnswerRow[]> {
    const rows = await this.#connections.query(ANSWERS_SINCE, [
      since.map(({ name }) => toBytes(name.owner)),
      since.map(({ name }) => name.number),
      since.map(({ seq }) => String(seq)),
      writer,
    ])
    return rows.map((row) => ({
      name: toName(row),
      seq: BigInt(String(row.seq)),
      body: row.body as Uint8Array,
    }))
  }

  async read(
    owners: Iterable<string>,
    writer: string,
  ): Promise<{ readonly timeline: string; readonly sessions: readonly SessionRow[] }> {
    const rows = await this.#connections.query(READ_SESSIONS, [[...owners].map(toBytes), writer])
    const sessions = rows
      .filter(({ owner }) => owner !== null)
      .map((row) => ({
        owner: (row.owner as Buffer).toString('latin1'),
        version: String(row.version),
        ownerSaw: row.owner_saw as string[],
        number: row.number === null ? undefined : Number(row.number),
        saw: (row.saw as string[] | null) ?? [],
        isEnded: row.ended === true,
        isSplit: row.is_split === true || row.is_older === true,
        hasGap: row.has_gap === true || row.is_older === true,
        answers: BigInt(String(row.answers ?? 0)),
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

function toName(row: Row): SessionName {
  return { owner: (row.owner as Buffer).toString('latin1'), number: Number(row.number) }
}

function toVersions(rows: readonly Row[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [(row.owner as Buffer).toString('latin1'), String(row.version)]))
}
