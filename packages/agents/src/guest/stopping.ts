// When an agent has to stop. Judged here after every event, true the moment it holds; the host
// enforces the same limits a second time from its own count. Pure: values in, a stop out.

import type { Limits, Stop, StopReason, TokenUsage } from './protocol.ts'

export interface StopInputs {
  readonly turnCount: number
  readonly toolCallCount: number
  readonly usage: TokenUsage
  /** Of the run that is going on. */
  readonly runStartedAt: number | null
  /** How often the last turn's calls and results came, in a row. */
  readonly repeats: number
}

export function judgeStop(limits: Limits, standing: StopInputs, at: number): Stop | undefined {
  const { turnCount, toolCallCount, usage, runStartedAt, repeats } = standing
  const stop = (reason: StopReason, detail: string): Stop => ({ reason, detail, at })
  if (turnCount >= limits.maxTurns)
    return stop('max_turns', `${turnCount} turns of ${limits.maxTurns}`)
  if (limits.maxTokens !== null && usage.totalTokens >= limits.maxTokens)
    return stop('max_tokens', `${usage.totalTokens} tokens of ${limits.maxTokens}`)
  if (limits.maxCostMicros !== null && (usage.costMicros ?? 0) >= limits.maxCostMicros)
    return stop('max_cost', `${usage.costMicros} millionths of ${limits.maxCostMicros}`)
  if (limits.maxToolCalls !== null && toolCallCount >= limits.maxToolCalls)
    return stop('max_tool_calls', `${toolCallCount} tool calls of ${limits.maxToolCalls}`)
  if (limits.expiresAt !== null && at >= limits.expiresAt)
    return stop('expired', 'its time is over')
  if (limits.runMs !== null && runStartedAt !== null && at >= runStartedAt + limits.runMs)
    return stop('run_time', `the run took ${limits.runMs} ms`)
  if (limits.noProgress !== null && repeats >= limits.noProgress)
    return stop('no_progress', `the same calls with the same results, ${repeats} times in a row`)
  return undefined
}
