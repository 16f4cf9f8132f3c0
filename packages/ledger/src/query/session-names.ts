// Names of sessions, from the event `session` that the gate records when a session is first used: a call
// has only the id. Looked up in the index, and in the newest records where the index is behind.

import type { DatabaseSync } from 'node:sqlite'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { recordsBackwards } from '../chain/read.ts'
import { describeClient } from '../records/describe-client.ts'
import { SESSION_NAMES_KEPT, SESSION_NAMES_READ_MAX } from '../records/limits.ts'
import type { LedgerRecord } from '../records/record.ts'

const LOOKUPS_MAX = 3

export class SessionNames {
  readonly #ledger: DatabaseSync
  readonly #index: DatabaseSync | undefined
  readonly #names = new Map<string, string>()
  /** How often each was not found: its event may come later, or retention has dropped it. */
  readonly #missed = new Map<string, number>()

  constructor(ledger: DatabaseSync, index: DatabaseSync | undefined) {
    this.#ledger = ledger
    this.#index = index
  }

  /** Returns the name of a session; undefined if the ledger has none. */
  nameOf(session: string): string | undefined {
    return this.#names.get(session)
  }

  /** Looks up those of a page in one go. */
  load(sessions: Iterable<string>): void {
    const misses = (id: string): number => this.#missed.get(id) ?? 0
    const wanted = new Set(
      [...sessions].filter((id) => !this.#names.has(id) && misses(id) < LOOKUPS_MAX),
    )
    if (wanted.size === 0) return
    if (this.#names.size + wanted.size > SESSION_NAMES_KEPT) this.#names.clear()
    if (this.#missed.size + wanted.size > SESSION_NAMES_KEPT) this.#missed.clear()
    for (const detail of this.#index === undefined ? [] : findEvents(this.#index, wanted))
      this.#take(JSON.parse(detail), wanted)
    if (wanted.size > 0) this.#read(wanted)
    for (const id of wanted) this.#missed.set(id, misses(id) + 1)
  }

  /** A record that has just come. */
  see(record: LedgerRecord): void {
    if (record.kind === 'event' && record.name === 'session') this.#take(record.detail)
  }

  #read(wanted: Set<string>): void {
    const through = Number(this.#index?.prepare('SELECT seq FROM through').get()?.seq ?? 0)
    let left = SESSION_NAMES_READ_MAX
    for (const record of recordsBackwards(this.#ledger)) {
      if (record.seq <= through || wanted.size === 0 || left-- <= 0) return
      if (record.kind === 'event' && record.name === 'session') this.#take(record.detail, wanted)
    }
  }

  #take(detail: JsonValue, wanted?: Set<string>): void {
    if (!isObject(detail)) return
    const { session, kind, client, principal } = detail
    if (typeof session !== 'string' || (wanted !== undefined && !wanted.delete(session))) return
    const toText = (value: unknown): string => (typeof value === 'string' ? value : '')
    const name = { kind: toText(kind), client: toText(client), principal: toText(principal) }
    this.#names.set(session, describeClient(name))
  }
}

function findEvents(index: DatabaseSync, sessions: ReadonlySet<string>): string[] {
  return index
    .prepare(
      `SELECT detail FROM events WHERE name = (SELECT id FROM words WHERE text = 'session')
      AND detail ->> '$.session' IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify([...sessions]))
    .map(({ detail }) => String(detail))
}
