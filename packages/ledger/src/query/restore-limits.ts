// Restores the charges of limits from the ledger's intents, so that a restart resets no quota. Up
// to the longest window, oldest first, which is much faster for the counters than the reverse;
// refunds are left out. Records up to `after` are in a snapshot and not read. Called at start, with
// `counters.restore`.

import type { DatabaseSync } from 'node:sqlite'
import type { LimitCharge } from '@sluice/policy/calls/counters'
import { listRecordSpans } from '../chain/block.ts'
import { type Block, blocksFrom } from '../chain/read.ts'
import { decodeCharges } from '../records/decoding.ts'
import { KINDS } from '../records/encoding.ts'
import { header, readHeader } from '../records/header.ts'

/**
 * A block older than the window does not end the search: a clock that was temporarily set back must
 * not hide earlier blocks. This many in a row end it.
 */
const OLD_BLOCKS_IN_A_ROW_MAX = 1_000

/** What one call took from limits that still count it. */
export interface PastCharges {
  readonly charges: readonly LimitCharge[]
  /** How long ago the call was; negative if the clock was set back. */
  readonly ageMs: number
}

export function* restoreLimits(
  database: DatabaseSync,
  nowMs: number,
  longestWindowMs: number,
  after = 0,
): Generator<PastCharges, void> {
  const sinceMs = nowMs - longestWindowMs
  // No record is older than the one before it: one that was written while the clock was set back
  // would be taken for an old one, and its charge forgotten.
  let latestMs = Number.NEGATIVE_INFINITY
  const givenBack = findRefunds(database, sinceMs, after)
  for (const { data } of recentBlocks(database, sinceMs, after))
    for (const place of listRecordSpans(data)) {
      if (!readHeader(data, place.start)) continue
      if (header.atMs <= nowMs) latestMs = Math.max(latestMs, header.atMs)
      if (header.kind !== KINDS.intent) continue
      if (header.seq <= after || givenBack.has(header.seq)) continue
      // The age by wall time, at most that of the record before it; negative if the clock was set back.
      const ageMs = nowMs - Math.max(header.atMs, latestMs)
      const charges = decodeCharges(data, header.end).filter((take) => ageMs < take.windowMs)
      if (charges.length > 0) yield { charges, ageMs }
    }
}

/** Intents whose outcome was refunded, by its last field. */
function findRefunds(database: DatabaseSync, sinceMs: number, after: number): Set<number> {
  const intents = new Set<number>()
  for (const { data } of recentBlocks(database, sinceMs, after))
    for (const { start, end } of listRecordSpans(data))
      if (data.toString('latin1', end - 6, end) === ',true]' && readHeader(data, start))
        if (header.kind === KINDS.outcome) intents.add(header.intent)
  return intents
}

/**
 * Blocks since then, oldest first, with all that were written after them; if records up to `after`
 * are known from a snapshot, those with later ones.
 */
export function* recentBlocks(
  database: DatabaseSync,
  sinceMs: number,
  after = 0,
): Generator<Block> {
  const first = after > 0 ? after + 1 : firstRecent(database, sinceMs)
  if (first === undefined) return
  yield* blocksFrom(database, first)
}

function firstRecent(database: DatabaseSync, sinceMs: number): number | undefined {
  let first: number | undefined
  let old = 0
  for (const { seq, at } of database
    .prepare('SELECT seq, at FROM blocks ORDER BY seq DESC')
    .iterate()) {
    if (Number(at) > sinceMs) {
      first = Number(seq)
      old = 0
    } else if (++old > OLD_BLOCKS_IN_A_ROW_MAX) break
  }
  return first
}
