// What is kept of an agent beside its journal, as the rest of the module reads it: the rows of the
// tables with their JSON read. Types only.

import type { AgentState, Limits, Price, RunEnd, Summary } from '../guest/protocol.ts'

export interface AgentRow {
  /** Inside the database; the id is for people. */
  readonly key: number
  readonly id: string
  readonly owner: string
  readonly family: number
  readonly depth: number
  readonly image: string
  readonly createdAt: number
  readonly seq: number
  /** The arguments of create, as they were given. */
  readonly asked: Readonly<Record<string, unknown>>
  readonly model: string
  /** What its own model costs; its family may have others. */
  readonly price: Price | null
  readonly template: string | null
  /** `<server>/<tool>`, as they were given; the host carries out no other call. */
  readonly grants: readonly string[]
  readonly state: AgentState | 'paused'
  readonly summary: Summary
  /** Set by the host from its own count; whatever the guest says, it stops. */
  readonly hostStop: HostStop | null
  /** Nothing is sent for it since then. */
  readonly pausedAt: number | null
}

/** Which agents of an owner are listed. */
export interface AgentPageQuery {
  readonly state: string | null
  readonly after: number
  readonly limit: number
  readonly family: number | null
}

export interface HostStop {
  readonly reason: 'host_limit'
  readonly detail: string
  readonly at: number
}

export interface FamilyRow {
  readonly turns: number
  readonly tokens: number
  readonly costMicros: number
  readonly calls: number
  readonly members: number
  readonly limits: Limits
  readonly price: Price | null
  /** What its agents have seen, by the labels of the policy; never fewer than before. */
  readonly labels: readonly string[]
}

export interface EventRow {
  readonly seq: number
  readonly at: number
  readonly kind: string
  readonly turn: number
  readonly event: string
  readonly bytes: Uint8Array | null
  readonly answer: Uint8Array | null
}

export interface CheckpointRow {
  readonly seq: number
  readonly image: string
  readonly memory: Buffer
}

export interface EffectRow {
  readonly agent: string
  readonly id: string
  readonly kind: 'model' | 'compact' | 'tool' | 'code'
  readonly body: string
  readonly startedAt: number | null
  readonly ticket: string | null
}

export interface RunRow {
  readonly runId: string
  /** The request that began it, if that was named. */
  readonly request: string | null
  readonly startedAt: number
  readonly result: RunEnd | null
}
