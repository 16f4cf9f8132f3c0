// Sessions: which connections share one, when it ends, and how many a principal can have.

import { ProcessClock } from '@sluice/ledger/store/process-clock'
import type { LimitCharge } from '@sluice/policy/calls/counters'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { runSteps } from '@sluice/policy/structures/steps'
import { toDecimal, ZERO } from '@sluice/policy/values/decimal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import {
  FAMILY_SESSION_IDLE_MS,
  AGENT_SESSION_IDLE_MS as IDLE_MS,
  SESSION_KEYS_MAX,
  SESSION_PRINCIPALS_KEPT,
  SWEPT_PER_PRINCIPAL,
} from '../limits.ts'
import { makeSessions } from './agent-sessions.test-support.ts'
import type { SessionPast } from './agent-sessions.ts'
import { COMMON_KEY, type SessionLimit } from './agent-sessions.ts'
import { cleanClient, describeSession } from './describe-session.ts'
import type { SessionLease } from './session-lease.ts'
import type { PrincipalLabels, SessionMemory, StoredSession } from './session-memory.ts'

const T = 1_000_000_000
const LIMIT: SessionLimit = { max: 3, windowMs: 2 * IDLE_MS }

class MapMemory implements SessionMemory {
  readonly sessions = new Map<string, StoredSession>()
  readonly labels = new Map<string, PrincipalLabels>()
  load() {
    return { sessions: [...this.sessions.values()], principals: [...this.labels.values()] }
  }
  save(session: StoredSession): void {
    this.sessions.set(session.id, session)
  }
  remove(id: string): void {
    this.sessions.delete(id)
  }
  saveLabels(labels: PrincipalLabels): void {
    this.labels.set(labels.principal, labels)
  }
  removeLabels(principal: string): void {
    this.labels.delete(principal)
  }
}

function used(lease: SessionLease, nowMs: number, ...labels: string[]): SessionLease {
  lease.noteUse(nowMs)
  lease.see(labels, nowMs)
  return lease
}

/** What the ledger has of a session. */
function past(id: string, lastUsedMs: number, calls: number, saw: string[]): SessionPast {
  return { id, lastUsedMs, calls, saw, answerBytes: 0, cost: ZERO }
}

