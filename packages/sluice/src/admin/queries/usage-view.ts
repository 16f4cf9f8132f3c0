// What models took for agents in a stretch of time and in the one before, for the overview. Pure.

import type { ModelTotals, UsageRange } from '../../agents/journal/model-usage.ts'
import type { ModelUsageReport } from '../../agents/step-thread/operation-results.ts'
import type { AgentUsage, UsageFigures } from '../contract/contract-overview.ts'
import { getPeriodBefore } from './time-range.ts'

/** The stretch, and the one of the same length before it. */
export function toUsageRanges(stretch: UsageRange): [UsageRange, UsageRange] {
  return [stretch, getPeriodBefore(stretch)]
}

export function toAgentUsage(
  { sinceMs, untilMs }: UsageRange,
  { startedMs, ranges: [own = [], before = []] }: ModelUsageReport,
): AgentUsage {
  const models = own.map((one) => ({ model: one.model, ...sumUp([one]) }))
  return {
    sinceMs,
    untilMs,
    knownSinceMs: startedMs,
    totals: sumUp(own),
    before: sumUp(before),
    models: models.sort(
      (one, other) => other.tokens - one.tokens || (one.model < other.model ? -1 : 1),
    ),
  }
}

function sumUp(models: readonly ModelTotals[]): UsageFigures {
  const sum = (of: (one: ModelTotals) => number) => models.reduce((all, one) => all + of(one), 0)
  return {
    modelCalls: sum(({ modelCalls }) => modelCalls),
    tokens: sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: sum(({ costMicros }) => costMicros) / 1_000_000,
  }
}
