// The figures of the overview, counted record by record: what SQL says is compared with it, for a ledger
// in files and for one in a shared store.

import { HeldCalls, MADE_AGAIN } from '@sluice/ledger/records/held-calls'
import { toOutcomeLabel } from '@sluice/ledger/records/outcome-label'
import type { DecisionRecord, LedgerRecord } from '@sluice/ledger/records/record'
import type { CountedName, OutcomeCounts, Overview } from '../contract/contract.ts'
import { OVERVIEW_TOP } from './limits.ts'
import type { TimeRange } from './time-range.ts'

export type OverviewFigures = Pick<
  Overview,
  'totals' | 'before' | 'spared' | 'reasons' | 'principals' | 'agents' | 'tools' | 'servers'
> & { readonly inIntervals: OutcomeCounts }

type CountedCall = DecisionRecord & { readonly became: string }

export function countOverview(
  records: readonly LedgerRecord[],
  { sinceMs, untilMs }: TimeRange,
): OverviewFigures {
  const held = new HeldCalls()
  const calls = [...records].reverse().flatMap((record): CountedCall[] => {
    const became = held.take(record)
    if (record.kind === 'outcome' || record.kind === 'event' || became === MADE_AGAIN) return []
    return [{ ...record, became }]
  })
  const select = (fromMs: number, toMs: number) =>
    calls.filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
  const own = select(sinceMs, untilMs)
  const refused = own.filter(({ became }) => became !== 'allow')
  return {
    totals: countOutcomes(own),
    spared: countSpared(records, { sinceMs, untilMs }),
    inIntervals: countOutcomes(own),
    before: countOutcomes(select(sinceMs - (untilMs - sinceMs), sinceMs)),
    reasons: countNames(refused, ({ decision }) => decision.code),
    principals: countNames(own, ({ principal }) => principal.id),
    agents: countNames(own, ({ agent }) => agent ?? ''),
    tools: countNames(own, ({ server, name }) => `${server}/${name}`),
    servers: countNames(own, ({ server }) => server).sort(byName),
  }
}

/** The same of an answer; the intervals added up. */
export function readFigures(overview: Overview | Omit<Overview, 'behind'>): OverviewFigures {
  const { totals, before, spared, reasons, principals, agents, tools, servers, intervals } =
    overview
  const inIntervals: Record<string, number> = {}
  for (const { counts } of intervals)
    for (const [label, n] of Object.entries(counts))
      inIntervals[label] = (inIntervals[label] ?? 0) + n
  const named = { principals, agents, tools, servers: servers.toSorted(byName) }
  return { totals, before, spared, reasons, ...named, inIntervals }
}

function countSpared(
  records: readonly LedgerRecord[],
  { sinceMs, untilMs }: TimeRange,
): OverviewFigures['spared'] {
  const spared = { quiet: 0, box: 0, standing: 0 }
  for (const record of records) {
    const isIn = record.atMs >= sinceMs && record.atMs < untilMs
    if (record.kind === 'event' && record.name === 'quiet' && isIn)
      spared[JSON.stringify(record.detail).includes('box') ? 'box' : 'quiet']++
    if (record.kind === 'intent' && isIn && record.approval?.endsWith('-while')) spared.standing++
  }
  return spared
}

function countOutcomes(calls: readonly CountedCall[]): OutcomeCounts {
  const counts: Record<string, number> = {}
  for (const { decision, became } of calls) {
    const label = toOutcomeLabel(became, decision.code)
    counts[label] = (counts[label] ?? 0) + 1
  }
  return counts
}

function byName(one: CountedName, other: CountedName): number {
  return one.name < other.name ? -1 : 1
}

/** The most frequent; a call without a name is left out. */
function countNames(
  calls: readonly CountedCall[],
  nameOf: (call: CountedCall) => string,
): CountedName[] {
  const names = new Set(calls.map(nameOf).filter((name) => name !== ''))
  return [...names]
    .map((name) => {
      const own = calls.filter((call) => nameOf(call) === name)
      return { name, calls: own.length, counts: countOutcomes(own) }
    })
    .sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1))
    .slice(0, OVERVIEW_TOP)
}
