// The gates of a shared store: each says every few seconds that it is there, with what it has confirmed.

import { setTimeout as sleep } from 'node:timers/promises'
import { CONFIRM_LOOK_MS, CONFIRM_MS_MAX, GATE_GONE_MS } from '../limits.ts'
import type { DatabaseTime } from './clock-comparison.ts'
import type { PostgresConnections } from './connections.ts'
import {
  BEAT,
  GATES,
  LEAVE,
  NOW,
  SWEEP,
  SWEEP_OWNERS,
  SWEEP_SESSIONS,
  SWEEP_TAKEOVERS,
} from './statements.ts'

/** What a gate says of itself. */
export interface GateReport {
  /** Of the shared state that it has applied. */
  readonly version?: number
  readonly state: string
  /** The version of the program. */
  readonly release: string
  /** Digest of the servers it has. */
  readonly config: string
  readonly address: string
  /** Where other gates reach it. */
  readonly peer?: string
  /** The key that its checkpoints are signed with. */
  readonly key: string
}

export interface ListedGate extends Required<GateReport> {
  readonly name: string
  readonly epoch: number
  readonly records: number
  readonly startedAt: string
  readonly seenAt: string
  readonly isLive: boolean
  /** It has applied everything. */
  readonly isCurrent: boolean
}

/** What the database answered when a gate reported itself. */
export interface BeatReply {
  /** The clock of the database; undefined if this gate is fenced. */
  readonly time: DatabaseTime | undefined
  /** The timeline of the database, which is another one after a failover; undefined if this gate is fenced. */
  readonly timeline: string | undefined
}

export class GateDirectory {
  readonly #connections: PostgresConnections
  readonly #gate: string
  /** A gate that is fenced says nothing more: its name is that of another one. */
  readonly #epoch: () => number

  constructor(connections: PostgresConnections, gate: string, epoch: () => number) {
    this.#connections = connections
    this.#gate = gate
    this.#epoch = epoch
  }

  async beat({ version = 0, ...report }: GateReport): Promise<BeatReply> {
    const { address, config, key, peer = '', release, state } = report
    const askedMs = performance.now()
    const [row] = await this.#connections.query(BEAT, [
      this.#gate,
      version,
      state,
      release,
      config,
      address,
      key,
      this.#epoch(),
      peer,
    ])
    // Fenced: another gate speaks for this name.
    if (row === undefined) return { time: undefined, timeline: undefined }
    const time = { databaseMs: Number(row.now_ms), askedMs, answeredMs: performance.now() }
    return { time, timeline: String(row.timeline) }
  }

  async readTime(): Promise<DatabaseTime> {
    const askedMs = performance.now()
    const [row] = await this.#connections.query(NOW)
    return { databaseMs: Number(row?.now_ms), askedMs, answeredMs: performance.now() }
  }

  /** Removes counters that nothing counts any more, and sessions after their time. */
  async sweep(): Promise<void> {
    for (const statement of [SWEEP, SWEEP_SESSIONS, SWEEP_OWNERS, SWEEP_TAKEOVERS])
      await this.#connections.query(statement)
  }

  async leave(): Promise<void> {
    await this.#connections.query(LEAVE, [this.#gate, this.#epoch()])
  }

  /** Live gates that have not applied this version after a while. No call is admitted there by an older
   * one; what they have not ended yet are calls that were open. */
  async unconfirmed(version: number): Promise<string[]> {
    for (const untilMs = performance.now() + CONFIRM_MS_MAX; ; ) {
      const late = (await this.list()).filter((gate) => gate.isLive && gate.version < version)
      if (late.length === 0 || performance.now() > untilMs) return late.map(({ name }) => name)
      await sleep(CONFIRM_LOOK_MS)
    }
  }

  async list(): Promise<ListedGate[]> {
    const rows = await this.#connections.query(GATES)
    return rows.map((row) => ({
      name: String(row.gate),
      epoch: Number(row.epoch),
      records: Number(row.seq),
      version: Number(row.version),
      state: String(row.state),
      release: String(row.release),
      config: String(row.config),
      address: String(row.address),
      peer: String(row.peer),
      key: String(row.key),
      startedAt: (row.started_at as Date).toISOString(),
      seenAt: (row.beat_at as Date).toISOString(),
      isLive: row.state !== 'stopped' && Number(row.silent_ms) < GATE_GONE_MS,
      isCurrent: Number(row.version) === Number(row.current),
    }))
  }
}
