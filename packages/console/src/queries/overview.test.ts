// The figures of the overview, compared with counting the same calls one by one.

import { openLedgerReadOnly, recordsFrom } from '@sluice/ledger/chain/read'
import { allowed, decisionEntry, denied } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { HOUR_MS } from '@sluice/ledger/query/call-counts'
import { queryLedger } from '@sluice/ledger/query/query'
import { RecordIndex } from '@sluice/ledger/query/record-index'
import { MADE_AGAIN } from '@sluice/ledger/records/held-calls'
import { freshDirectory } from '@sluice/ledger/samples.test-support'
import type { Steps } from '@sluice/policy/structures/steps'
import { expect, test } from 'vitest'
import { readHistogram, readNames } from './histogram.ts'
import { OVERVIEW_INTERVALS } from './limits.ts'
import { countOverview, readFigures } from './overview.test-support.ts'
import { readOverview } from './overview.ts'

const START_MS = 1_800_000_000_000
/** 500 calls are five hours: whole ones in the middle, parts of two at the ends. */
const STEP_MS = 37_000
/** So that everything is counted in several parts. */
const STEP = { records: 60, minutes: 13 }

function finish<Result>(work: Steps<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

test('every figure is exact for the stretch it names, and for the one before', async () => {
  const directory = freshDirectory()
  const ledger = Ledger.open({ directory })
  const limited = { ...denied, code: 'RATE_LIMITED' }
  const asked = { ...denied, action: 'require_approval', code: 'APPROVAL_PENDING' } as const
  const refused = { ...denied, code: 'APPROVAL_DENIED' }
  const approved = { ...allowed, code: 'APPROVED' }
  const ran: readonly unknown[] = [allowed, approved]
  const decisions = [
    [5, denied],
    [11, limited],
    [13, asked],
    [3, approved],
    [7, refused],
  ] as const
  for (let n = 0; n < 500; n++) {
    const [, decision] = decisions.find(([every]) => n % every === 0) ?? [1, allowed]
    const entry = decisionEntry(n, {
      atMs: START_MS + n * STEP_MS,
      decision,
      ...(decision === asked || n % 2 === 1 ? { approval: `request-${n % 29}` } : {}),
      ...(decision === approved && n % 2 === 0 ? { approval: 'request-1-while' } : {}),
      agent: n % 4 === 0 ? `agent-${n % 24}` : null,
      server: n % 3 === 0 ? 'files' : 'mail',
      name: `tool-${n % 7}`,
      principal: { id: `person-${n % 17}`, kind: 'grant' },
    })
    if (ran.includes(decision)) await ledger.intent(entry)
    else await ledger.refuse(entry)
  }
  // The clock was set back by a second between the first and the second of them.
  for (const [at, atMs] of [0, -1_000, 3_600_000].entries())
    await ledger.intent(
      decisionEntry(500 + at, { atMs: START_MS - 36_000_000 + atMs, server: 'odd', name: 'one' }),
    )
  for (const [at, why] of ['read', 'box', 'read', 'approved'].entries())
    await ledger.event({ atMs: START_MS + at * HOUR_MS, name: 'quiet', detail: { why } })
  // The first and the last millisecond of an hour, of a person and a tool of their own.
  for (const [at, decision] of [allowed, denied, approved, asked, refused].entries())
    for (const atMs of [HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS - 1, 2 * HOUR_MS]) {
      const entry = decisionEntry(600 + at, {
        atMs: START_MS + atMs,
        decision,
        server: 'ends',
        name: 'tool',
        principal: { id: 'ends', kind: 'grant' },
      })
      if (ran.includes(decision)) await ledger.intent(entry)
      else await ledger.refuse(entry)
    }
  ledger.close()
  const database = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, database)
  index.catchUp()
  const records = [...recordsFrom(database)]
  const [sinceMs, untilMs] = [START_MS + 250.3 * STEP_MS, START_MS + 400 * STEP_MS]
  for (const stretch of [
    { sinceMs, untilMs },
    { sinceMs: untilMs, untilMs: untilMs + 40_000 },
    { sinceMs: START_MS - 86_400_000, untilMs: START_MS + 30 * 86_400_000 },
    // Whole hours, and a millisecond more or less at either end.
    { sinceMs: START_MS + HOUR_MS, untilMs: START_MS + 2 * HOUR_MS },
    { sinceMs: START_MS + HOUR_MS - 1, untilMs: START_MS + 2 * HOUR_MS + 1 },
    { sinceMs: START_MS + HOUR_MS + 1, untilMs: START_MS + 2 * HOUR_MS - 1 },
  ]) {
    const overview = readOverview(index.database, stretch)
    expect(readFigures(overview)).toEqual(countOverview(records, stretch))
    expect(overview.intervals.length).toBeLessThanOrEqual(OVERVIEW_INTERVALS)
  }
  const hour = { sinceMs: START_MS + HOUR_MS, untilMs: START_MS + 2 * HOUR_MS }
  const { tools } = readOverview(index.database, hour)
  expect(tools.find(({ name }) => name === 'ends/tool')).toEqual({
    name: 'ends/tool',
    calls: 10,
    // Held are those that wait; a call that a person denied, or that nobody decided in time, is denied.
    counts: { allow: 4, ask: 2, deny: 4 },
  })
  for (const query of [
    {},
    { sinceMs, untilMs: untilMs - 1 },
    { server: 'mail', name: 'tool-4' },
    { word: 'deny' as const, sinceMs },
    { text: 'TOOL-3', untilMs },
    { principal: 'nobody' },
  ]) {
    const { intervals, intervalMs, ...span } = finish(readHistogram(index.database, query, STEP))
    const { calls } = queryLedger(database, { ...query, limit: 1_000 }, index)
    const found = calls.filter(({ became }) => became !== MADE_AGAIN)
    for (const { atMs, counts } of intervals) {
      const own = found.filter(
        ({ record }) => record.atMs >= atMs && record.atMs < atMs + intervalMs,
      )
      expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(own.length)
    }
    const all = intervals.flatMap(({ counts }) => Object.values(counts))
    expect(all.reduce((sum, n) => sum + n, 0)).toBe(found.length)
    expect(found.every(({ record: { atMs } }) => atMs >= span.sinceMs && atMs < span.untilMs)).toBe(
      true,
    )
  }
  const { startMs, intervalMs, intervals } = finish(
    readHistogram(index.database, { server: 'odd' }, STEP),
  )
  expect(
    intervals.map(({ atMs, counts }) => [(atMs - startMs) / intervalMs, counts.allow]),
  ).toEqual([
    [-1, 1],
    [0, 1],
    [Math.floor(3_600_000 / intervalMs), 1],
  ])
  expect(readNames(index.database, { of: 'tool', text: 'FILES/' })).toEqual(
    Array.from({ length: 7 }, (_, n) => `files/tool-${n}`),
  )
  expect(readNames(index.database, { of: 'code', text: 'en' })).toEqual([
    'APPROVAL_DENIED',
    'APPROVAL_PENDING',
    'DENIED',
  ])
  expect(readNames(index.database, { of: 'agent', text: 'nobody' })).toEqual([])
  index.close()
  database.close()
})
