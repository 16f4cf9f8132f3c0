// What calls took from limits, from the ledger's intents, so that a restart gives nobody a fresh
// budget. Newest first, up to the longest window; what was given back is left out. Called at start,
// with `counters.restore` as the one who takes it.

import type { DatabaseSync } from 'node:sqlite'
import type { Take } from '../core/counters.ts'
import { placesOf, recordText } from './block.ts'
import { decode, decodeTakes } from './decoding.ts'
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
  for (const text of recent(database, nowMs - longestWindowMs)) {
    const record = decodeTakes(text)
    if (record === undefined) continue
    if ('givenBack' in record) {
      givenBack.add(record.givenBack)
      continue
    }
    const ageMs = nowMs - record.atMs
    const takes = record.takes.filter(({ windowMs }) => ageMs < windowMs)
    if (takes.length > 0 && !givenBack.has(record.seq)) yield { takes, ageMs }
  }
}

/** Records of calls since then, newest first: for what else a restart has to know. */
export function* recentRecords(database: DatabaseSync, sinceMs: number): Generator<LedgerRecord> {
  for (const text of recent(database, sinceMs)) yield decode(text)
}

/** Newest first, from blocks that have something as young as `sinceMs`. */
function* recent(database: DatabaseSync, sinceMs: number): Generator<string> {
  let old = 0
  for (const { at, data } of blocksBackwards(database)) {
    old = at <= sinceMs ? old + 1 : 0
    if (old > OLD_BLOCKS_IN_A_ROW_MAX) return
    if (old > 0) continue
    for (const place of placesOf(data).reverse()) yield recordText(data, place)
  }
}
