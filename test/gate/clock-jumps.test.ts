// The machine's clock is set by an hour or a year while the gate runs: nothing that has expired is good
// again, no limit lets more through, no session forgets what it saw, and nothing is stuck for good.

import type { DatabaseSync } from 'node:sqlite'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { toDecimal } from '@sluice/policy/values/decimal'
import { describe, expect, test } from 'vitest'
import {
  ada,
  EngineBench,
  makeCall,
  proposed,
  yes,
} from '../../packages/access/src/approvals/engine.test-support.ts'
import { Authenticator } from '../../packages/access/src/identity/callers/authenticator.ts'
import type { Caller } from '../../packages/access/src/identity/callers/caller.ts'
import { Grants } from '../../packages/access/src/identity/callers/grants.ts'
import { AGENT_SESSION_IDLE_MS } from '../../packages/access/src/identity/limits.ts'
import { makeSessions } from '../../packages/access/src/identity/sessions/agent-sessions.test-support.ts'
import { ExpiringMap } from '../../packages/console/src/sign-in/expiring-map.ts'
import { ProcessClock } from '../../packages/ledger/src/store/process-clock.ts'
import { scratchDirectory } from '../support/scratch.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const NO_LEDGER = {} as DatabaseSync

function driven() {
  const now = { wallMs: 1_800_000_000_000, monotonicMs: 0 }
  const clock = new ProcessClock({ wallMs: () => now.wallMs, monotonicMs: () => now.monotonicMs })
  const pass = (ms: number): void => {
    now.wallMs += ms
    now.monotonicMs += ms
  }
  const set = (ms: number): void => {
    now.wallMs += ms
  }
  return { clock, pass, set, now }
}

/** An engine on that clock. */
function engineOn(clock: ProcessClock): EngineBench {
  const b = new EngineBench()
  Object.defineProperty(b, 'nowMs', { get: clock.nowMs })
  return b
}

function stateOf({ engine }: EngineBench, id: string): string | undefined {
  return engine.find(id)?.state
}

describe.each([HOUR_MS, YEAR_MS])('the clock is set by %i ms', (jump) => {
  test('a grant that has ended is not good again', () => {
    const { clock, pass, set } = driven()
    const grants = Grants.open(scratchDirectory())
    const authenticator = new Authenticator({
      grants,
      mayBeLocal: true,
      localPolicy: 'policy',
      nowMs: clock.nowMs,
      sessions: { max: 2, windowMs: AGENT_SESSION_IDLE_MS },
    })
    const terms = { name: 'ann', policy: 'policy', slots: 1, groups: [], explain: false }
    const { token } = grants.add({ ...terms, untilMs: clock.nowMs() + 60_000 }, clock.nowMs())
    const admit = () => authenticator.admit({ token, isLocal: true, audiences: () => [] }) as Caller
    const caller = admit()
    pass(60_000)
    for (const by of [0, -jump, -jump]) {
      set(by)
      expect(admit).toThrow(/^the grant `ann` ended at 2027-01-15T08:01:00.000Z$/)
      expect([caller.holds(), authenticator.callerOf('ann')]).toEqual([false, undefined])
    }
    grants.close()
  })

  test('a standing approval that has expired is not good again', async () => {
    const { clock, pass, set } = driven()
    const b = engineOn(clock)
    const id = await proposed(b, makeCall('{"to":"a"}'))
    await b.engine.decide(id, { ...yes, forAWhile: { forMs: 60_000 } }, ada, 'terminal')
    expect(b.engine.standing).toHaveLength(1)
    pass(60_001)
    expect(b.engine.standing).toHaveLength(0)
    set(-jump)
    expect(b.engine.standing).toHaveLength(0)
    expect((await b.engine.ask(makeCall('{"to":"a"}', { session: 'y' }))).is).not.toBe('standing')
  })

  test('an approval does not outlive its time, and new ones are asked for and decided as ever', async () => {
    const { clock, pass, set } = driven()
    const b = engineOn(clock)
    const id = await proposed(b, makeCall('{"to":"a"}'))
    set(jump)
    clock.nowMs()
    set(-jump)
    await expect(b.engine.decide(id, yes, ada, 'terminal')).rejects.toThrow()
    expect(stateOf(b, id)).toBe('expired')
    const next = await proposed(b, makeCall('{"to":"b"}'))
    pass(30_000)
    await b.engine.decide(next, yes, ada, 'terminal')
    expect((await b.engine.ask(makeCall('{"to":"b"}'))).is).toBe('approved')
  })

  test('what was approved while the clock was ahead ends at the next start', async () => {
    const { clock, set, now } = driven()
    const b = engineOn(clock)
    set(jump + 2 * HOUR_MS)
    const id = await proposed(b, makeCall('{"to":"a"}'))
    await b.engine.decide(id, { ...yes, forAWhile: { forMs: 60_000 } }, ada, 'terminal')
    const other = await proposed(b, makeCall('{"to":"b"}'))
    await b.engine.decide(other, yes, ada, 'terminal')
    set(-jump - 2 * HOUR_MS)
    Object.defineProperty(b, 'nowMs', {
      get: new ProcessClock({ wallMs: () => now.wallMs, monotonicMs: () => now.monotonicMs }).nowMs,
    })
    b.open().recover(NO_LEDGER)
    expect(b.engine.standing).toHaveLength(0)
    expect(stateOf(b, other)).toBe('void')
  })

  test('a session keeps what it saw, and ends after its idle time', () => {
    const { clock, pass, set } = driven()
    const sessions = makeSessions()
    const limit = { max: 2, windowMs: AGENT_SESSION_IDLE_MS }
    const open = () => sessions.open('p', 'token a', limit, clock.steadyMs())
    const first = open()
    first.see(['secret'], clock.steadyMs())
    first.noteUse(clock.steadyMs())
    first.release(clock.steadyMs())
    for (const by of [jump, -2 * jump, jump]) {
      set(by)
      const again = open()
      expect(again.facts(clock.steadyMs()).saw).toEqual(['secret'])
      again.release(clock.steadyMs())
    }
    set(-jump)
    pass(AGENT_SESSION_IDLE_MS)
    expect(open().facts(clock.steadyMs()).saw).toEqual([])
  })

  test('a limit lets no more through, and is open again when its window has passed', () => {
    const { pass, set, now } = driven()
    const counters = new MemoryCounters()
    const one = toDecimal('1')
    if (one === undefined) throw new Error('no decimal')
    const take = { key: 'l|k', kind: 'rate', windowMs: 60_000, max: one, amount: one } as const
    expect(counters.consume([take], now).ok).toBe(true)
    for (const by of [jump, -2 * jump, jump]) {
      set(by)
      expect(counters.consume([take], now).ok).toBe(false)
    }
    set(jump)
    set(-jump)
    pass(60_000)
    expect(counters.consume([take], now).ok).toBe(true)
    // Restored by records of a clock that was ahead: counted as just now, for one window and not for good.
    const restored = new MemoryCounters()
    restored.restore([take], -jump, now)
    expect(restored.consume([take], now).ok).toBe(false)
    pass(60_000)
    expect(restored.consume([take], now).ok).toBe(true)
  })

  test('a code for the console that has expired is not good again', () => {
    const { clock, pass, set } = driven()
    const codes = new ExpiringMap<string>(10, clock.nowMs)
    codes.put('code', 'ada', 1_000)
    pass(1_000)
    set(-jump)
    expect(codes.get('code')).toBeUndefined()
    codes.put('next', 'ada', 1_000)
    pass(999)
    expect(codes.get('next')).toBe('ada')
  })
})
