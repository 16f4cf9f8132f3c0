// Queries, by the index and by reading: the same results, newest first, page after page.

import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Action } from '@sluice/policy/calls/actions'
import { ExactNumber } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { openLedgerReadOnly } from '../chain/read.ts'
import { allowed, decisionEntry, denied } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { RECORD_LABELS } from '../records/outcome-label.ts'
import { freshDirectory, freshDirectoryForAll } from '../samples.test-support.ts'
import { IS_COUNTED } from './call-counts.ts'
import { type Query, queryLedger } from './query.ts'
import { RecordIndex } from './record-index.ts'

const START = 1_800_000_000_000
const CALLS = 300
/** Calls that count, and those that the counts by minute and by hour have. */
const COUNTED = `SELECT (SELECT count(*) FROM calls WHERE ${IS_COUNTED}) AS calls,
  (SELECT sum(n) FROM minutes) AS minutes, (SELECT sum(n) FROM hours WHERE kind = 1) AS hours`

/** Calls of three principals on several tools; every fifth is denied, every seventh stays open. */
async function fill(directory: string, from = 0, to = CALLS): Promise<void> {
  const ledger = Ledger.open({ directory })
  for (let n = from; n < to; n += 10) {
    const group = Array.from({ length: 10 }, (_, k) => append(ledger, n + k))
    await Promise.all(group)
    await ledger.event({ atMs: START + n, name: 'policy', detail: { digest: 'x' } })
    if (n % 40 === 20)
      await ledger.event({
        atMs: START + n,
        name: n % 80 === 20 ? 'approval-denied' : 'approval-approved',
        detail: { request: `held-${(n / 10) % 4}`, by: 'dora' },
      })
  }
  ledger.close()
}

/** What was redacted of the answers of these calls. */
const REDACTED = [
  [11, 'card number'],
  [12, 'IBAN'],
  [13, 'seed phrase'],
] as const

/** Of some requests a later call is the same again, of some a person refuses the last. */
const isHeldHere = (n: number) => n % 25 === 5

function refusal(n: number): Omit<typeof denied, 'action'> & { readonly action: Action } {
  if (isHeldHere(n)) return { ...denied, action: 'require_approval', code: 'APPROVAL_PENDING' }
  if (n % 15 === 0) return { ...denied, code: 'RATE_LIMITED' }
  return n % 20 === 0 ? { ...denied, code: 'APPROVAL_REFUSED' } : denied
}

async function append(ledger: Ledger, n: number): Promise<void> {
  const call = decisionEntry(n, {
    // The clock is temporarily set back in the middle.
    atMs: START + (n >= 100 && n < 120 ? n - 50 : n) * 1_000,
    principal: { id: ['ann', 'ben', 'cleo'][n % 3] as string, kind: 'grant' },
    session: `session-${n % 4}`,
    ...(n % 9 === 1 ? { parent: `call-${n - 1}` } : {}),
    ...(n % 10 === 0 ? { approval: `request-${n % 20}` } : {}),
    ...(isHeldHere(n) || n % 31 === 0
      ? { approval: `held-${n % 5 === 0 ? (n / 5) % 4 : n % 4}` }
      : {}),
    server: ['stripe', 'github'][n % 2] as string,
    name: `tool_${n % 6}`,
    judged:
      n % 4 === 0
        ? {}
        : { 'args.amount': new ExactNumber(`${(n * 7) % 50}.5`), 'args.to': `t${n % 3}` },
    decision: n % 5 === 0 ? refusal(n) : allowed,
  })
  if (n % 5 === 0) await ledger.refuse(call)
  else {
    const seq = await ledger.intent(call)
    const changes = REDACTED.filter(([at]) => at === n).map(
      ([, kind]) => ({ change: 'redacted', kind, count: 2 }) as const,
    )
    if (n % 7 !== 0)
      ledger.outcome(seq, { atMs: call.atMs + 5, status: 'answered', bytes: n, changes })
  }
}

