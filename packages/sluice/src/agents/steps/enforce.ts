// The second judge. A guest says itself when it has to stop; an image from elsewhere can lie. So the
// host counts turns, tokens, cost, calls, time and bytes on its own, for the whole family, and stops
// what the guest does not. Pure: rows in, a verdict out.

import type { JournalEvent, Price, Summary } from '../../guest/protocol.ts'
import type { AgentRow, FamilyRow, HostStop } from '../journal/rows.ts'

/** What of an agent's standing is the host's own. */
export interface HostUsage {
  readonly family: FamilyRow
  readonly runStartedAt: number | null
}

/** Why the host holds an agent back: an earlier verdict, or what its family has used by now. */
export function findHostStop(
  agent: AgentRow,
  { family, runStartedAt }: HostUsage,
  nowMs: number,
): HostStop | null {
  return agent.hostStop ?? checkFamilyLimits(family, agent.summary, runStartedAt, nowMs) ?? null
}

export interface CountedEvent {
  readonly event: JournalEvent
  /** A model result that sums up is none. */
  readonly isTurn: boolean
  readonly calls: number
  /** Of the agent's own model. */
  readonly price: Price | null
}

/** What an event used up, in the host's own count. */
export function countEvent(
  family: FamilyRow,
  { event, isTurn, calls, price }: CountedEvent,
): FamilyRow {
  const { inputTokens = 0, outputTokens = 0 } = event.kind === 'model' ? event.usage : {}
  const cost = price ? inputTokens * price.inputMicros + outputTokens * price.outputMicros : 0
  return {
    ...family,
    turns: family.turns + (event.kind === 'model' && isTurn ? 1 : 0),
    tokens: family.tokens + inputTokens + outputTokens,
    costMicros: family.costMicros + cost,
    calls: family.calls + calls,
  }
}

/** Why the family may not go on; undefined where it may. */
export function checkFamilyLimits(
  family: FamilyRow,
  summary: Summary,
  runStartedAt: number | null,
  nowMs: number,
): HostStop | undefined {
  const { limits } = family
  const over: string[] = []
  const check = (used: number, limit: number | null, what: string): void => {
    if (limit !== null && used >= limit) over.push(`${used} ${what} of ${limit}`)
  }
  check(family.turns, limits.maxTurns, 'turns')
  check(family.tokens, limits.maxTokens, 'tokens')
  check(family.costMicros, limits.maxCostMicros, 'millionths of cost')
  check(family.calls, limits.maxToolCalls, 'tool calls')
  if (limits.expiresAt !== null && nowMs >= limits.expiresAt) over.push('its time is over')
  if (runStartedAt !== null) check(nowMs - runStartedAt, limits.runMs, 'ms of a run')
  if (summary.fileBytes > limits.totalBytesMax) over.push(`${summary.fileBytes} bytes of files`)
  if (over.length === 0) return undefined
  return { reason: 'host_limit', detail: over.join(', '), at: nowMs }
}
