// Session slots as the record left them: a restart of the gate gives nobody a fresh budget and lets
// no session forget what it saw. Called at start, before anything is served.

import type { DatabaseSync } from 'node:sqlite'
import { SLOT_IDLE_MS } from '../identity/limits.ts'
import type { Slots } from '../identity/slots.ts'
import type { JudgementRecord } from '../ledger/record.ts'
import { recentRecords } from '../ledger/restore-limits.ts'

interface Past {
  lastUsedMs: number
  calls: number
  readonly saw: Set<string>
}

/** `labelsOf` says what the answer to a call may have brought in: for calls whose outcome nobody
 * knows, because the gate was killed before it was on record. */
export function restoreSlots(
  slots: Slots,
  database: DatabaseSync,
  nowMs: number,
  labelsOf: (call: JudgementRecord) => readonly string[],
): void {
  const alive = new Set<string>()
  for (const record of recentRecords(database, nowMs - SLOT_IDLE_MS))
    if ('session' in record && nowMs - record.atMs < SLOT_IDLE_MS) alive.add(record.session)
  if (alive.size === 0) return
  const pasts = new Map([...alive].sort(byBegin).map((id) => [id, newPast()]))
  const open = new Map<number, JudgementRecord>()
  for (const record of recentRecords(database, Math.min(...[...alive].map(beganAt)) - 1)) {
    if (record.kind === 'outcome') {
      const call = open.get(record.intent)
      open.delete(record.intent)
      if (call === undefined) continue
      const labels = record.status === 'unknown' ? labelsOf(call) : record.labels
      for (const label of labels) pasts.get(call.session)?.saw.add(label)
    }
    const past = 'session' in record ? pasts.get(record.session) : undefined
    if (past === undefined || !('session' in record)) continue
    past.lastUsedMs = Math.max(past.lastUsedMs, Math.min(record.atMs, nowMs))
    if (record.kind !== 'intent') continue
    past.calls += 1
    open.set(record.seq, record)
  }
  for (const [id, { lastUsedMs, calls, saw }] of pasts) slots.restore(id, lastUsedMs, calls, saw)
}

function newPast(): Past {
  return { lastUsedMs: 0, calls: 0, saw: new Set() }
}

/** The later of two that had one slot is the one that lives. */
function byBegin(one: string, other: string): number {
  return beganAt(one) - beganAt(other)
}

function beganAt(session: string): number {
  return Number(session.slice(session.lastIndexOf('@') + 1)) || 0
}
