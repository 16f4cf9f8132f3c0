// Admission alone, without a gate around it: as many callers as given ask one gate's part of the shared store,
// or four in processes of their own, on one counter or on a counter each. Used by cluster.bench.ts, which
// forks this file; a process gets a turn as a message and replies with what it admitted.

import { type ChildProcess, fork } from 'node:child_process'
import type { LimitCharge } from '@sluice/policy/calls/counters'
import { ONE } from '@sluice/policy/values/decimal'
import { decisionEntry } from '../../packages/ledger/src/decision-entries.test-support.ts'
import { encodeBody } from '../../packages/ledger/src/records/encoding.ts'
import { outcomeEntry } from '../../packages/ledger/src/records/record.ts'
import { openSharedGate } from '../../packages/ledger/src/store/postgres/shared-gate.test-support.ts'
import { computeSpread } from '../gateway/measure.ts'

interface Turn {
  readonly callers: number
  readonly forMs: number
  readonly counter: string
}

interface TurnResult {
  readonly calls: number
  readonly commits: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const MAX = { units: 1_000_000_000n, scale: 0 }
const WINDOW_MS = 60_000
const GATES = 4
const CALLERS = 64
/** Name, gates, callers in all, and whether the gates charge one counter. */
const CASES = [
  ['one gate, 1 caller', 1, 1, true],
  [`one gate, ${CALLERS} callers`, 1, CALLERS, true],
  [`${GATES} gates, ${CALLERS} callers, one counter`, GATES, CALLERS, true],
  [`${GATES} gates, ${CALLERS} callers, a counter each`, GATES, CALLERS, false],
] as const

/** In alternating turns; prints one line for each case. */
export async function compareAdmission(url: string, rounds: number, forMs: number): Promise<void> {
  const gates = await Promise.all(Array.from({ length: GATES }, (_, at) => startGate(url, at)))
  const seen = CASES.map((): (TurnResult & { readonly rate: number })[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [at, [, count, callers, isShared]] of CASES.entries()) {
      const turns = await Promise.all(
        gates.slice(0, count).map((gate, nth) => {
          const counter = isShared ? 'shared' : `own ${nth}`
          return takeTurn(gate, { callers: callers / count, forMs, counter })
        }),
      )
      const sum = (of: (turn: TurnResult) => number) =>
        turns.reduce((all, turn) => all + of(turn), 0)
      const calls = sum((turn) => turn.calls)
      seen[at]?.push({
        calls,
        rate: (calls * 1_000) / forMs,
        commits: sum((turn) => turn.commits),
        p50Ms: sum((turn) => turn.p50Ms) / count,
        p99Ms: Math.max(...turns.map((turn) => turn.p99Ms)),
      })
    }
  for (const gate of gates) gate.disconnect()
  for (const [at, [name]] of CASES.entries()) {
    const spread = (of: (turn: TurnResult & { readonly rate: number }) => number) =>
      computeSpread((seen[at] ?? []).map(of))
    const perSecond = spread((turn) => turn.rate)
    const [p10, p90] = [perSecond.p10.toFixed(0), perSecond.p90.toFixed(0)]
    console.log(
      `admission, ${name.padEnd(38)} ${perSecond.p50.toFixed(0).padStart(6)} calls/s (${p10} to ${p90})  p50 ${spread((turn) => turn.p50Ms).p50.toFixed(2)} ms  p99 ${spread((turn) => turn.p99Ms).p50.toFixed(2)} ms  ${spread((turn) => turn.calls / turn.commits).p50.toFixed(0)} calls a statement`,
    )
  }
}

async function startGate(url: string, at: number): Promise<ChildProcess> {
  const child = fork(import.meta.filename, [url, `admission-${at}`], { stdio: 'inherit' })
  await new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', () => reject(new Error('a gate of the measurement ended')))
  })
  return child
}

function takeTurn(child: ChildProcess, turn: Turn): Promise<TurnResult> {
  return new Promise((resolve) => {
    child.once('message', (result) => resolve(result as TurnResult))
    child.send(turn)
  })
}

async function serveTurns(url: string, gate: string): Promise<void> {
  const { close, store } = await openSharedGate(url, gate)
  let nth = 0
  const admitOne = async (counter: string): Promise<number> => {
    const callId = `${gate} ${++nth}`
    const began = performance.now()
    const charge: LimitCharge = {
      key: counter,
      kind: 'rate',
      windowMs: WINDOW_MS,
      max: MAX,
      amount: ONE,
    }
    const now = { wallMs: Date.now(), monotonicMs: began }
    const entry = decisionEntry(nth, { callId })
    const reply = await store.admit({ mode: 'charge', callId, charges: [charge], now, entry })
    if (reply.status !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(reply)}`)
    const { sequence } = reply
    const body = encodeBody(outcomeEntry(sequence, { atMs: now.wallMs, status: 'answered' }))
    void store.append({ kind: 'o', id: '', body }, sequence)
    return performance.now() - began
  }
  process.on('message', async ({ callers, counter, forMs }: Turn) => {
    const end = performance.now() + forMs
    const before = store.figures.commits
    const times: number[] = []
    const ask = async () => {
      while (performance.now() < end) times.push(await admitOne(counter))
    }
    await Promise.all(Array.from({ length: callers }, ask))
    times.sort((one, other) => one - other)
    const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
    const commits = store.figures.commits - before
    process.send?.({ calls: times.length, commits, p50Ms: at(0.5), p99Ms: at(0.99) })
  })
  process.once('disconnect', () => void close())
  process.send?.('ready')
}

const [, file, url, gate] = process.argv
if (file === import.meta.filename && url !== undefined && gate !== undefined)
  await serveTurns(url, gate)
