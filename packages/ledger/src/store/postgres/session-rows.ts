// Sessions of agents in the shared store, as rows: opened, labelled, kept alive, ended and read again. What
// they mean is decided by identity/sessions and by the functions of session-schema.ts.

import { hash } from 'node:crypto'
import { ADMIT_DEADLINE_MS } from '../limits.ts'
import {
  BYTES,
  column,
  createRowReader,
  DIGITS,
  FLAG,
  LATIN1,
  NUMBER,
  type StoredRow,
  TEXT,
  TEXTS,
  withDefault,
} from '../read-row.ts'
import type { PostgresConnections } from './connections.ts'
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

/** What a failover has left unsure of a session. */
interface FailoverMark {
  /** The row is of another timeline of the database. */
  readonly isOlder: boolean
}

/** A session of another timeline may be in use at other gates, and what was remembered of it may be lost. */
function withFailover<Row extends { readonly isSplit: boolean; readonly hasGap: boolean }>({
  isOlder,
  ...row
}: Row & FailoverMark): Omit<Row & FailoverMark, 'isOlder'> {
  return { ...row, isSplit: row.isSplit || isOlder, hasGap: row.hasGap || isOlder }
}

const IS_SPLIT = column('is_split', FLAG)
const HAS_GAP = column('has_gap', FLAG)
const IS_OLDER = column('is_older', FLAG)
const OWNER_SAW = column('owner_saw', TEXTS)

const readOpened = createRowReader<OpenedSessionRow & FailoverMark>({
  id: TEXT,
  saw: TEXTS,
  ageMs: column('age_ms', NUMBER),
  isSplit: IS_SPLIT,
  hasGap: HAS_GAP,
  isNew: column('is_new', FLAG),
  version: DIGITS,
  ownerSaw: OWNER_SAW,
  timeline: TEXT,
  isOlder: IS_OLDER,
})

/** `answers` as digits: there are as many rows as a bigint counts. */
const readSession = createRowReader<
  Omit<SessionRow, 'answers'> & FailoverMark & { readonly answers: string }
>({
  owner: LATIN1,
  version: DIGITS,
  ownerSaw: OWNER_SAW,
  number: withDefault(NUMBER, undefined),
  saw: withDefault(TEXTS, []),
  isEnded: column('ended', FLAG),
  isSplit: IS_SPLIT,
  hasGap: HAS_GAP,
  answers: withDefault(DIGITS, '0'),
  isOlder: IS_OLDER,
})

const NAME = { owner: LATIN1, number: NUMBER } as const
const readName = createRowReader<SessionName>(NAME)
const readSplit = createRowReader<SessionName & { readonly isSplit: boolean }>({
  ...NAME,
  isSplit: column('is_raised', FLAG),
})
const readAnswer = createRowReader<{ readonly seq: string; readonly body: Uint8Array }>({
  seq: DIGITS,
  body: BYTES,
})
const readVersion = createRowReader<{ readonly owner: string; readonly version: string }>({
  owner: LATIN1,
  version: DIGITS,
})
const readTimeline = createRowReader<{ readonly timeline: string }>({ timeline: TEXT })

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
    return withFailover(readOpened(row ?? {}))
  }

  /** Versions up to this one are known to gates, and may be of commits that were lost. Returns the timeline. */
  async raiseVersions(known: bigint): Promise<string> {
    const [row] = await this.#connections.query(RAISE_VERSIONS, [String(known)])
    return readTimeline(row ?? {}).timeline
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
    return rows.map(readSplit)
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
    return rows.map((row) => {
      const { seq, body } = readAnswer(row)
      return { name: readName(row), seq: BigInt(seq), body }
    })
  }

  async read(
    owners: Iterable<string>,
    writer: string,
  ): Promise<{ readonly timeline: string; readonly sessions: readonly SessionRow[] }> {
    const rows = await this.#connections.query(READ_SESSIONS, [[...owners].map(toBytes), writer])
    const sessions = rows
      .filter(({ owner }) => owner !== null)
      .map((row) => {
        const { answers, ...session } = withFailover(readSession(row))
        return { ...session, answers: BigInt(answers) }
      })
    return { timeline: readTimeline(rows[0] ?? {}).timeline, sessions }
  }
}

/** 32 bytes (latin1): principals and keys contain what others chose, and an index has a limit. */
export function digestOwner(principal: string): string {
  return hash('sha256', principal, 'binary')
}

function toBytes(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1')
}

function toVersions(rows: readonly StoredRow[]): ReadonlyMap<string, string> {
  return new Map(rows.map(readVersion).map(({ owner, version }) => [owner, version]))
}
