// Counters and sessions over a restart: by what was noted they are as by the record alone, and a note
// that is not trusted is not used.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { deriveSigningKey } from '@sluice/access/identity/keys/signing-key'
import { makeSessions } from '@sluice/access/identity/sessions/agent-sessions.test-support'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { allowed, decisionEntry, take } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { EntryHider } from '@sluice/ledger/records/hide-entry'
import { compile } from '@sluice/policy/compile/compile'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { formatDecimal } from '@sluice/policy/values/decimal'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SLICE_MS } from '../shared/limits.ts'
import { STATE_COUNTER_EVENTS_MAX, STATE_EVENTS_MAX } from './limits.ts'
import { restoreState } from './restore-state.ts'
import { readState, writeState } from './state-file.ts'

const hider = new EntryHider(Buffer.alloc(32), {
  know: (name) => name,
  tokenOf: () => undefined,
  version: 0,
})
const WINDOW_MS = 3_600_000
const one = { ...take, key: 'one', windowMs: WINDOW_MS, max: { units: 100n, scale: 0 } }
const money = { ...one, key: 'money', amount: { units: 125n, scale: 2 } }
const { policy } = compile(
  {
    file: 'p',
    text: 'version: 1\ndefault: allow\ncategories:\n  Write: { action: allow, rate_limit: { max: 1, window: 1h } }',
  },
  {},
)
/** Its longest window is an hour. */
const POLICIES = { all: [policy as CompiledPolicy] }

function parts() {
  const data = mkdtempSync(join(tmpdir(), 'sluice-state-'))
  onTestFinished(() => rmSync(data, { recursive: true }))
  return { data, key: deriveSigningKey(InstallationKey.at(data)) }
}

/** Calls of a session, each taking from both counters; the answers bring a label in. */
async function callAll(ledger: Ledger, count: number, session: string): Promise<number[]> {
  const seqs: number[] = []
  for (let n = 0; n < count; n++) {
    const decision = { ...allowed, limits: [one, money] }
    const atMs = Date.now() - 1_000
    seqs.push(await ledger.intent(decisionEntry(n, { atMs, session, decision })))
  }
  return seqs
}

/** What is left of both, and what the session has done. */
function left(data: string, key: ReturnType<typeof parts>['key']) {
  const { counters, sessions } = restoreState({
    directory: data,
    policies: POLICIES,
    key,
    sessions: makeSessions(),
    hider,
  })
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  const remaining = [one, money].map((each) => formatDecimal(counters.look(each, now).remaining))
  return { remaining, slots: [...sessions.list(Date.now())] }
}

test('a start goes on from what was noted and reads only what came behind it', async () => {
  const { data, key } = parts()
  const session = `ann#0@${Date.now() - 5_000}`
  const ledger = Ledger.open({ directory: data })
  const [first] = await callAll(ledger, 4, session)
  const before = restoreState({
    directory: data,
    policies: POLICIES,
    key,
    sessions: makeSessions(),
    hider,
  })
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  expect(formatDecimal(before.counters.look(one, now).remaining)).toBe('96')
  expect(await writeState({ data, key, ...before }, ledger.head)).toBe(true)
  // An answer to a call from before it brings a label in, and two more calls come.
  ledger.outcome(first as number, { atMs: Date.now(), status: 'answered', labels: ['secret'] })
  await callAll(ledger, 2, session)
  ledger.close()
  const reader = openLedgerReadOnly(data)
  expect(readState(data, key, reader, Date.now())).toMatchObject({ seq: 4 })
  reader.close()
  const { remaining, slots } = left(data, key)
  expect(remaining).toEqual(['94', '92.5'])
  rmSync(join(data, 'gate-state.json'))
  expect(left(data, key)).toEqual({ remaining, slots })
  expect(slots).toMatchObject([{ id: session, calls: 6, saw: ['secret'] }])
})

test('a note that was edited, is for another record, or of another key is not used', async () => {
  const { data, key } = parts()
  const ledger = Ledger.open({ directory: data })
  await callAll(ledger, 3, `ann#0@${Date.now() - 5_000}`)
  const { head } = ledger
  ledger.close()
  const state = restoreState({
    directory: data,
    policies: POLICIES,
    key,
    sessions: makeSessions(),
    hider,
  })
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  state.counters.restore([one], 0, now)
  const reader = openLedgerReadOnly(data)
  onTestFinished(() => reader.close())
  const found = (with_ = key, atMs = Date.now()) => readState(data, with_, reader, atMs)
  await writeState({ data, key, ...state }, head)
  expect(found()).toMatchObject({ seq: 3 })
  expect(found(key, now.wallMs - 60_000)).toBeUndefined()
  expect(found(deriveSigningKey(new InstallationKey(Buffer.alloc(32, 1))))).toBeUndefined()
  const file = join(data, 'gate-state.json')
  const text = readFileSync(file, 'utf8')
  for (const edited of [text.replace('"one"', '"two"'), text.slice(0, -1), '', '{}', 'x\n{}']) {
    writeFileSync(file, edited)
    expect(found()).toBeUndefined()
  }
  await writeState({ data, key, ...state }, { ...head, hash: '00'.repeat(32) })
  expect(found()).toBeUndefined()
  rmSync(file)
  expect(found()).toBeUndefined()
})

