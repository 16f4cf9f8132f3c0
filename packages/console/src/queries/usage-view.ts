// What models took for agents in a stretch of time and in the one before, for the overview. Pure.

import type { ModelTotals, UsageRange } from '@sluice/agents/journal/model-usage'
import type { ModelUsageReport } from '@sluice/agents/step-thread/operation-results'
import { getPeriodBefore } from './time-range.ts'

/** What models took for agents, removed ones too. In whole minutes: one belongs to the stretch in which it begins. */
export interface AgentUsage {
  readonly sinceMs: number
  readonly untilMs: number
  /** What was used before this time is not known; null if nothing was used yet. */
  readonly knownSinceMs: number | null
  readonly totals: UsageFigures
  /** The sums of the stretch of the same length before this one. */
  readonly before: UsageFigures
  /** The model with the most tokens first. */
  readonly models: readonly (UsageFigures & { readonly model: string })[]
}

export interface UsageFigures {
  readonly modelCalls: number
  /** Input and output together. */
  readonly tokens: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** In the currency of the prices; a model without a price adds nothing. */
  readonly cost: number
}

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
