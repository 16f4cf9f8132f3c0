// Decisions as the meter has counted them: how many calls, how many were refused, and of which tools and sessions. Pure.

import { isRefusal, type Meter } from '../metrics/meter.ts'
import { listNames } from './list-names.ts'

/** What was counted of each name. */
type Counts = ReadonlyMap<string, number>
type NameCount = readonly [name: string, count: number]

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

/** What was counted since `before`, the most first. */
export function listMost(now: Counts, before?: Counts): readonly NameCount[] {
  return [...now]
    .map(([name, count]): NameCount => [name, count - (before?.get(name) ?? 0)])
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
}

/** The same under shorter names, without what `end` matches. */
export function shortenNames(counts: readonly NameCount[], end: RegExp): readonly NameCount[] {
  const sums = new Map<string, number>()
  for (const [name, count] of counts) {
    const short = name.replace(end, '')
    sums.set(short, (sums.get(short) ?? 0) + count)
  }
  return listMost(sums)
}

/** `a (700), b (60) and 3 more`. */
export function describeCounts(counts: readonly NameCount[]): string {
  const shown = counts.slice(0, MOSTLY_NAMED)
  const left = counts.length - shown.length
  const text = shown.map(([name, count]) => `${listNames([name])} (${count})`).join(', ')
  return left > 0 ? `${text} and ${left} more` : text
}