test('a counter with more events than are noted one by one becomes tighter, never looser', () => {
  const { data, key } = parts()
  Ledger.open({ directory: data }).close()
  const { counters } = restoreState({
    directory: data,
    policies: POLICIES,
    key,
    sessions: makeSessions(),
    hider,
  })
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  for (let n = 50; n > 0; n--) counters.restore([one], n * 1_000, now)
  const [dumped] = counters.dump(now, 10)
  expect(dumped?.ages.length).toBeLessThanOrEqual(10)
  expect(Math.max(...(dumped?.ages ?? []))).toBeLessThanOrEqual(50_000)
  expect(formatDecimal(counters.look(one, now).remaining)).toBe('50')
})

test('a session that was never used is not part of the snapshot', () => {
  const sessions = makeSessions()
  const limit = { max: 3, windowMs: 1_000 }
  sessions.open('ann', 'mcp 1', limit, 1_000).noteUse(2_000)
  sessions.open('ann', 'mcp 2', limit, 1_000)
  expect([...sessions.list(3_000)].map(({ id }) => id)).toEqual(['ann#0@1000'])
})

test('the database of a ledger is only read', () => {
  const { data, key } = parts()
  Ledger.open({ directory: data }).close()
  restoreState({ directory: data, policies: POLICIES, key, sessions: makeSessions(), hider })
  const database = new DatabaseSync(join(data, 'ledger.db'))
  expect(database.prepare('SELECT count(*) AS n FROM blocks').get()).toEqual({ n: 0 })
  database.close()
})

test('finding: many counters are noted in slices, with what is charged meanwhile', async () => {
  const { data, key } = parts()
  const ledger = Ledger.open({ directory: data })
  await callAll(ledger, 1, `ann#0@${Date.now() - 5_000}`)
  const state = restoreState({
    directory: data,
    policies: POLICIES,
    key,
    sessions: makeSessions(),
    hider,
  })
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  const chargeOf = (n: number) => ({ ...one, key: `many|${n}` })
  for (let n = 0; n < 100; n++) state.counters.consume([chargeOf(n)], now)
  // Every look at the clock is one slice later.
  let clockMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (clockMs += SLICE_MS))
  const written = writeState({ data, key, ...state }, ledger.head)
  let turns = 0
  const count = (): void => {
    if (++turns === 10) state.counters.consume([chargeOf(99)], { ...now, monotonicMs: clockMs })
    turning = setImmediate(count)
  }
  let turning = setImmediate(count)
  expect(await written).toBe(true)
  clearImmediate(turning)
  clock.mockRestore()
  expect(turns).toBeGreaterThan(50)
  ledger.close()
  const { counters } = restoreState({
    directory: data,
    policies: POLICIES,
    key,
    sessions: makeSessions(),
    hider,
  })
  const later = { wallMs: Date.now(), monotonicMs: performance.now() }
  const leftOf = (n: number) => formatDecimal(counters.look(chargeOf(n), later).remaining)
  expect([leftOf(0), leftOf(98), leftOf(99)]).toEqual(['99', '99', '98'])
})

test('more events than are noted leave the file as it was', async () => {
  const { data, key } = parts()
  const ledger = Ledger.open({ directory: data })
  await callAll(ledger, 1, `ann#0@${Date.now() - 5_000}`)
  const state = restoreState({
    directory: data,
    policies: POLICIES,
    key,
    sessions: makeSessions(),
    hider,
  })
  expect(await writeState({ data, key, ...state }, ledger.head)).toBe(true)
  const before = readFileSync(join(data, 'gate-state.json'), 'utf8')
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  const charges = Array.from({ length: STATE_COUNTER_EVENTS_MAX }, () => one)
  const counters = Math.ceil(STATE_EVENTS_MAX / STATE_COUNTER_EVENTS_MAX) + 1
  for (let n = 0; n < counters; n++)
    state.counters.restore(
      charges.map((charge) => ({ ...charge, key: `many|${n}` })),
      0,
      now,
    )
  expect(await writeState({ data, key, ...state }, ledger.head)).toBe(false)
  expect(readFileSync(join(data, 'gate-state.json'), 'utf8')).toBe(before)
  ledger.close()
})
