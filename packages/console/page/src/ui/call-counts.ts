// Counts of calls in intervals of time as the lines of a plot, and names of tools taken apart.

import type { CallHistogram, OutcomeCounts } from '../../../src/contract/contract.ts'
import { OUTCOME_LABELS } from './marks.tsx'
import type { PlotLine } from './plot.tsx'

export function toLines({
  startMs,
  untilMs,
  intervalMs,
  intervals,
  recordsSinceMs = 0,
}: Omit<CallHistogram, 'behind'> & {
  /** Nothing is known before: a gap. */
  readonly recordsSinceMs?: number | null
}): { times: number[]; lines: PlotLine[] } {
  const byTime = new Map(intervals.map(({ atMs, counts }) => [atMs, counts]))
  const times: number[] = []
  const counts: (OutcomeCounts | undefined)[] = []
  for (let atMs = startMs; atMs < untilMs; atMs += intervalMs) {
    times.push(atMs / 1_000)
    const isKnown = recordsSinceMs !== null && atMs + intervalMs > recordsSinceMs
    counts.push(isKnown ? (byTime.get(atMs) ?? {}) : undefined)
  }
  // Allowed calls are at the bottom and quiet; what was held or refused stands on top of them.
  const words = [...OUTCOME_LABELS].sort((word) => (word === 'allow' ? 1 : -1))
  const lines = words.map((word) => ({
    says: word,
    colour: word === 'allow' ? '--allow-plot' : `--${word}-line`,
    values: counts.map((one) => (one === undefined ? null : (one[word] ?? 0))),
  }))
  return { times, lines }
}

/** Those that were not simply allowed, to be seen beside those that were; empty if there are only the ones or the others. */
export function pickRefusals(lines: readonly PlotLine[]): PlotLine[] {
  const others = lines.filter(({ says }) => says !== 'allow')
  const isAny = (some: readonly PlotLine[]) =>
    some.some(({ values }) => values.some((value) => (value ?? 0) > 0))
  return isAny(others) && isAny(lines.filter(({ says }) => says === 'allow')) ? others : []
}

/** A tool is named `server/name`; a name may have slashes. */
export function splitTool(tool: string): { server: string; name: string } {
  const slash = tool.indexOf('/')
  return { server: tool.slice(0, slash), name: tool.slice(slash + 1) }
}
