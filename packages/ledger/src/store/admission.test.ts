// What every driver of the admission store promises: limits, approval and intent together or not at all.
// In memory, with a ledger in SQLite, each of them behind a driver that is slow on purpose, in PostgreSQL,
// and there behind PgBouncer in transaction mode.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LimitCharge } from '@sluice/policy/calls/counters'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { ZERO } from '@sluice/policy/values/decimal'
import { afterAll, afterEach, test as baseTest, beforeAll, describe, expect } from 'vitest'
import { rate } from '../../../../test/support/counters-model.ts'
import {
  findPgBouncer,
  findPostgres,
  namePgBouncerSuite,
  namePostgresSuite,
  type RunningPgBouncer,
  type RunningPostgres,
  startPgBouncer,
  startPostgres,
} from '../../../../test/support/postgres.ts'
import { Ledger } from '../ledger.ts'
import type { DecisionEntry } from '../records/record.ts'
import { type AdmissionStore, type ChargeRequest, usageOfRoom } from './admission.ts'
import { EmbeddedAdmissionStore } from './memory/admission.ts'
import { openSharedGate } from './postgres/shared-gate.test-support.ts'
import { SlowAdmissionStore } from './slow-admission.test-support.ts'

const NOW = { wallMs: 1_000, monotonicMs: 1_000 }
const ended: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})
const postgres = findPostgres()
const pgBouncer = findPgBouncer()
let server: RunningPostgres | undefined
let pooler: RunningPgBouncer | undefined
beforeAll(async () => {
  if (postgres === undefined) return
  server = await startPostgres(postgres)
  if (pgBouncer !== undefined) pooler = await startPgBouncer(pgBouncer, server)
})
afterAll(async () => {
  await pooler?.end()
  await server?.end()
})

/** One use of an approval `a`; ten of a standing one. */
class FakeApprovals {
  readonly steps: string[] = []
  readonly #left = new Map([
    ['a', 1],
    ['standing', 10],
  ])
  use = (id: string): boolean => this.#take(id)
  takeStanding = (id: string): boolean => this.#take(id)
  executing = (id: string): void => void this.steps.push(`executing ${id}`)
  settled = (id: string): void => {
    this.steps.push(`given back ${id}`)
    this.#left.set(id, (this.#left.get(id) ?? 0) + 1)
  }

  #take(id: string): boolean {
    const left = this.#left.get(id) ?? 0
    if (left > 0) this.#left.set(id, left - 1)
    return left > 0
  }
}

function openLedger(): Ledger {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-admission-'))
  const ledger = Ledger.open({ directory })
  ended.push(() => {
    ledger.close()
    rmSync(directory, { recursive: true })
  })
  return ledger
}

interface Driver {
  readonly name: string
  readonly isHere: boolean
  open(): Promise<OpenStore>
}

interface OpenStore {
  readonly store: AdmissionStore<DecisionEntry>
  /** Of the calls whose intent is written. */
  written(): Promise<readonly string[]>
  head(): number
  /** While it is full no intent can be written. */
  setFull(isFull: boolean): Promise<void>
  /** What became of approvals; undefined if the store itself counts their uses. */
  readonly approvals?: FakeApprovals
}

const EMBEDDED: readonly Driver[] = ['memory', 'sqlite'].flatMap((log) =>
  [false, true].map((isSlow) => ({
    name: isSlow ? `${log}, slow` : log,
    isHere: true,
    open: async () => openEmbedded(log, isSlow),
  })),
)
const DRIVERS: readonly Driver[] = [
  ...EMBEDDED,
  {
    name: namePostgresSuite('postgres', postgres),
    isHere: postgres !== undefined,
    open: () => openShared(server?.url() ?? ''),
  },
  {
    name: namePgBouncerSuite('postgres behind PgBouncer', pgBouncer),
    isHere: postgres !== undefined && pgBouncer !== undefined,
    open: () => openShared(pooler?.url() ?? ''),
  },
]

function openEmbedded(log: string, isSlow: boolean): OpenStore {
  const ledger = log === 'sqlite' ? openLedger() : undefined
  const written: string[] = []
  const disk = { isFull: false }
  const intent = async (entry: DecisionEntry): Promise<number> => {
    if (disk.isFull) throw new Error('the disk is full')
    const sequence = await ledger?.intent(entry)
    const count = written.push(entry.callId)
    return sequence ?? count
  }
  const approvals = new FakeApprovals()
  const inner = new EmbeddedAdmissionStore<DecisionEntry>({
    counters: new MemoryCounters(),
    approvals,
    log: { intent },
  })
  return {
    store: isSlow ? new SlowAdmissionStore(inner) : inner,
    approvals,
    written: async () => written,
    head: () => ledger?.head.seq ?? written.length,
    setFull: async (isFull) => {
      disk.isFull = isFull
    },
  }
}

let lastGate = 0
async function openShared(url: string): Promise<OpenStore> {
  const gate = `gate ${++lastGate}`
  const { connections, store, close } = await openSharedGate(url, gate)
  await connections.query('TRUNCATE sluice.counter, sluice.charge')
  ended.push(close)
  const [full, free] = [
    'ALTER TABLE sluice.ledger ADD CONSTRAINT disk_full CHECK (false) NOT VALID',
    'ALTER TABLE sluice.ledger DROP CONSTRAINT disk_full',
  ]
  return {
    store,
    written: async () => {
      const sql = "SELECT id FROM sluice.ledger WHERE gate = $1 AND kind = 'i' ORDER BY seq"
      return (await connections.query(sql, [gate])).map(({ id }) => String(id))
    },
    head: () => store.head.seq,
    setFull: async (isFull) => void (await connections.query(isFull ? full : free)),
  }
}

