// Drops records after their time, as `ledger: { keep, keep_size }` says, soon after a start and every
// hour. What a restart still reads stays: windows of limits, sessions that are in use, approvals that
// are not over. Started with the gate.

import type { ApprovalService } from '@sluice/access/approvals/approval'
import type { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import type { Ledger } from '@sluice/ledger/ledger'
import { processClock } from '@sluice/ledger/store/process-clock'
import { longestWindowMs } from '@sluice/policy/model/policy'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import type { LedgerConfig } from '../config/ledger.ts'
import type { Log } from '../shared/log.ts'
import type { PolicySet } from '../state/policy-set.ts'
import { KEEP_FIRST_LOOK_MS, KEEP_LOOK_EVERY_MS } from './limits.ts'

export interface RetentionParts {
  readonly config: LedgerConfig
  readonly ledger: Ledger
  readonly policies: () => PolicySet
  readonly sessions: AgentSessions
  readonly approvals: Pick<ApprovalService, 'oldestOpenMs'>
  readonly log: Log
}

/** Returns what ends it. */
export function startRetention(parts: RetentionParts): () => void {
  const { keepMs, keepBytes } = parts.config
  if (keepMs === undefined && keepBytes === undefined) return () => {}
  const keep = pickDefined({ keepMs, keepBytes })
  const look = async (): Promise<void> => {
    try {
      const nowMs = processClock.earliestMs()
      const dropped = await parts.ledger.retain(keep, neededSinceMs(parts, nowMs), nowMs)
      if (dropped > 0) parts.log('info', `${dropped} records were dropped after their time`)
    } catch (error) {
      parts.log('error', 'old records could not be dropped', { why: (error as Error).message })
    }
  }
  const first = setTimeout(look, KEEP_FIRST_LOOK_MS).unref()
  const timer = setInterval(look, KEEP_LOOK_EVERY_MS).unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
  }
}

function neededSinceMs({ policies, sessions, approvals }: RetentionParts, nowMs: number): number {
  const windowMs = Math.max(0, ...policies().all.map(longestWindowMs))
  const { oldestOpenMs = nowMs } = approvals
  return Math.min(nowMs - windowMs, sessions.neededSinceMs(nowMs), oldestOpenMs)
}
