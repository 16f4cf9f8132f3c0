// The calls of the ledger that `policy suggest` learns from, and how a document would have decided
// them. Reads only.

import type { DatabaseSync } from 'node:sqlite'
import { recordsFrom } from '@sluice/ledger/chain/read'
import type { DecisionRecord } from '@sluice/ledger/records/record'
import { ACTIONS, isStronger } from '@sluice/policy/calls/actions'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { type RecordedCall, replayCall } from '@sluice/policy/cases/replay-call'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { SUGGEST_CALLS_MAX } from './limits.ts'
import { isDecided, RecordedCalls } from './recorded-calls.ts'
import { toRecordedAction } from './replay.ts'

export interface TrafficCall {
  readonly record: DecisionRecord
  readonly past: RecordedCall
  /** The call was forwarded. */
  readonly passed: boolean
}

export interface TrafficOptions {
  /** Only calls that the document of this name judged. */
  readonly name: string
  readonly sinceMs: number
  readonly tools: readonly KnownTool[]
  /** Whose labels the answers brought. Undefined: those on record count. */
  readonly document: CompiledPolicy | undefined
}

/** Oldest first. `left`: older ones beyond the number that is kept. */
export function collectTraffic(
  ledger: DatabaseSync,
  { name, sinceMs, tools, document }: TrafficOptions,
): { readonly calls: readonly TrafficCall[]; readonly left: number } {
  const past = new RecordedCalls(tools, document)
  const calls: TrafficCall[] = []
  let left = 0
  for (const record of recordsFrom(ledger)) {
    if (isDecided(record, name) && record.atMs >= sinceMs) {
      calls.push({ record, past: past.recall(record), passed: record.kind === 'intent' })
      // Dropped in bulk: removing one at a time from the front would be quadratic.
      if (calls.length >= 2 * SUGGEST_CALLS_MAX) left += calls.splice(0, SUGGEST_CALLS_MAX).length
    }
    past.follow(record)
  }
  left += calls.splice(0, Math.max(0, calls.length - SUGGEST_CALLS_MAX)).length
  return { calls, left }
}

export interface TrafficEvaluation {
  /** Calls that would have been decided more strictly than they were. */
  readonly stopped: DecisionRecord[]
  /** Calls of which the ledger does not hold enough to tell. */
  readonly unknown: DecisionRecord[]
}

/**
 * Decides the calls again in their order, limits counted from these calls alone. A policy that only observes is
 * taken as if it was enforced. `id`: of the document, from `idOfDocument`; what it decided itself is on record.
 */
export function evaluateTraffic(
  observed: CompiledPolicy,
  calls: readonly TrafficCall[],
  id?: string,
): TrafficEvaluation {
  const policy = observed.shadow ? { ...observed, shadow: false } : observed
  const counters = new MemoryCounters()
  const stopped: DecisionRecord[] = []
  const unknown: DecisionRecord[] = []
  for (const { record, past } of calls) {
    const now = { wallMs: record.atMs, monotonicMs: record.atMs }
    const before = ACTIONS.find((word) => word === toRecordedAction(record)) ?? 'allow'
    if (record.policy === id) {
      const { limits, shadow } = record.decision
      counters.consume(limits, now)
      // What the whole document would have decided comes last.
      const would = observed.shadow ? shadow.at(-1)?.action : undefined
      if (would !== undefined && isStronger(would, before)) stopped.push(record)
      continue
    }
    const result = replayCall(policy, past, counters, now)
    if (result.unknown !== undefined) {
      unknown.push(record)
      continue
    }
    const { action, limits } = result.decision
    if (action === 'allow') counters.consume(limits, now)
    if (isStronger(action, before)) stopped.push(record)
  }
  return { stopped, unknown }
}
