// `npm run bench -- ledger [--seconds N] [--dir DIR] [--records N]`: what the ledger costs per
// call. Intents at concurrency 1, 16 and 64, each followed by its outcome, under NORMAL and FULL
// sync: throughput, p50 and p99 of an intent, CPU per call; then verification, queries and bytes
// per record. With --records only a ledger of N records (8640000 is a day at 100 calls a second):
// see ledger/grow.ts.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedgerReadOnly } from '../packages/ledger/src/chain/read.ts'
import { Ledger } from '../packages/ledger/src/ledger.ts'
import { queryLedger } from '../packages/ledger/src/query/query.ts'
import { RecordIndex } from '../packages/ledger/src/query/record-index.ts'
import { restoreLimits } from '../packages/ledger/src/query/restore-limits.ts'
import { type DecisionEntry, digestText } from '../packages/ledger/src/records/record.ts'
import type { Sync } from '../packages/ledger/src/store/sqlite/open.ts'
import { verifyLedger } from '../packages/ledger/src/verify/verify.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { grown } from './ledger/grow.ts'

const CONCURRENCIES = [1, 16, 64]
const SYNCS: readonly Sync[] = ['normal', 'full']
const DIGEST = digestText('{"amount":100}')

interface Row {
  readonly sync: Sync
  readonly concurrency: number
  readonly callsPerSecond: number
  readonly p50Us: number
  readonly p99Us: number
  readonly cpuUsPerCall: number
  readonly recordsPerCommit: number
}

export async function run(options: RunOptions): Promise<number> {
  const forMs = 1_000 * Number(options.seconds ?? 3)
  const base = mkdtempSync(join(String(options.dir ?? tmpdir()), 'sluice-bench-'))
  try {
    if (options.records !== undefined) {
      const figures = await grown(join(base, 'grown'), Number(options.records))
      if (options.json) console.log(JSON.stringify(figures))
      return 0
    }
    const rows: Row[] = []
    for (const sync of SYNCS)
      for (const concurrency of CONCURRENCIES)
        rows.push(await load(join(base, `${sync}-${concurrency}`), sync, concurrency, forMs))
    const read = reading(join(base, 'normal-64'))
    if (options.json) console.log(JSON.stringify({ rows, read }))
    else {
      for (const row of rows) console.log(formatRow(row))
      for (const [what, value] of Object.entries(read))
        console.log(`${what.padEnd(32)} ${Math.round(value).toLocaleString('en')}`)
    }
    return 0
  } finally {
    rmSync(base, { recursive: true })
  }
}

/** Lanes that call sequentially, as callers do: the intent, the server, the outcome. */
async function load(directory: string, sync: Sync, lanes: number, forMs: number): Promise<Row> {
  const ledger = Ledger.open({ directory, sync })
  const times: number[] = []
  let stop = performance.now() + forMs / 5
  let number = 0
  const lane = async () => {
    while (performance.now() < stop) {
      const began = performance.now()
      const seq = await ledger.intent(decisionEntry(number++))
      times.push((performance.now() - began) * 1_000)
      // The server answers in a later turn.
      await new Promise((resolve) => setImmediate(resolve))
      ledger.outcome(seq, { atMs: Date.now(), status: 'answered', bytes: 512, digest: DIGEST })
    }
  }
  const allLanes = () => Promise.all(Array.from({ length: lanes }, lane))
  await allLanes()
  times.length = 0
  const before = ledger.figures
  const cpu = process.cpuUsage()
  const began = performance.now()
  stop = began + forMs
  await allLanes()
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const after = ledger.figures
  ledger.close()
  times.sort((a, b) => a - b)
  return {
    sync,
    concurrency: lanes,
    callsPerSecond: times.length / seconds,
    p50Us: times[Math.floor(times.length * 0.5)] as number,
    p99Us: times[Math.floor(times.length * 0.99)] as number,
    cpuUsPerCall: (user + system) / times.length,
    recordsPerCommit: (after.seq - before.seq) / (after.commits - before.commits),
  }
}

function reading(directory: string): Record<string, number> {
  const bytes = statSync(join(directory, 'ledger.db')).size
  const database = openLedgerReadOnly(directory)
  const { value: verified, ms } = timed(() => verifyLedger(database))
  if (verified.problems.length > 0) throw new Error(JSON.stringify(verified.problems))
  const index = new RecordIndex(directory, database)
  const indexed = timed(() => index.catchUp())
  const restored = timed(() => [...restoreLimits(database, Date.now(), 3_600_000)].length)
  const query = timed(() => queryLedger(database, { session: 'session-2', limit: 100 }, index))
  const timeQuery = timed(() =>
    queryLedger(database, { principal: 'ann', sinceMs: Date.now() - 2_000, limit: 100 }, index),
  )
  index.close()
  database.close()
  return {
    records: verified.records,
    'bytes a record': bytes / verified.records,
    'verified records/s': (verified.records / ms) * 1_000,
    'indexed records/s': (verified.records / indexed.ms) * 1_000,
    'restored intents/s': (restored.value / restored.ms) * 1_000,
    'query by session, µs': query.ms * 1_000,
    'query by principal and time, µs': timeQuery.ms * 1_000,
  }
}

function timed<T>(work: () => T): { value: T; ms: number } {
  const began = performance.now()
  const value = work()
  return { value, ms: performance.now() - began }
}

function formatRow(row: Row): string {
  const { sync, concurrency, callsPerSecond, p50Us, p99Us, cpuUsPerCall, recordsPerCommit } = row
  return [
    `${sync.padEnd(6)} x${String(concurrency).padEnd(3)}`,
    `${callsPerSecond.toFixed(0).padStart(7)} calls/s`,
    `intent p50 ${p50Us.toFixed(0).padStart(5)} µs, p99 ${p99Us.toFixed(0).padStart(6)} µs`,
    `cpu ${cpuUsPerCall.toFixed(1).padStart(5)} µs a call`,
    `${recordsPerCommit.toFixed(1)} records a commit`,
  ].join('  ')
}

function decisionEntry(number: number): DecisionEntry {
  return {
    atMs: Date.now(),
    callId: `01HZX3T9V0000000000000${number}`,
    principal: { id: 'ann', kind: 'grant' },
    agent: null,
    session: `session-${number % 4}`,
    server: 'stripe',
    method: 'tools/call',
    name: `tool_${number % 50}`,
    category: 'Financial',
    policy: 'default',
    decision: {
      action: 'allow',
      code: 'ALLOWED',
      rule: '/tools/stripe~1create_refund',
      reason: '',
      guardrails: [],
      shadow: [],
      limits: [
        {
          key: '/categories/Write/rate_limit|9:session-1',
          kind: 'rate',
          windowMs: 60_000,
          max: { units: 30n, scale: 0 },
          amount: { units: 1n, scale: 0 },
        },
      ],
    },
    judged: { 'args.amount': number },
    argsDigest: DIGEST,
  }
}
