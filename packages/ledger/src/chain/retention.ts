// Which records may be dropped: those beyond the configured age or size, up to a signed checkpoint
// that then replaces them. Never those of an open call, nor what a restart still reads. Called by
// the ledger on request of the gate.

import type { DatabaseSync } from 'node:sqlite'
import { toHex } from '../store/chain-hash.ts'
import { readBase } from './base.ts'
import { type Checkpoint, findCheckpointFault } from './checkpoint.ts'
import { findCheckpoint } from './checkpoint-file.ts'
import { hashAt, readHead } from './read.ts'

export interface RetentionLimits {
  readonly keepMs?: number
  readonly keepBytes?: number
}

export interface RetentionRequest {
  readonly keep: RetentionLimits
  readonly nowMs: number
  /** Records after this time are still needed: windows of limits, sessions, approvals. */
  readonly neededSinceMs: number
  /** The key that must have signed the checkpoint. */
  readonly key: string
}

/** The last checkpoint of what may be dropped; undefined if nothing may. */
export function findDrop(
  database: DatabaseSync,
  file: string,
  { keep, nowMs, neededSinceMs, key }: RetentionRequest,
): Checkpoint | undefined {
  const head = readHead(database)
  const base = readBase(database)
  const bySize = seqBeyond(database, keep.keepBytes, base.seq, head.seq)
  const byAgeMs = keep.keepMs === undefined ? Number.NEGATIVE_INFINITY : nowMs - keep.keepMs
  let checkpoint: Checkpoint | undefined
  for (let end = Math.min(head.seq, head.open); ; ) {
    checkpoint = findCheckpoint(file, ({ seq, time }) => {
      const atMs = Date.parse(time)
      return seq < end && atMs < neededSinceMs && (seq <= bySize || atMs <= byAgeMs)
    })
    if (checkpoint === undefined || checkpoint.seq <= base.seq) return undefined
    // A clock that was set back, or that was behind until the network set it, dates a checkpoint
    // long before records that it covers.
    const oldMs = checkpoint.seq <= bySize ? neededSinceMs : Math.min(neededSinceMs, byAgeMs + 1)
    const young = findYoung(database, checkpoint.seq, oldMs, nowMs)
    if (young === undefined) break
    end = young
  }
  // Dropped records cannot be checked again: only for a checkpoint that is certainly ours.
  const here = hashAt(database, checkpoint.seq)
  if (here === undefined || toHex(here) !== checkpoint.head || findCheckpointFault(checkpoint, key))
    return undefined
  return checkpoint
}

/**
 * The first record up to `through` that was written at `oldMs` or later, by the anchors: every
 * setting of the clock leaves one. A time in the future is an error of the clock and says nothing.
 */
function findYoung(
  database: DatabaseSync,
  through: number,
  oldMs: number,
  nowMs: number,
): number | undefined {
  if (oldMs > nowMs) return undefined
  const statement = database.prepare(
    'SELECT min(seq) AS seq FROM anchors WHERE seq <= ? AND at BETWEEN ? AND ?',
  )
  const { seq } = statement.get(through, Math.max(0, Math.ceil(oldMs)), nowMs) as {
    seq: number | null
  }
  return seq ?? undefined
}

/** The last record of the excess, assuming that all have the same length. */
function seqBeyond(
  database: DatabaseSync,
  keepBytes: number | undefined,
  base: number,
  head: number,
): number {
  if (keepBytes === undefined) return 0
  const pragma = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
  const bytes = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
  const share = (bytes - keepBytes) / bytes
  return share > 0 ? base + Math.floor((head - base) * share) : 0
}
