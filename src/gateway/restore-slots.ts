// Session slots as the record left them: a restart of the gate gives nobody a fresh budget and lets
// no session forget what it saw. Called at start, before anything is served.

import type { DatabaseSync } from 'node:sqlite'
import { SLOT_IDLE_MS } from '../identity/limits.ts'
import type { Slots } from '../identity/slots.ts'
import { recentRecords } from '../ledger/restore-limits.ts'

interface Past {
  lastUsedMs: number
  calls: number
  readonly saw: Set<string>
}

export function restoreSlots(slots: Slots, database: DatabaseSync, nowMs: number): void {
  const alive = new Set<string>()
  for (const record of recentRecords(database, nowMs - SLOT_IDLE_MS))
    if (record.kind === 'intent' && nowMs - record.atMs < SLOT_IDLE_MS) alive.add(record.session)
  if (alive.size === 0) return
  for (const [id, { lastUsedMs, calls, saw }] of readPasts(database, alive, nowMs))
    slots.restore(id, lastUsedMs, calls, saw)
}

/** The whole life of each session, the one that began first first. */
function readPasts(database: DatabaseSync, alive: Set<string>, nowMs: number): [string, Past][] {
  const pasts = new Map<string, Past>()
  const byIntent = new Map<number, Past>()
  const first = Math.min(...[...alive].map(beganAt))
  for (const record of recentRecords(database, first - 1)) {
    if (record.kind === 'outcome') {
      for (const label of record.labels) byIntent.get(record.intent)?.saw.add(label)
      byIntent.delete(record.intent)
    }
    if (record.kind !== 'intent' || !alive.has(record.session)) continue
    const past = pasts.get(record.session) ?? { lastUsedMs: 0, calls: 0, saw: new Set() }
    pasts.set(record.session, past)
    byIntent.set(record.seq, past)
    past.calls += 1
    past.lastUsedMs = Math.max(past.lastUsedMs, Math.min(record.atMs, nowMs))
  }
  return [...pasts].sort(([one], [other]) => beganAt(one) - beganAt(other))
}

function beganAt(session: string): number {
  return Number(session.slice(session.lastIndexOf('@') + 1)) || 0
}