describe('a session', () => {
  test('is shared by connections of one name and by nobody else, and begins empty', () => {
    const sessions = makeSessions()
    const one = used(sessions.open('ann', 'pipe 1', LIMIT, T), T, 'private')
    one.used(undefined)
    const same = sessions.open('ann', 'pipe 1', LIMIT, T + 1)
    expect(same.facts(T + 1)).toEqual({ id: one.id, startedAtMs: T, calls: 1, saw: ['private'] })
    for (const [principal, key] of [
      ['ann', 'pipe 2'],
      ['bob', 'pipe 1'],
    ] as const)
      expect(sessions.open(principal, key, LIMIT, T + 2).facts(T + 2)).toMatchObject({
        calls: 0,
        saw: [],
      })
  })

  test('lives as long as a connection, and for the idle time after the last one', () => {
    const sessions = makeSessions()
    const lease = used(sessions.open('ann', 'pipe 1', LIMIT, T), T, 'private')
    const later = T + 10 * IDLE_MS
    expect(lease.facts(later).saw).toEqual(['private'])
    lease.release(later)
    const back = sessions.open('ann', 'pipe 1', LIMIT, later + IDLE_MS - 1)
    expect(back.id).toBe(lease.id)
    back.release(later + IDLE_MS)
    const fresh = sessions.open('ann', 'pipe 1', LIMIT, later + 2 * IDLE_MS)
    expect(fresh.facts(later + 2 * IDLE_MS)).toMatchObject({ calls: 0, saw: [] })
    expect(fresh.id).not.toBe(lease.id)
  })

  test('of stateless requests ends the idle time after the last of them', () => {
    const sessions = makeSessions()
    const lease = used(sessions.open('ann', COMMON_KEY, LIMIT, T), T)
    lease.release()
    expect(sessions.open('ann', COMMON_KEY, LIMIT, T + IDLE_MS).id).not.toBe(lease.id)
  })

  test('in which nothing happened is forgotten', () => {
    const memory = new MapMemory()
    const sessions = makeSessions({ memory })
    for (let at = 0; at < 10; at += 1) sessions.open('ann', `mcp ${at}`, LIMIT, T + at).release(T)
    expect(sessions.views(T)).toEqual([])
    expect(memory.sessions.size).toBe(0)
  })

  test('past the quota the newest one is joined, also one that has just ended, and is remembered', () => {
    const sessions = makeSessions()
    const leases = [1, 2, 3].map((n) =>
      used(sessions.open('ann', `mcp ${n}`, LIMIT, T), T, `l${n}`),
    )
    const fourth = sessions.open('ann', 'pipe 4', LIMIT, T + 1)
    expect(fourth.facts(T + 1)).toMatchObject({ id: leases[2]?.id, saw: ['l3'] })
    for (const lease of [...leases, fourth]) lease.release(T + 1)
    const end = T + 1 + IDLE_MS
    // All have ended and still count: the newest continues for any connection.
    const again = sessions.open('ann', 'mcp 5', LIMIT, end)
    expect(again.facts(end).saw).toEqual(['l3'])
    expect(sessions.open('ann', 'pipe 4', LIMIT, end).id).toBe(again.id)
    expect(sessions.open('ann', 'mcp 1', LIMIT, end).id).toBe(again.id)
  })

  test('is known by a bounded number of names', () => {
    const memory = new MapMemory()
    const sessions = makeSessions({ memory })
    const one = { max: 1, windowMs: IDLE_MS }
    used(sessions.open('ann', 'mcp 0', one, T), T)
    for (let n = 1; n <= 2 * SESSION_KEYS_MAX; n += 1) sessions.open('ann', `mcp ${n}`, one, T)
    expect([...memory.sessions.values()][0]?.keys).toHaveLength(SESSION_KEYS_MAX)
  })

  test('of a family is one, whatever its agents do, and outlasts others', () => {
    const sessions = makeSessions()
    const lease = sessions.openFamily('f', undefined, T)
    lease.release()
    lease.see(['private'], T)
    const later = T + FAMILY_SESSION_IDLE_MS - 1
    runSteps(sessions.sweep(later))
    expect(sessions.openFamily('f', 'ann', later).facts(later).saw).toEqual(['private'])
  })

  test('that a person ends forgets its labels and still counts', () => {
    const sessions = makeSessions()
    const one = { max: 1, windowMs: IDLE_MS }
    const lease = used(sessions.open('ann', 'mcp 1', one, T), T, 'private')
    const [id = ''] = lease.id.split('@')
    expect(sessions.find(id, T)?.saw).toEqual(['private'])
    expect(sessions.find('bob#0', T)).toBeUndefined()
    sessions.end(lease.id)
    sessions.end('nobody#0@1')
    lease.release(T)
    expect(sessions.views(T)).toEqual([])
    expect(sessions.open('ann', 'mcp 1', one, T).facts(T)).toMatchObject({ id: lease.id, saw: [] })
  })

  test('has a name in words, with what the client says marked as its word', () => {
    const sessions = makeSessions()
    const begun: string[] = []
    sessions.onBegin((view) => void begun.push(describeSession(view)))
    const lease = sessions.open('ann', 'pipe 1', LIMIT, T)
    lease.introduce('claude\u202e"code 1.0', 'notes')
    lease.introduce('another', 'web')
    lease.noteUse(T)
    lease.introduce(undefined, 'mail')
    const name = '"claude??code 1.0" (self-reported) since 1970-01-12 13:46 UTC, uses notes, web'
    expect(begun).toEqual([name])
    expect(sessions.nameOf(lease.id)).toBe(`${name}, mail`)
    expect(sessions.nameOf('gone')).toBe('gone')
    expect(cleanClient('x'.repeat(500)).length).toBeLessThan(100)
    const family = sessions.openFamily('f', undefined, T)
    expect(sessions.nameOf(family.id)).toMatch(/^agents\/f since/)
    expect(sessions.nameOf(sessions.open('bob', 'mcp 1', LIMIT, T).id)).toMatch(
      /^an unnamed client/,
    )
  })
})

