// Rows of agents.db as the module reads them: JSON parsed, memories unpacked. What cannot be read is
// damage, and is reported as such. Called by journal.ts and operations.ts.

import { zstdDecompressSync } from 'node:zlib'
import type { Limits, Price, Summary } from '../guest/protocol.ts'
import { AgentError } from '../shared/errors.ts'
import type { AgentRow, FamilyRow, HostStop, RunRow } from './rows.ts'

export type SqlRow = Record<string, unknown>

const MEMORY_BYTES_MAX = 128 * 1_048_576
/** What is unpacked at once: most memories at rest fit. */
const UNPACK_CHUNK_BYTES = 262_144

export function toAgent(row: SqlRow): AgentRow {
  return {
    key: Number(row.agent),
    id: String(row.id),
    owner: String(row.owner),
    family: Number(row.family),
    depth: Number(row.depth),
    image: String(row.image),
    createdAt: Number(row.created_at),
    seq: Number(row.seq),
    asked: parseColumnJson(row.asked) as Record<string, unknown>,
    model: String(row.model),
    price: parseColumnJson(row.price) as Price | null,
    template: row.template === null ? null : String(row.template),
    grants: parseColumnJson(row.grants) as string[],
    state: row.state as AgentRow['state'],
    summary: parseColumnJson(row.summary) as Summary,
    hostStop: row.host_stop === null ? null : (parseColumnJson(row.host_stop) as HostStop),
    pausedAt: row.paused_at === null ? null : Number(row.paused_at),
  }
}

export function toFamily(row: SqlRow): FamilyRow {
  return {
    turns: Number(row.turns),
    tokens: Number(row.tokens),
    costMicros: Number(row.cost_micros),
    calls: Number(row.calls),
    members: Number(row.members),
    limits: parseColumnJson(row.limits) as Limits,
    price: parseColumnJson(row.price) as Price | null,
    labels: parseColumnJson(row.labels) as string[],
  }
}

export function toRun(row: Record<string, unknown>): RunRow {
  return {
    runId: String(row.run),
    request: row.request === null ? null : String(row.request),
    startedAt: Number(row.started_at),
    result: row.result === null ? null : JSON.parse(String(row.result)),
  }
}

function parseColumnJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch (error) {
    throw new AgentError('AGENT_DAMAGED', 'a row of agents.db is damaged', error)
  }
}

export function unpack(bytes: Uint8Array): Buffer {
  try {
    const chunkSize = UNPACK_CHUNK_BYTES
    return zstdDecompressSync(bytes, { chunkSize, maxOutputLength: MEMORY_BYTES_MAX })
  } catch (error) {
    throw new AgentError('AGENT_DAMAGED', 'a stored memory is damaged', error)
  }
}
