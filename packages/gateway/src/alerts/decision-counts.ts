// Decisions as the meter has counted them: how many calls, how many were refused, and of which tools and sessions. Pure.

import { isRefusal, type Meter } from '../metrics/meter.ts'
import { listNames } from './list-names.ts'

/** What was counted of each name. */
type Counts = ReadonlyMap<string, number>

/** Decisions since the gate has started. */
export interface DecisionCount {
  readonly calls: number
  /** How many of the calls were denied or hidden. A call that an outage stopped is none of them. */
  readonly denied: number
  /** The denied calls by tool. */
  readonly tools: Counts
  /** The denied calls by the id of their session. */
  readonly sessions: Counts
}

const MOSTLY_NAMED = 5

export function countDecisions({
  decisions,
  refusals,
}: Pick<Meter, 'decisions' | 'refusals'>): DecisionCount {
  let [calls, denied] = [0, 0]
  const tools = new Map<string, number>()
  for (const { labels, value } of decisions) {
    calls += value
    if (!isRefusal(labels.action)) continue
    denied += value
    const tool = `${labels.server}/${labels.tool}`
    tools.set(tool, (tools.get(tool) ?? 0) + value)
  }
  return { calls, denied, tools, sessions: new Map(refusals) }
}

/** What was counted since `before`, the most first; of names that differ only in what `end` matches, together. */
export function listMost(now: Counts, before: Counts, end = /$/): [name: string, count: number][] {
  const sums = new Map<string, number>()
  for (const [name, count] of now) {
    const short = name.replace(end, '')
    // A session that was forgotten meanwhile is counted again from zero.
    const since = Math.max(0, count - (before.get(name) ?? 0))
    sums.set(short, (sums.get(short) ?? 0) + since)
  }
  return [...sums].filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one)
}

/** The same in words: `a (700), b (60) and 3 more`. */
export function describeMost(...counts: Parameters<typeof listMost>): string {
  const most = listMost(...counts)
  const left = most.length - MOSTLY_NAMED
  const text = most
    .slice(0, MOSTLY_NAMED)
    .map(([name, count]) => `${listNames([name])} (${count})`)
    .join(', ')
  return left > 0 ? `${text} and ${left} more` : text
}
