// Decisions as the meter has counted them: how many calls, how many were refused, and of which tools. Pure.

import type { Meter } from '../metrics/meter.ts'
import { listNames } from './list-names.ts'

type Decisions = Pick<Meter, 'decisions'>

/** Decisions of all tools together, since the gate has started. */
export interface DecisionCount {
  readonly calls: number
  /** How many of the calls were denied or hidden. A call that an outage stopped is none of them. */
  readonly denied: number
}

const MOSTLY_NAMED = 3

export function countDecisions({ decisions }: Decisions): DecisionCount {
  let [calls, denied] = [0, 0]
  for (const { labels, value } of decisions) {
    calls += value
    if (isRefusal(labels)) denied += value
  }
  return { calls, denied }
}

/** By tool. */
export function countRefusals({ decisions }: Decisions): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { labels, value } of decisions) {
    if (!isRefusal(labels)) continue
    const tool = `${labels.server}/${labels.tool}`
    counts.set(tool, (counts.get(tool) ?? 0) + value)
  }
  return counts
}

/** Since `before`, in words. */
export function listMostRefused(
  meter: Decisions,
  before: ReadonlyMap<string, number>,
): readonly string[] {
  return [...countRefusals(meter)]
    .map(([tool, value]) => ({ tool, value: value - (before.get(tool) ?? 0) }))
    .filter(({ value }) => value > 0)
    .sort((one, other) => other.value - one.value)
    .slice(0, MOSTLY_NAMED)
    .map(({ tool, value }) => `${listNames([tool])} (${value})`)
}

/** A call that an outage stopped (`unavailable`) is none. */
function isRefusal({ action }: Readonly<Record<string, string>>): boolean {
  return action === 'deny' || action === 'hide'
}
