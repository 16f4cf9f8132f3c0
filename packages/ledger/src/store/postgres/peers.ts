// What gates know of each other to pass requests on: where a gate is reached, whether it is there, and
// which sessions have been taken over from a gate that was gone. Rows of the shared store.

import { ADMIT_DEADLINE_MS, GATE_BEAT_MS } from '../limits.ts'
import type { PostgresConnections } from './connections.ts'
import { FIND_PEER, SESSION_OWNER, TAKE_OVER, TAKEN_FROM } from './statements.ts'

export interface PeerRow {
  /** `host:port`. */
  readonly address: string
  readonly state: string
  /** Since it last said that it is there, by the clock of the database; at most as long as this gate itself has said so
   * without a gap: after the database was away, all gates look silent. */
  readonly silentMs: number
}

export class PeerRows {
  readonly #connections: PostgresConnections
  readonly #gate: string
  #beatAtMs = performance.now()
  #sinceMs = this.#beatAtMs

  constructor(connections: PostgresConnections, gate: string) {
    this.#connections = connections
    this.#gate = gate
  }

  /** This gate has said that it is there. */
  beat(): void {
    const nowMs = performance.now()
    if (nowMs - this.#beatAtMs > 2 * GATE_BEAT_MS) this.#sinceMs = nowMs
    this.#beatAtMs = nowMs
  }

  async find(gate: string): Promise<PeerRow | undefined> {
    const [row] = await this.#query(FIND_PEER, [gate])
    if (row === undefined || row.peer === '') return undefined
    return {
      address: String(row.peer),
      state: String(row.state),
      silentMs: Math.min(Number(row.silent_ms), performance.now() - this.#sinceMs),
    }
  }

  /** The gate that has taken a session over; undefined if none has. */
  async ownerOf(session: Buffer): Promise<string | undefined> {
    const [row] = await this.#query(SESSION_OWNER, [session])
    return row === undefined ? undefined : String(row.owner)
  }

  /** Whether this gate has it from now on: no other gate has taken it from `from` before. */
  async takeOver(session: Buffer, from: string): Promise<boolean> {
    const rows = await this.#query(TAKE_OVER, [session, this.#gate, from])
    return rows.length > 0
  }

  /** Sessions that others have taken over from this gate, hex. */
  async takenFromHere(): Promise<string[]> {
    const rows = await this.#query(TAKEN_FROM, [this.#gate])
    return rows.map((row) => String(row.session))
  }

  #query(text: string, values: readonly unknown[]) {
    return this.#connections.query(text, values, ADMIT_DEADLINE_MS)
  }
}