describe('label_scope: principal', () => {
  test('labels of any session of the principal, until none has been live for the idle time', () => {
    const memory = new MapMemory()
    const sessions = makeSessions({ memory })
    const one = used(sessions.open('ann', 'mcp 1', LIMIT, T), T, 'private')
    const other = sessions.open('ann', 'mcp 2', LIMIT, T)
    const family = sessions.openFamily('f', 'ann', T)
    one.release(T)
    const later = T + 5 * IDLE_MS
    runSteps(sessions.sweep(later))
    expect(other.facts(later).saw).toEqual([])
    for (const lease of [other, family])
      expect(lease.facts(later, 'principal').saw).toEqual(['private'])
    other.release(later)
    family.see(['secret'], later)
    const restarted = makeSessions({ memory, nowMs: later })
    const third = restarted.open('ann', 'mcp 3', LIMIT, later)
    expect(third.facts(later, 'principal').saw).toEqual(['private', 'secret'])
    third.release(later)
    const end = later + IDLE_MS
    runSteps(restarted.sweep(end))
    expect(restarted.open('ann', 'mcp 4', LIMIT, end).facts(end, 'principal').saw).toEqual([])
    expect(memory.labels.size).toBe(0)
  })
})

describe('a restart', () => {
  test('ends no session: not one that was connected when the gate was killed', () => {
    const memory = new MapMemory()
    const before = makeSessions({ memory })
    const open = used(before.open('a#1@2', 'pipe 1', LIMIT, T), T, 'private')
    used(before.open('a#1@2', 'pipe 2', LIMIT, T), T, 'secret').release(T)
    const later = T + 3 * IDLE_MS
    const after = makeSessions({ memory, nowMs: later, windowMs: LIMIT.windowMs })
    after.restore(past(open.id, T + 5, 7, ['injection']))
    expect(after.open('a#1@2', 'pipe 1', LIMIT, later).facts(later)).toEqual({
      id: open.id,
      startedAtMs: T,
      calls: 7,
      saw: ['private', 'injection'],
    })
    expect(after.open('a#1@2', 'pipe 2', LIMIT, later).facts(later).saw).toEqual([])
  })

  test('counts a session that only the ledger knows', () => {
    const sessions = makeSessions()
    sessions.restore(past('ann#4@500', T, 7, ['private']))
    sessions.restore(past('no session', T, 1, []))
    const lease = sessions.open('ann', 'mcp 1', { max: 1, windowMs: IDLE_MS }, T + 1)
    expect(lease.facts(T + 1)).toEqual({
      id: 'ann#4@500',
      startedAtMs: 500,
      calls: 7,
      saw: ['private'],
    })
    expect(sessions.neededSinceMs(T)).toBe(500)
  })
})

test('a week of connects: what is kept does not grow', () => {
  const memory = new MapMemory()
  const sessions = makeSessions({ memory })
  const sizes: number[] = []
  for (let minute = 0; minute < 7 * 24 * 60; minute += 1) {
    const now = T + minute * 60_000
    for (const who of ['ann', `visitor ${minute}`]) {
      const lease = used(sessions.open(who, `mcp ${minute}`, LIMIT, now), now, 'private')
      lease.introduce('client 1', 'notes')
      lease.release(now)
    }
    if (minute % 60 === 0) runSteps(sessions.sweep(now))
    if (minute % (24 * 60) === 0) sizes.push(memory.sessions.size + sessions.principals)
  }
  expect(Math.max(...sizes.slice(2))).toBeLessThanOrEqual(2 * (sizes[1] ?? 0))
  expect(sessions.views(T).length).toBeLessThan(500)
  expect(sessions.principals).toBeLessThan(SESSION_PRINCIPALS_KEPT)
})

interface Step {
  readonly do: 'open' | 'call' | 'release' | 'restart'
  readonly key: number
  readonly passMs: number
  readonly setMs: number
}

