// What the ledger has of sessions that are not over: their calls, and the labels of answers. A restart
// of the gate resets no counter and lets no session forget what it saw. Called at start, after the
// sessions themselves were loaded (SessionMemory), before anything is served.

import type { DatabaseSync } from 'node:sqlite'
import { AGENT_SESSION_IDLE_MS } from '@sluice/access/identity/limits'
import type { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import { recordReader } from '@sluice/ledger/chain/read'
import { recentCalls } from '@sluice/ledger/query/recent-calls'
import type { RestoredCall } from '@sluice/ledger/records/decoding'
import { addDecimal, type Decimal, parseDecimal, ZERO } from '@sluice/policy/values/decimal'

interface RestoredSession {
  lastUsedMs: number
  calls: number
  answerBytes: number
  cost: Decimal
  readonly saw: Set<string>
}

/** A call as a restart reads it again: its price was counted when it was made. */
type CallBefore = Omit<RestoredCall, 'price'>
type LabelsOf = (call: CallBefore) => readonly string[]

/** Sessions as they were after record `seq`, where somebody noted them. */
export interface SessionSnapshot {
  readonly seq: number
  readonly slots: readonly {
    readonly id: string
    readonly lastUsedMs: number
    readonly calls: number
    readonly saw: readonly string[]
    /** Absent in those of a gate that did not count it. */
    readonly answerBytes?: number
    /** A decimal. */
    readonly cost?: string
  }[]
}

interface RestoreSessionsOptions {
  readonly nowMs: number
  readonly labelsOf: LabelsOf
  readonly noted?: SessionSnapshot | undefined
}

/** `labelsOf` says what the answer to a call may have brought in: for calls whose outcome nobody
 * knows, because the gate was killed before it was recorded. */
export function restoreSessions(
  sessions: AgentSessions,
  database: DatabaseSync,
  { nowMs, labelsOf, noted }: RestoreSessionsOptions,
): void {
  const sinceMs = nowMs - AGENT_SESSION_IDLE_MS
  const known = sessions.recentIds(nowMs)
  let pasts = noted
    ? resumeFromSnapshot(database, labelsOf, noted)
    : gather(database, sinceMs, { labelsOf })
  const used = [...pasts].filter(([, { lastUsedMs }]) => lastUsedMs > sinceMs).map(([id]) => id)
  const alive = [...new Set([...known, ...used])]
  if (alive.length === 0) return
  const beganMs = alive.map(beganAt).reduce((least, each) => Math.min(least, each))
  // They have done more than what was just read.
  if (noted === undefined && beganMs <= sinceMs) pasts = gather(database, beganMs - 1, { labelsOf })
  for (const id of alive.sort(byBegin)) {
    const past = pasts.get(id) ?? newPast()
    const lastUsedMs = Math.min(past.lastUsedMs, nowMs)
    sessions.restore({ ...past, id, lastUsedMs, saw: [...past.saw] })
  }
}

/** What was noted, and what each session has done since. */
function resumeFromSnapshot(
  database: DatabaseSync,
  labelsOf: LabelsOf,
  { seq, slots }: SessionSnapshot,
) {
  const pasts = slots.map((slot): [string, RestoredSession] => {
    const { id, lastUsedMs, calls, answerBytes = 0 } = slot
    const cost = parseDecimal(slot.cost ?? '0') ?? ZERO
    return [id, { lastUsedMs, calls, answerBytes, cost, saw: new Set(slot.saw) }]
  })
  return gather(database, 0, { labelsOf, pasts: new Map(pasts), after: seq })
}

interface GatherOptions {
  readonly labelsOf: LabelsOf
  readonly pasts?: Map<string, RestoredSession> | undefined
  readonly after?: number | undefined
}

/** What each session has done since then, or behind record `after`. */
function gather(
  database: DatabaseSync,
  sinceMs: number,
  { labelsOf, pasts = new Map<string, RestoredSession>(), after = 0 }: GatherOptions,
): Map<string, RestoredSession> {
  const open = new Map<number, CallBefore>()
  const read = recordReader(database)
  // The call of an answer that came after what was noted: what it brought in must not be forgotten.
  const before = (intent: number): CallBefore | undefined => {
    const record = intent <= after ? read(intent) : undefined
    return record?.kind === 'intent' ? record : undefined
  }
  for (const record of recentCalls(database, sinceMs, after)) {
    if (record.kind === 'quiet' || record.kind === 'outcome') {
      const call = open.get(record.intent) ?? before(record.intent)
      open.delete(record.intent)
      if (call === undefined) continue
      const past = pasts.get(call.session)
      if (past !== undefined) past.answerBytes += record.bytes
      if (record.kind === 'quiet') continue
      const labels = record.status === 'unknown' ? labelsOf(call) : record.labels
      for (const label of labels) pasts.get(call.session)?.saw.add(label)
    } else {
      const past = pasts.get(record.session) ?? newPast()
      pasts.set(record.session, past)
      past.lastUsedMs = Math.max(past.lastUsedMs, record.atMs)
      if (record.kind !== 'intent') continue
      past.calls += 1
      if (record.price !== undefined) past.cost = addDecimal(past.cost, record.price)
      open.set(record.seq, record)
    }
  }
  return pasts
}

function newPast(): RestoredSession {
  return { lastUsedMs: 0, calls: 0, answerBytes: 0, cost: ZERO, saw: new Set() }
}

/** Of two sessions that had the same place, the later one is kept. */
function byBegin(one: string, other: string): number {
  return beganAt(one) - beganAt(other)
}

function beganAt(session: string): number {
  return Number(session.slice(session.lastIndexOf('@') + 1)) || 0
}