describe('queries', () => {
  let directory: string
  let database: DatabaseSync
  let index: RecordIndex

  beforeAll(async () => {
    directory = freshDirectoryForAll()
    await fill(directory)
    database = openLedgerReadOnly(directory)
    index = new RecordIndex(directory, database)
    return () => {
      index.close()
      database.close()
      rmSync(directory, { recursive: true })
    }
  })

  test('find by all criteria together, newest first, with outcomes', () => {
    const query = { principal: 'ben', server: 'github', name: 'tool_1', action: 'allow', limit: 3 }
    const { calls, next } = queryLedger(database, query, index)
    expect(calls.map(({ record }) => record.callId)).toEqual(['call-289', 'call-283', 'call-277'])
    expect(calls[0]?.outcome).toMatchObject({ status: 'answered', bytes: 289 })
    expect(next).toBe(calls[2]?.record.seq)
  })

  test("find what was redacted by the policy's word for it, and by that of the record", () => {
    const find = (kind: string) =>
      queryLedger(database, { where: `redacted:${kind}` }, index).calls.map(
        ({ record }) => record.callId,
      )
    expect([find('card'), find('card number')]).toEqual([['call-11'], ['call-11']])
    expect([find('iban'), find('seed phrase')]).toEqual([['call-12'], ['call-13']])
    // A secret is one of many kinds: the one that was found is named.
    expect(find('secret')).toEqual([])
  })

  test('find the calls of a program by the call that ran it', () => {
    const { calls } = queryLedger(database, { parent: 'call-9' }, index)
    expect(calls.map(({ record }) => record.callId)).toEqual(['call-10'])
  })

  test('find the calls that a request for approval was about', () => {
    const query = { approval: 'request-10', limit: 2 }
    for (const by of [index, undefined])
      expect(
        queryLedger(database, query, by).calls.map(({ record }) => [
          record.callId,
          record.approval,
        ]),
      ).toEqual([
        ['call-290', 'request-10'],
        ['call-270', 'request-10'],
      ])
  })

  test('a held call is one call: the last record counts, also after a verdict that nobody came back for', () => {
    const { calls } = queryLedger(database, { action: 'require_approval', limit: 1_000 }, index)
    const words = new Set(calls.map(({ became }) => became))
    expect([...words].sort()).toEqual(['deny', 'made again', 'require_approval'])
    const denied = queryLedger(database, { where: 'approver:dora', word: 'deny' }, index).calls
    expect(denied.map(({ record }) => record.approval)).toEqual(['held-2'])
    expect(index.findRefusal('held-2')).toMatchObject({ by: 'dora', text: 'denied by dora' })
    const counts = index.database.prepare(COUNTED).get() ?? {}
    expect([counts.minutes, counts.hours]).toEqual([counts.calls, counts.calls])
    for (const { record, became } of calls.filter(({ became }) => became === 'made again')) {
      const same = queryLedger(
        database,
        { approval: record.approval ?? '', order: 'oldest' },
        index,
      )
      expect([became, same.calls.at(-1)?.became]).not.toContain(undefined)
      expect(same.calls.some((later) => later.record.seq > record.seq)).toBe(true)
    }
  })

  test('a refusal has no outcome, nor does a call that was open at the end', () => {
    const { calls } = queryLedger(database, { code: 'DENIED', limit: 2 }, index)
    expect(calls.map(({ record, outcome }) => [record.kind, outcome])).toEqual([
      ['refusal', null],
      ['refusal', null],
    ])
    const open = queryLedger(database, { limit: 1_000 }, index).calls.find(
      ({ record }) => record.callId === 'call-287',
    )
    expect(open?.outcome).toBeNull()
  })

  test('an unknown text is not found', () => {
    expect(queryLedger(database, { principal: 'nobody' }, index)).toEqual({ calls: [], next: null })
    expect(queryLedger(database, { sinceMs: 9e15 }, index)).toEqual({ calls: [], next: null })
  })

  test('by the index and by reading are the same, page after page', () => {
    const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 })
    const query = fc.record({
      principal: maybe(fc.constantFrom('ann', 'ben', 'cleo', 'nobody')),
      session: maybe(fc.constantFrom('session-0', 'session-3')),
      parent: maybe(fc.constantFrom('call-9', 'call-10')),
      approval: maybe(fc.constantFrom('request-0', 'request-10')),
      server: maybe(fc.constantFrom('stripe', 'github')),
      name: maybe(fc.constantFrom('tool_0', 'tool_3')),
      action: maybe(fc.constantFrom('allow', 'deny', 'hide')),
      code: maybe(fc.constantFrom('ALLOWED', 'DENIED')),
      sinceMs: maybe(fc.integer({ min: -10, max: CALLS }).map((n) => START + n * 1_000)),
      untilMs: maybe(fc.integer({ min: -10, max: CALLS }).map((n) => START + n * 1_000)),
      text: maybe(fc.constantFrom('BEN', 'tool_3', 'Session-1', 'hub/', 'nothing', 'denied')),
      word: maybe(fc.constantFrom(...RECORD_LABELS)),
      where: maybe(
        fc.constantFrom('args.amount > 20', 'args.amount <= 9.5; args.to = t1', 'args.to = t2'),
      ),
      order: maybe(fc.constantFrom('newest', 'oldest')),
      limit: fc.constantFrom(1, 7, 100),
    })
    fc.assert(
      fc.property(query, (given) => {
        const from = given.order === 'oldest' ? 'after' : 'before'
        let next: number | null = from === 'after' ? 0 : Number.MAX_SAFE_INTEGER
        for (let page = 0; page < 3 && next !== null; page++) {
          const asked = { ...given, [from]: next } as Query
          const answer = queryLedger(database, asked, index)
          expect(answer).toEqual(queryLedger(database, asked, undefined))
          next = answer.next
        }
      }),
      runs(100),
    )
  })
})

describe('the index', () => {
  test('follows the ledger in steps', async () => {
    const directory = freshDirectory()
    await fill(directory, 0, 100)
    const database = openLedgerReadOnly(directory)
    const index = new RecordIndex(directory, database)
    onTestFinished(() => index.close())
    onTestFinished(() => database.close())
    expect(index.catchUp(20)).toBe(false)
    expect(index.catchUp()).toBe(true)
    await fill(directory, 100, 120)
    expect(queryLedger(database, { limit: 1 }, index).calls[0]?.record.callId).toBe('call-119')
  })

  test('of another ledger is discarded', async () => {
    const directory = freshDirectory()
    await fill(directory, 0, 100)
    const ask = () => {
      const database = openLedgerReadOnly(directory)
      const index = new RecordIndex(directory, database)
      const { calls } = queryLedger(database, { limit: 1_000 }, index)
      expect(calls).toEqual(queryLedger(database, { limit: 1_000 }, undefined).calls)
      index.close()
      database.close()
      return calls.length
    }
    expect(ask()).toBe(100)
    rmSync(join(directory, 'ledger.db'))
    await fill(directory, 200, 280)
    expect(ask()).toBe(80)
    chmodSync(join(directory, 'ledger-index.db'), 0o644)
    expect(ask()).toBe(80)
  })
})