/** What a principal passes, over arbitrary connects, ends, restarts and clock readings, with real counters. */
function passesOf(steps: readonly Step[], limit: SessionLimit, windowMs: number): number[] {
  const now = { wallMs: T, monotonicMs: 0 }
  const clock = new ProcessClock({ wallMs: () => now.wallMs, monotonicMs: () => now.monotonicMs })
  const counters = new MemoryCounters()
  const memory = new MapMemory()
  const start = () => makeSessions({ memory, nowMs: clock.steadyMs(), windowMs: limit.windowMs })
  let sessions = start()
  let leases: SessionLease[] = []
  const passes: number[] = []
  const one = toDecimal('1') as NonNullable<ReturnType<typeof toDecimal>>
  for (const step of steps) {
    now.monotonicMs += step.passMs
    now.wallMs += step.passMs + step.setMs
    const nowMs = clock.steadyMs()
    const lease = leases[step.key % Math.max(1, leases.length)]
    if (step.do === 'open') leases.push(sessions.open('ann', `mcp ${step.key}`, limit, nowMs))
    else if (step.do === 'restart') {
      leases = []
      sessions = start()
    } else if (lease === undefined) continue
    else if (step.do === 'release') {
      leases = leases.filter((each) => each !== lease)
      lease.release(nowMs)
    } else {
      const { id } = lease.facts(nowMs)
      const charge: LimitCharge = { key: id, kind: 'rate', windowMs, max: one, amount: one }
      lease.noteUse(nowMs)
      if (counters.consume([charge], { ...now }).ok) passes.push(now.monotonicMs)
    }
  }
  return passes
}

test('no principal passes more than sessions.max × ceil(W / window) × max in any stretch W', () => {
  const step = fc.record({
    do: fc.constantFrom('open', 'call', 'call', 'release', 'release', 'restart'),
    key: fc.nat(12),
    passMs: fc.constantFrom(0, 1_000, IDLE_MS / 3, IDLE_MS, 2 * IDLE_MS),
    setMs: fc.oneof(fc.constant(0), fc.integer({ min: -9 * IDLE_MS, max: 9 * IDLE_MS })),
  })
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 20, maxLength: 150 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(1, IDLE_MS, 3 * IDLE_MS, 8 * IDLE_MS),
      fc.constantFrom(1_000, IDLE_MS, 3 * IDLE_MS, 8 * IDLE_MS),
      (steps, max, sessionsWindowMs, windowMs) => {
        const limit = { max, windowMs: sessionsWindowMs }
        const passes = passesOf(steps as Step[], limit, windowMs)
        const most = max * Math.ceil(windowMs / sessionsWindowMs)
        for (const [at, from] of passes.entries()) {
          const within = passes.slice(at).filter((ms) => ms - from < windowMs)
          expect(within.length).toBeLessThanOrEqual(most)
        }
      },
    ),
    runs(800),
  )
})

test('finding: very many sessions that are over are not removed in one step, nor by one call', () => {
  const memory = new MapMemory()
  const sessions = makeSessions({ memory })
  const count = 2 * SESSION_PRINCIPALS_KEPT
  for (let n = 0; n < count; n++) used(sessions.openFamily(`f${n}`, undefined, T), T).release()
  const later = T + 2 * FAMILY_SESSION_IDLE_MS
  used(sessions.openFamily('new', undefined, later), later)
  expect(count + 1 - memory.sessions.size).toBeLessThanOrEqual(SWEPT_PER_PRINCIPAL)
  const before = memory.sessions.size
  const steps = sessions.sweep(later)
  for (let n = 0; n < 10; n++) steps.next()
  expect(memory.sessions.size).toBeGreaterThanOrEqual(before - 10)
  runSteps(steps)
  expect([...memory.sessions.keys()]).toEqual([`agents/new#0@${later}`])
})

test('principals without sessions become fewer while new ones come', () => {
  const sessions = makeSessions()
  for (let n = 0; n < 5 * SESSION_PRINCIPALS_KEPT; n++) {
    const now = T + n * 60_000
    sessions.open(`caller ${n}`, 'mcp 1', LIMIT, now).release(now)
  }
  expect(sessions.principals).toBeLessThan(2 * SESSION_PRINCIPALS_KEPT)
})
