// Which records may be dropped: those beyond the configured age or size, up to a signed checkpoint
// that then replaces them. Never those of an open call, nor what a restart still reads. Called by
// the ledger on request of the gate.

import type { DatabaseSync } from 'node:sqlite'
import { toHex } from '../../store/chain-hash.ts'
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
  const checkpoint = findCheckpoint(file, ({ seq, time }) => {
    const atMs = Date.parse(time)
    if (seq >= head.open || atMs >= neededSinceMs) return false
    return seq <= bySize || atMs <= byAgeMs
  })
  if (checkpoint === undefined || checkpoint.seq <= base.seq || checkpoint.seq >= head.seq)
    return undefined
  // Dropped records cannot be checked again: only for a checkpoint that is certainly ours.
  const here = hashAt(database, checkpoint.seq)
  if (here === undefined || toHex(here) !== checkpoint.head || findCheckpointFault(checkpoint, key))
    return undefined
  return checkpoint
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
