// Rows of agents.db as the module reads them: JSON parsed, memories unpacked. What cannot be read is
// damage, and is reported as such. Called by journal.ts and operations.ts.

import { zstdDecompressSync } from 'node:zlib'
import {
  BYTES,
  column,
  createRowReader,
  json,
  NUMBER,
  nullable,
  oneOf,
  TEXT,
} from '@sluice/ledger/store/read-row'
import { AgentError } from '../shared/errors.ts'
import type { AgentRow, EffectRow, EventRow, FamilyRow, RunRow } from './rows.ts'

export type SqlRow = Record<string, unknown>

const MEMORY_BYTES_MAX = 128 * 1_048_576
/** What is unpacked at once: most memories at rest fit. */
const UNPACK_CHUNK_BYTES = 262_144

const STATES: readonly AgentRow['state'][] = ['idle', 'running', 'waiting', 'stopped', 'paused']
const EFFECT_KINDS: readonly EffectRow['kind'][] = ['model', 'compact', 'tool', 'code']

/** What a row that cannot be read is to callers: the journal is damaged. */
const toDamage = (why: string): AgentError =>
  new AgentError('AGENT_DAMAGED', `agents.db is damaged: ${why}`)

export const readAgent = createRowReader<AgentRow>(
  {
    key: column('agent', NUMBER),
    id: TEXT,
    owner: TEXT,
    family: NUMBER,
    depth: NUMBER,
    image: TEXT,
    createdAt: column('created_at', NUMBER),
    seq: NUMBER,
    asked: json(),
    model: TEXT,
    price: json(),
    template: nullable(TEXT),
    grants: json(),
    state: oneOf(STATES),
    summary: json(),
    hostStop: column('host_stop', nullable(json())),
    pausedAt: column('paused_at', nullable(NUMBER)),
  },
  toDamage,
)

export const readFamily = createRowReader<FamilyRow>(
  {
    turns: NUMBER,
    tokens: NUMBER,
    costMicros: column('cost_micros', NUMBER),
    calls: NUMBER,
    members: NUMBER,
    limits: json(),
    price: json(),
    labels: json(),
  },
  toDamage,
)

export const readRun = createRowReader<RunRow>(
  {
    runId: column('run', TEXT),
    request: nullable(TEXT),
    startedAt: column('started_at', NUMBER),
    result: nullable(json()),
  },
  toDamage,
)

export const readEvent = createRowReader<EventRow>(
  {
    seq: NUMBER,
    at: NUMBER,
    kind: TEXT,
    turn: NUMBER,
    event: TEXT,
    bytes: nullable(BYTES),
    answer: nullable(BYTES),
  },
  toDamage,
)

export const readEffect = createRowReader<EffectRow>(
  {
    agent: column('id', TEXT),
    id: column('effect', TEXT),
    kind: oneOf(EFFECT_KINDS),
    body: TEXT,
    startedAt: column('started_at', nullable(NUMBER)),
    ticket: nullable(TEXT),
  },
  toDamage,
)

export function unpack(bytes: Uint8Array): Buffer {
  try {
    const chunkSize = UNPACK_CHUNK_BYTES
    return zstdDecompressSync(bytes, { chunkSize, maxOutputLength: MEMORY_BYTES_MAX })
  } catch (error) {
    throw new AgentError('AGENT_DAMAGED', 'a stored memory is damaged', error)
  }
}
