// What calls took from limits, from the ledger's intents, so that a restart gives nobody a fresh
// budget. Newest first, up to the longest window; what was given back is left out. Called at start,
// with `counters.restore` as the one who takes it.

import type { DatabaseSync } from 'node:sqlite'
import type { Take } from '../core/counters.ts'
import { placesOf, recordText } from './block.ts'
import { decode } from './decoding.ts'
import { blocksBackwards } from './read.ts'
import type { LedgerRecord } from './record.ts'

export interface Restored {
  readonly takes: readonly Take[]
  /** By wall time; below zero where the clock was set back. */
  readonly ageMs: number
}

/** Blocks older than the window do not end the walk at once: a clock that was set back for a while
 * must not hide what lies before. So many of them in a row do. */
const OLD_BLOCKS_IN_A_ROW_MAX = 1_000

export function* restoreLimits(
  database: DatabaseSync,
  nowMs: number,
  longestWindowMs: number,
): Generator<Restored> {
  const givenBack = new Set<number>()
  for (const record of recent(database, nowMs - longestWindowMs)) {
    if (record.kind === 'outcome' && record.givenBack) givenBack.add(record.intent)
    if (record.kind !== 'intent' || givenBack.has(record.seq)) continue
    const { limits, shadow } = record.decision
    const ageMs = nowMs - record.atMs
    const all = [...limits, ...shadow.flatMap((verdict) => verdict.limits)]
    const takes = all.filter(({ windowMs }) => ageMs < windowMs)
    if (takes.length > 0) yield { takes, ageMs }
  }
}

/** Newest first, from blocks that have something as young as `sinceMs`. */
export function* recent(database: DatabaseSync, sinceMs: number): Generator<LedgerRecord> {
  let old = 0
  for (const { at, data } of blocksBackwards(database)) {
    old = at <= sinceMs ? old + 1 : 0
    if (old > OLD_BLOCKS_IN_A_ROW_MAX) return
    if (old > 0) continue
    for (const place of placesOf(data).reverse()) yield decode(recordText(data, place))
  }
}
