// How fast the console of one gate copies and indexes the records of all gates of a shared store, and what it
// takes to answer from the copy. `npm run bench -- cluster --follow N`, N calls of three gates.

import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { LedgerReader } from '../../packages/console/src/queries/ledger-reader.ts'
import { decisionEntry } from '../../packages/ledger/src/decision-entries.test-support.ts'
import { Ledger } from '../../packages/ledger/src/ledger.ts'
import { encodeBody } from '../../packages/ledger/src/records/encoding.ts'
import { MERGED_FOLDER } from '../../packages/ledger/src/records/files.ts'
import { outcomeEntry } from '../../packages/ledger/src/records/record.ts'
import { openSharedGate } from '../../packages/ledger/src/store/postgres/shared-gate.test-support.ts'
import { computeSpread } from '../gateway/measure.ts'

const GATES = 3
const AT_ONCE = 200
const QUESTIONS = 20
const POLL_MS = 1_000
const START_MS = 1_800_000_000_000
const SPAN_MS = 30 * 86_400_000

export async function measureFollowing(
  folder: string,
  store: string,
  calls: number,
): Promise<void> {
  await Promise.all(
    Array.from({ length: GATES }, (_, at) => writeCalls(store, `gate-${at}`, calls / GATES)),
  )
  const directory = join(folder, 'console')
  mkdirSync(directory, { mode: 0o700 })
  Ledger.open({ directory }).close()
  const reader = new LedgerReader({ directory, isMerged: true, store })
  const overview = { sinceMs: START_MS, untilMs: START_MS + SPAN_MS }
  try {
    const beganMs = performance.now()
    const before = process.cpuUsage()
    let behind = 1
    while (behind > 0) {
      const answer = await reader.ask('overview', overview)
      if (answer.notFollowed !== undefined) throw new Error(answer.notFollowed)
      behind = answer.behind
      // Each question takes time from the copy.
      if (behind > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    const tookS = (performance.now() - beganMs) / 1_000
    const { user, system } = process.cpuUsage(before)
    const sizeOf = (name: string) =>
      statSync(join(directory, MERGED_FOLDER, name), { throwIfNoEntry: false })?.size ?? 0
    const bytes = ['ledger.db', 'ledger-index.db'].map(
      (name) => sizeOf(name) + sizeOf(`${name}-wal`),
    )
    const [copied, indexed] = bytes.map((size) => (size / 1_048_576).toFixed(0))
    console.log(
      `${calls} calls of ${GATES} gates copied and indexed in ${tookS.toFixed(1)} s, ${Math.round((calls * 2) / tookS)} records a second, ${((user + system) / calls / 2).toFixed(1)} µs of CPU a record; ${copied} MiB of records, ${indexed} MiB of index`,
    )
    await time('overview of 30 days', () => reader.ask('overview', overview))
    await time('page of 100 calls', () => reader.ask('page', { limit: 100 }))
    await time('page of one principal', () =>
      reader.ask('page', { principal: 'person-7', limit: 100 }),
    )
  } finally {
    await reader.close()
  }
}

async function time(what: string, ask: () => Promise<unknown>): Promise<void> {
  const tookMs: number[] = []
  for (let n = 0; n < QUESTIONS; n++) {
    const beganMs = performance.now()
    await ask()
    tookMs.push(performance.now() - beganMs)
  }
  const { p50, p90 } = computeSpread(tookMs)
  console.log(`${what}: p50 ${p50.toFixed(1)} ms  p90 ${p90.toFixed(1)} ms`)
}

async function writeCalls(store: string, gate: string, calls: number): Promise<void> {
  const { store: admission, close } = await openSharedGate(store, gate)
  const write = async (n: number) => {
    const entry = decisionEntry(n, {
      callId: `${gate}-${n}`,
      atMs: START_MS + Math.floor((n / calls) * SPAN_MS),
      session: `session-${n % 1_000}`,
      principal: { id: `person-${n % 50}`, kind: 'grant' },
      name: `tool-${n % 40}`,
    })
    const id = entry.callId
    const seq = await admission.append({
      kind: 'i',
      id,
      body: encodeBody({ ...entry, kind: 'intent' }),
    })
    const outcome = outcomeEntry(seq, { atMs: entry.atMs + 5, status: 'answered' })
    await admission.append({ kind: 'o', id: '', body: encodeBody(outcome) })
  }
  for (let first = 0; first < calls; first += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, calls - first) }, (_, at) => write(first + at)),
    )
  await close()
}
