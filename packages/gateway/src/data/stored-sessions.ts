// SessionMemory on `gate.db`: sessions over a restart of the gate. Times are written by the wall clock, so
// that they mean the same to the next process. A write that fails is reported and does not stop a call: the
// ledger has the labels of every answer too.

import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import type {
  PrincipalLabels,
  SessionMemory,
  StoredSession,
} from '@sluice/access/identity/sessions/session-memory'
import { prepareAll } from '@sluice/ledger/store/sqlite/prepare'
import type { Log } from '../shared/log.ts'

const STATEMENTS = {
  save: `INSERT OR REPLACE INTO sessions
  (id, principal, keys, started, last_used, connected, ended, calls, saw, client, servers)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  remove: 'DELETE FROM sessions WHERE id = ?',
  saveLabels:
    'INSERT OR REPLACE INTO principal_labels (principal, saw, last_used) VALUES (?, ?, ?)',
  removeLabels: 'DELETE FROM principal_labels WHERE principal = ?',
} as const

type Row = Record<string, SQLOutputValue>

export class StoredSessions implements SessionMemory {
  readonly #store: DatabaseSync
  readonly #log: Log
  readonly #statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>
  /** Of the wall clock to the one that sessions are measured by. */
  readonly #aheadMs: () => number

  constructor(store: DatabaseSync, log: Log, aheadMs: () => number) {
    this.#store = store
    this.#log = log
    this.#aheadMs = aheadMs
    this.#statements = prepareAll(store, STATEMENTS)
  }

  load(): { sessions: StoredSession[]; principals: PrincipalLabels[] } {
    const sessions = this.#store.prepare('SELECT * FROM sessions').all().map(toSession)
    const principals = this.#store.prepare('SELECT * FROM principal_labels').all().map(toLabels)
    return { sessions, principals }
  }

  save(session: StoredSession): void {
    const { id, principal, startedAtMs, calls, client } = session
    const lists = [session.keys, session.saw, session.servers].map((list) => JSON.stringify(list))
    const [keys = '', saw = '', servers = ''] = lists
    const flags = [Number(session.isConnected), Number(session.isEnded)]
    const lastUsed = this.#wallMs(session.lastUsedMs)
    this.#attempt(() =>
      this.#statements.save.run(
        id,
        principal,
        keys,
        startedAtMs,
        lastUsed,
        ...flags,
        calls,
        saw,
        client,
        servers,
      ),
    )
  }

  remove(id: string): void {
    this.#attempt(() => this.#statements.remove.run(id))
  }

  saveLabels({ principal, saw, lastUsedMs }: PrincipalLabels): void {
    const row = [principal, JSON.stringify(saw), this.#wallMs(lastUsedMs)]
    this.#attempt(() => this.#statements.saveLabels.run(...row))
  }

  removeLabels(principal: string): void {
    this.#attempt(() => this.#statements.removeLabels.run(principal))
  }

  #wallMs(ms: number): number {
    return Math.max(0, Math.floor(ms + this.#aheadMs()))
  }

  #attempt(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.#log('error', 'a session could not be stored', { why: (error as Error).message })
    }
  }
}

function toSession(row: Row): StoredSession {
  return {
    id: String(row.id),
    principal: String(row.principal),
    keys: toTexts(row.keys),
    startedAtMs: Number(row.started),
    lastUsedMs: Number(row.last_used),
    isConnected: row.connected === 1,
    isEnded: row.ended === 1,
    calls: Number(row.calls),
    saw: toTexts(row.saw),
    client: String(row.client),
    servers: toTexts(row.servers),
  }
}

function toLabels({ principal, saw, last_used }: Row): PrincipalLabels {
  return { principal: String(principal), saw: toTexts(saw), lastUsedMs: Number(last_used) }
}

function toTexts(json: SQLOutputValue | undefined): string[] {
  return (JSON.parse(String(json)) as unknown[]).map(String)
}
