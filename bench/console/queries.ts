// What the console asks the ledger for, over an index of millions of calls: a search for a free text and
// the histogram with filters. The index of two days of traffic is copied until it has as many calls,
// since writing and indexing ten million takes most of an hour. Then what a gate's own thread feels of
// it, see gate-thread.ts. Called by `--queries N`.

import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Steps } from '@sluice/policy/structures/steps'
import { readHistogram } from '../../packages/console/src/queries/histogram.ts'
import { SEARCH_STEP_RECORDS } from '../../packages/console/src/queries/limits.ts'
import { readOverview } from '../../packages/console/src/queries/overview.ts'
import { findSearchPart } from '../../packages/console/src/queries/search-parts.ts'
import { readByValue, readSum } from '../../packages/console/src/queries/value-queries.ts'
import { openLedgerReadOnly } from '../../packages/ledger/src/chain/read.ts'
import { type Query, queryLedger } from '../../packages/ledger/src/query/query.ts'
import { RecordIndex } from '../../packages/ledger/src/query/record-index.ts'
import { writePastTraffic } from '../../test/console/past-traffic.ts'
import { measureGateThread } from './gate-thread.ts'

const DAYS = 2
const DAY_MS = 86_400_000
/** A Tuesday: a quiet day and a busy one before it. */
const END_MS = Date.UTC(2026, 10, 3)
const RARE = 'quarterly_zebra'
const ROUNDS = 3
/** For the calls that a gate records afterwards. */
const FREE_RECORDS = 500_000

export async function measureQueries(folder: string, calls: number): Promise<void> {
  const directory = join(folder, 'data')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const traffic = { days: DAYS, endMs: END_MS, callsPerHour: 3_500, oldestTool: RARE }
  const written = writePastTraffic(directory, traffic)
  const ledger = openLedgerReadOnly(directory)
  // The copies are not in the ledger, so a check would build the index again.
  const index = new RecordIndex(directory, ledger)
  index.catchUp()
  const { database } = index
  copyCalls(database, Math.ceil(calls / written))
  const { n, last } = database
    .prepare('SELECT count(*) AS n, max(at) AS last FROM calls')
    .get() as {
    n: number
    last: number
  }
  console.log(`${n.toLocaleString('en')} calls; CPU of the reading thread, best of ${ROUNDS}`)
  const search = (text: string) => searchAll({ ledger, index }, { text, limit: 100 })
  measure('search: a text that only the oldest call has', () => search(RARE))
  measure('search: a text that no call has', () => search('no such thing'))
  const bars = (what: string, query: Query) =>
    measure(`histogram: ${what}`, () => countAll(database, query))
  bars('all', {})
  bars('denied', { word: 'deny' })
  bars('one tool', { server: 'office', name: 'write_note' })
  bars('the most active principal', { principal: 'support' })
  bars('that principal, the last day', { principal: 'support', sinceMs: last - DAY_MS })
  bars('a rare text', { text: RARE })
  const above = (what: string, query: Query) =>
    measure(`values: ${what}`, () => searchAll({ ledger, index }, { ...query, limit: 200 }))
  const oldest = { name: RARE }
  above('an amount that only the oldest call has', { where: 'args.amount < 0.001', ...oldest })
  above('an amount that no call has', { where: 'args.amount > 99999' })
  measure('values: largest first, of a tool with one call', () =>
    inParts(readByValue(ledger, index, { sort: 'args.amount', order: 'largest', ...oldest })),
  )
  measure('values: sum of all', () => inParts(readSum(index, { query: { sort: 'args.amount' } })))
  measure('values: sum of one caller', () =>
    inParts(readSum(index, { query: { sort: 'args.amount', principal: 'support' } })),
  )
  measure('overview of 30 days', () => {
    readOverview(database, { sinceMs: last - 30 * DAY_MS, untilMs: last })
    return ''
  })
  index.close()
  ledger.close()
  // Else the gate would wait for the disk, which still writes the copies.
  const file = openSync(join(directory, 'ledger-index.db'), 'r')
  fsyncSync(file)
  closeSync(file)
  await measureGateThread(folder, { principal: 'support', text: RARE })
}

/** Part by part, as the page asks for them. */
function searchAll(
  { ledger, index }: { readonly ledger: DatabaseSync; readonly index: RecordIndex },
  first: Query,
): string {
  let query = first
  let worstMs = 0
  for (let parts = 1; ; parts++) {
    const before = process.cpuUsage()
    const part = findSearchPart(index, query, SEARCH_STEP_RECORDS)
    const { next } = queryLedger(ledger, part?.query ?? query, index, 'as it is')
    worstMs = Math.max(worstMs, cpuMsSince(before))
    if (next !== null || part === undefined)
      return `, ${parts} parts, the longest ${worstMs.toFixed(0)} ms`
    query = { ...query, before: part.next }
  }
}

function countAll(index: DatabaseSync, query: Query): string {
  return inParts(readHistogram(index, query))
}

/** Part by part, as the reading thread takes them. */
function inParts(work: Steps<unknown>): string {
  let worstMs = 0
  for (let parts = 1; ; parts++) {
    const before = process.cpuUsage()
    const { done } = work.next()
    worstMs = Math.max(worstMs, cpuMsSince(before))
    if (done) return parts === 1 ? '' : `, ${parts} parts, the longest ${worstMs.toFixed(0)} ms`
  }
}

/** Each copy two days later than the one before. */
function copyCalls(database: DatabaseSync, copies: number): void {
  database.exec('PRAGMA synchronous = OFF')
  const base = Number(database.prepare('SELECT max(seq) AS seq FROM calls').get()?.seq)
  const indexes = database
    .prepare(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('calls', 'judged') AND sql <> ''`,
    )
    .all()
  for (const { name } of indexes) database.exec(`DROP INDEX ${name}`)
  const calls =
    database.prepare(`INSERT INTO calls SELECT seq + ?, at + ?, principal, agent, session, server,
    method, name, tool, category, action, code, rule, reason, shadow, parent, approval, became,
    unknown FROM calls WHERE seq BETWEEN 2 AND ${base}`)
  const values = database.prepare(`INSERT INTO judged SELECT path, seq + ?, value FROM judged
    WHERE seq BETWEEN 2 AND ${base}`)
  const minutes =
    database.prepare(`INSERT INTO minutes SELECT minute + ?, became, code, n FROM minutes
    WHERE minute < ${END_MS / 60_000}`)
  const hours =
    database.prepare(`INSERT INTO hours SELECT kind, hour + ?, word, became, code, n FROM hours
    WHERE hour < ${END_MS / 3_600_000}`)
  database.exec('BEGIN')
  for (let copy = 1; copy < copies; copy++) {
    calls.run(FREE_RECORDS + copy * base, copy * DAYS * DAY_MS)
    values.run(FREE_RECORDS + copy * base)
    minutes.run(copy * DAYS * 1_440)
    hours.run(copy * DAYS * 24)
  }
  database.exec('COMMIT')
  for (const { sql } of indexes) database.exec(String(sql))
}

function measure(what: string, work: () => string): void {
  let note = ''
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    note = work()
    best = Math.min(best, cpuMsSince(before))
  }
  console.log(`${what.padEnd(48)} ${best.toFixed(0).padStart(7)} ms${note}`)
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