function entryOf(callId: string): DecisionEntry {
  return {
    atMs: 1,
    callId,
    principal: { id: 'p', kind: 'local' },
    agent: null,
    session: 's',
    server: 's',
    method: 'tools/call',
    name: 't',
    category: null,
    policy: 'p',
    judged: {},
    argsDigest: null,
    decision: {
      action: 'allow',
      code: 'ALLOWED',
      rule: '',
      reason: '',
      guardrails: [],
      limits: [],
      shadow: [],
    },
  }
}

let lastId = 0
function charge(
  charges: readonly LimitCharge[],
  more: Partial<ChargeRequest<DecisionEntry>> = {},
): ChargeRequest<DecisionEntry> {
  const callId = `call ${++lastId}`
  return { mode: 'charge', callId, charges, now: NOW, entry: entryOf(callId), ...more }
}

const approvalOf = (id: string) => ({ id, isStanding: id !== 'a', argsText: '{}' })

describe.each(DRIVERS)('admission: $name', ({ isHere, open }) => {
  const test = baseTest.skipIf(!isHere)

  test('a limit of one lets one of many calls pass', async () => {
    const { store, written } = await open()
    const calls = Array.from({ length: 6 }, () => charge([rate(1)]))
    const replies = await Promise.all(calls.map((call) => store.admit(call)))
    expect(replies.filter(({ status }) => status === 'admitted')).toHaveLength(1)
    const rest = replies.filter(({ status }) => status !== 'admitted')
    for (const reply of rest)
      expect(reply).toMatchObject({ status: 'full', refused: 0, room: [{ remaining: ZERO }] })
    expect(await written()).toHaveLength(1)
  })

  test('the intent is durable when the call is admitted', async () => {
    const { store, written, head } = await open()
    const request = charge([])
    const reply = await store.admit(request)
    expect(reply).toMatchObject({ status: 'admitted', sequence: head() })
    expect(await written()).toEqual([request.callId])
  })

  test('if one limit is full, no other is charged and the room of each is told', async () => {
    const { store } = await open()
    const [wide, full] = [rate(2, { key: 'wide' }), rate(1, { key: 'full' })]
    await store.admit(charge([full]))
    const reply = await store.admit(charge([wide, full]))
    expect(reply).toMatchObject({ status: 'full', refused: 1 })
    if (reply.status !== 'full') return
    const usage = usageOfRoom([wide, full], reply.room)
    const looks = [wide, full, rate(1, { key: 'other' })].map(
      (each) => usage.look(each, NOW).passes,
    )
    expect(looks).toEqual([true, false, true])
    for (const expected of ['admitted', 'admitted', 'full'])
      expect((await store.admit(charge([wide]))).status).toBe(expected)
  })

  test('an approval is used once, and without it nothing is charged', async () => {
    const { store, approvals } = await open()
    const requests = Array.from({ length: 5 }, () =>
      charge([rate(5)], { approval: approvalOf('a') }),
    )
    const replies = await Promise.all(requests.map((request) => store.admit(request)))
    const found = replies.map(({ status }) => status).sort()
    expect(found).toEqual(['admitted', ...Array.from({ length: 4 }, () => 'approval-used')])
    if (approvals) expect(approvals.steps).toEqual(['executing a'])
    const rest = Array.from({ length: 5 }, () => charge([rate(5)]))
    const after = await Promise.all(rest.map((request) => store.admit(request)))
    expect(after.filter(({ status }) => status === 'admitted')).toHaveLength(4)
  })

  test.each(['a', 'standing'])(
    'if the intent cannot be written, nothing was charged or used: %s',
    async (id) => {
      const { store, approvals, setFull } = await open()
      const request = () => charge([rate(1)], { approval: approvalOf(id) })
      await setFull(true)
      expect(await store.admit(request())).toMatchObject({
        status: 'unavailable',
        why: expect.stringMatching(/disk/),
      })
      if (approvals) expect(approvals.steps).toContain(`given back ${id}`)
      await setFull(false)
      expect((await store.admit(request())).status).toBe('admitted')
    },
  )

  test('an approval that cannot be used or given back admits nothing', async () => {
    const { store, approvals } = await open()
    if (approvals === undefined) return
    const fault = () => {
      throw new Error('broken')
    }
    const request = () => charge([rate(1)], { approval: approvalOf('a') })
    Object.assign(approvals, { use: fault })
    expect((await store.admit(request())).status).toBe('unavailable')
    Object.assign(approvals, { use: () => true, executing: fault, settled: fault })
    expect((await store.admit(request())).status).toBe('unavailable')
    expect((await store.admit(charge([rate(1)]))).status).toBe('admitted')
  })

  test('a probe charges nothing, and says what is full', async () => {
    const { store, written } = await open()
    const probe = { mode: 'probe', charges: [rate(1)], now: NOW } as const
    expect(await store.admit(probe)).toEqual({ status: 'fits' })
    const admitted = await store.admit(charge([rate(1)]))
    expect(await store.admit(probe)).toMatchObject({ status: 'full', refused: 0 })
    expect(await written()).toHaveLength(1)
    if (admitted.status === 'admitted') await store.refund(admitted.receipt)
    expect(await store.admit(probe)).toEqual({ status: 'fits' })
  })
})
