// Limits of a family of agents, in the host's own count. A guest reports itself when it has to stop, and
// an imported image can lie, so the host counts turns, tokens, cost, calls, time and bytes for the whole
// family and stops what the guest does not. Pure.

import type { JournalEvent, ModelUsage, Price, Summary } from '../guest/protocol.ts'
import type { AgentRow, FamilyRow, HostStop } from './rows.ts'

/** The part of an agent's status that the host counts itself. */
export interface HostUsage {
  readonly family: FamilyRow
  readonly runStartedAt: number | null
}

/** Why the host stops an agent: an earlier stop, or what its family has used by now. */
export function findHostStop(
  agent: AgentRow,
  { family, runStartedAt }: HostUsage,
  nowMs: number,
): HostStop | null {
  return agent.hostStop ?? checkFamilyLimits(family, agent.summary, runStartedAt, nowMs) ?? null
}

export interface CountedEvent {
  readonly event: JournalEvent
  /** False for a model result that compacts the conversation. */
  readonly isTurn: boolean
  readonly calls: number
  /** What the agent's own model costs; null if it has no price. */
  readonly price: Price | null
}

/** In millionths of the currency of the price; 0 without a price. */
export function costOf({ inputTokens, outputTokens }: ModelUsage, price: Price | null): number {
  return price ? inputTokens * price.inputMicros + outputTokens * price.outputMicros : 0
}

/** The family's counts after an event. */
export function countEvent(
  family: FamilyRow,
  { event, isTurn, calls, price }: CountedEvent,
): FamilyRow {
  const usage = event.kind === 'model' ? event.usage : { inputTokens: 0, outputTokens: 0 }
  return {
    ...family,
    turns: family.turns + (event.kind === 'model' && isTurn ? 1 : 0),
    tokens: family.tokens + usage.inputTokens + usage.outputTokens,
    costMicros: family.costMicros + costOf(usage, price),
    calls: family.calls + calls,
  }
}

/** Which limits of the family are reached; undefined if none is. */
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
