// How often approvers have denied a tool to a session, or lines of a shell that start the same. After three denials it is
// blocked in that session until a person unblocks it, so that an agent cannot ask until someone gives in
// (approval fatigue). Stored in gate.db.

import type { DatabaseSync } from 'node:sqlite'
import type { ApprovalBlock } from './approval.ts'
import { DENIALS_KEPT_MAX, DENIALS_MAX } from './limits.ts'

type DenialKey = Pick<ApprovalBlock, 'session' | 'server' | 'name'>

export class Denials {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  isBarred({ session, server, name }: DenialKey): boolean {
    const row = this.#database
      .prepare('SELECT denials FROM approvals_denied WHERE session = ? AND server = ? AND name = ?')
      .get(session, server, name)
    return Number(row?.denials ?? 0) >= DENIALS_MAX
  }

  count({ session, server, name }: DenialKey, atMs: number): void {
    this.#database
      .prepare(
        `INSERT INTO approvals_denied VALUES (?, ?, ?, 1, ?)
         ON CONFLICT DO UPDATE SET denials = denials + 1, at = excluded.at`,
      )
      .run(session, server, name, atMs)
    this.#database
      .prepare(
        `DELETE FROM approvals_denied WHERE rowid IN (
          SELECT rowid FROM approvals_denied ORDER BY at DESC LIMIT -1 OFFSET ${DENIALS_KEPT_MAX})`,
      )
      .run()
  }

  get barred(): ApprovalBlock[] {
    return this.#database
      .prepare('SELECT * FROM approvals_denied WHERE denials >= ? ORDER BY at DESC')
      .all(DENIALS_MAX)
      .map(({ session, server, name, denials }) => ({
        session: String(session),
        server: String(server),
        name: String(name),
        denials: Number(denials),
      }))
  }

  /** False if nothing was blocked. */
  lift({ session, server, name }: DenialKey): boolean {
    const { changes } = this.#database
      .prepare('DELETE FROM approvals_denied WHERE session = ? AND server = ? AND name = ?')
      .run(session, server, name)
    return changes > 0
  }
}
