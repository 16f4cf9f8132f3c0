// S12: a seeded history under faults is right, by a checker that reads only arrivals, charges and ledger;
// and the checker finds faults that are planted in it. By `npm run soak -- repeats`, because each promise has a test of its
// own beside this one; in full: `npm run soak -- cluster --calls 1000000`.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeHistory } from '../support/cluster-history.ts'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { IS_FULL } from '../support/runs.ts'
import { endGates } from '../support/start-gate.ts'
import { checkHistory, type History, type HistoryCounter } from './history.ts'

const postgres = findPostgres()

describe.runIf(IS_FULL && postgres !== undefined)(namePostgresSuite('a history', postgres), () => {
  let server: RunningPostgres
  let history: History

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    history = await makeHistory(server, { calls: 300, seed: 17, gates: 2 })
  }, 240_000)
  afterAll(async () => {
    await endGates()
    await server?.end()
  })

  test('under faults keeps every promise', () => {
    expect(checkHistory(history)).toEqual([])
  })

  test('planted faults are found', () => {
    const [arrival] = history.arrivals
    const [charge] = history.charges
    const intent = history.rows.find(({ record }) => record.kind === 'intent')
    if (arrival === undefined || charge === undefined || intent === undefined)
      throw new Error('the history is empty')
    const plant = (more: Partial<History>) => checkHistory({ ...history, ...more }).join('\n')
    expect(plant({ charges: [...history.charges, charge] })).toContain('double charge')
    expect(plant({ arrivals: [...history.arrivals, arrival] })).toContain('double send')
    const without = history.rows.filter(
      ({ record }) => record.kind !== 'intent' || record.argsDigest !== arrival.digest,
    )
    expect(plant({ rows: without })).toContain('lost intent')
    const stale = { ...intent, atMs: (history.freezes[0]?.fromMs ?? 0) + 1 }
    expect(plant({ rows: [...history.rows, stale] })).toContain('stale freeze')
    const last = history.rows.filter(({ gate }) => gate === intent.gate).at(-1) ?? intent
    const zombie = { ...last, seq: last.seq + 1, epoch: last.epoch - 1 }
    expect(plant({ rows: [...history.rows, zombie] })).toContain('zombie append')
    expect(plant({ arrivals: [] })).toContain('too little')
    expect(plant({ arrivals: [] })).toContain('record without effect')
    expect(plant({ charges: [] })).toContain('missing charge')
    const [counter] = history.counters
    const lower = { ...counter, sum: -1n } as HistoryCounter
    expect(plant({ counters: [lower] })).toMatch(/counter: \w+ is -0\.0+1, and its charges are/)
    const dearer = history.arrivals.map((one) => ({ ...one, amount: 2n * one.amount }))
    expect(plant({ arrivals: dearer })).toContain('amount: 0.7 and not 1.4')
    const outcomes = history.rows.filter(({ record }) => record.kind !== 'outcome')
    expect(plant({ rows: outcomes })).toContain('lost outcome')
    const tighter = history.limits.map((limit) => ({ ...limit, max: '1' }))
    expect(plant({ limits: tighter })).toContain('limit: 2 of 1 (rate) of write')
    const others = [{ kind: 'rate', tool: 'read', max: '1000', windowMs: 1_000 } as const]
    expect(plant({ limits: others })).toContain('limit left out')
    const refunded = history.rows.map((row) => ({
      ...row,
      record: row.record.kind === 'outcome' ? { ...row.record, givenBack: true } : row.record,
    }))
    expect(plant({ rows: refunded })).toContain('given back')
  })
})
