import { sampleFacts } from '@sluice/policy/cases/sample-facts'
import type { Decision } from '@sluice/policy/core/decision'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CallInstrumentation, type CallWithFacts } from '../../gateway/metrics/instrument-calls.ts'
import { Meter } from '../../gateway/metrics/meter.ts'
import { LIVE_ROWS_A_TICK, LIVE_TICK_MS, LIVE_TICKS_KEPT } from '../contract/console-limits.ts'
import type { LiveSecond, LiveSnapshot, LiveTick } from '../contract/contract-live.ts'
import { LiveHub } from './live-hub.ts'

const ALLOWED = { action: 'allow', code: 'ALLOWED' } as const
const DENIED = { action: 'deny', code: 'DENIED' } as const

function decision(verdict: Pick<Decision, 'action' | 'code'>): Decision {
  return {
    ...verdict,
    rule: '/default',
    reason: 'because',
    guardrails: [],
    limits: [],
    retryAfterMs: 0,
    approvals: [],
    shadow: [],
  }
}

const watched: CallWithFacts = {
  call: { server: 'notes', method: 'tools/call', name: 'add', args: {} },
  facts: sampleFacts(undefined),
}

function look(before = 0) {
  const meter = new Meter()
  const watch = new CallInstrumentation(meter, undefined)
  for (let at = 0; at < before; at++)
    watch.begin(watched, undefined).decided(decision(ALLOWED), `${at}`)
  const hub = new LiveHub({ meter, watch, nowMs: Date.now })
  const pass = (verdict: Pick<Decision, 'action' | 'code'>, id: string) => {
    const call = watch.begin(watched, undefined)
    call.decided(decision(verdict), id)
    return call
  }
  const viewer = (last?: string) => {
    const ticks: LiveTick[] = []
    const ids: string[] = []
    const hellos: LiveSnapshot[] = []
    const feed = {
      send: (_: string, data: unknown) => hellos.push(structuredClone(data) as LiveSnapshot) > 0,
      sendBytes: (bytes: Uint8Array) => {
        const [, id = '', data = ''] =
          /^id: (.*)\nevent: tick\ndata: (.*)\n\n$/.exec(`${bytes}`) ?? []
        ticks.push(JSON.parse(data))
        ids.push(id)
        return true
      },
    }
    return { ticks, ids, hellos, ...hub.join(feed, last) }
  }
  return { hub, watch, pass, viewer }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('nothing is gathered while nobody looks', () => {
  const { watch, viewer, hub } = look()
  expect(watch.tap).toBeUndefined()
  const { leave } = viewer()
  expect(watch.tap).toBe(hub)
  leave()
  vi.advanceTimersByTime(LIVE_TICK_MS * (LIVE_TICKS_KEPT + 2))
  expect(watch.tap).toBeUndefined()
})

test('calls from before the first look are not counted as calls of the last minutes', () => {
  const { pass, viewer } = look(8_000)
  pass(DENIED, 'd')
  const [hello] = viewer().hellos
  expect(hello?.seconds.flatMap(({ counts }) => counts)).toEqual([['notes', 'unknown', 'deny', 1]])
})

test('counters are exact however many calls pass; rows are few, refusals first', () => {
  const { pass, viewer } = look()
  const { ticks } = viewer()
  for (let at = 0; at < 300; at++) pass(ALLOWED, `a${at}`)
  for (let at = 0; at < 5; at++) pass(DENIED, `d${at}`)
  vi.advanceTimersByTime(LIVE_TICK_MS)
  const [tick] = ticks
  const sum = (word: string) =>
    tick?.counts.reduce((all, [, , of, n]) => all + (of === word ? n : 0), 0)
  expect([sum('allow'), sum('deny')]).toEqual([300, 5])
  expect(tick?.rows.length).toBe(LIVE_ROWS_A_TICK)
  expect(tick?.rows.filter(({ word }) => word === 'deny').length).toBe(5)
  expect(tick?.left).toBe(305 - LIVE_ROWS_A_TICK)
})

test('A1: the last five minutes are counted exactly, whenever somebody comes to look', () => {
  const { pass, viewer } = look()
  const sum = (seconds: readonly LiveSecond[] = []) =>
    seconds.flatMap(({ counts }) => counts).reduce((all, [, , , n]) => all + n, 0)
  const startMs = Date.now()
  for (let second = 0; second < 400; second++) {
    for (let at = 0; at < 20; at++) pass(ALLOWED, `c${second}-${at}`)
    vi.advanceTimersByTime(1_000)
  }
  pass(DENIED, 'of this second')
  const first = viewer()
  expect(sum(first.hellos[0]?.seconds)).toBe(20 * 300 + 1)
  expect(first.hellos[0]?.sinceMs).toBe(Date.now() - 300_000)
  // Somebody else comes in the middle of a tick: no call is counted twice, none is left out.
  pass(ALLOWED, 'before')
  vi.advanceTimersByTime(LIVE_TICK_MS / 2)
  const second = viewer()
  pass(ALLOWED, 'after')
  vi.advanceTimersByTime(LIVE_TICK_MS)
  expect([first, second].map(({ hellos, ticks }) => sum(hellos[0]?.seconds) + sum(ticks))).toEqual([
    20 * 300 + 3,
    20 * 300 + 3,
  ])
  expect(look().viewer().hellos[0]?.sinceMs).toBe(Date.now())
  expect(startMs).toBeLessThan(Date.now() - 300_000)
})

test('A6: waiting for a person is no latency', () => {
  const meter = new Meter()
  const call = new CallInstrumentation(meter, undefined).begin(watched, undefined)
  call.step('decide')
  vi.advanceTimersByTime(23_000)
  call.waited()
  call.step('limits')
  call.settled({ status: 'answered' } as never)
  expect(meter.steps.total.sumMs).toBeLessThan(1_000)
  expect(meter.steps.limits.sumMs).toBeLessThan(1_000)
})

test('more refusals than fit are counted as left out, and told calls have no rows beside them', () => {
  const { pass, viewer } = look()
  const { ticks } = viewer()
  const plain = pass(ALLOWED, 'plain')
  for (let at = 0; at < LIVE_ROWS_A_TICK + 3; at++) pass(DENIED, `d${at}`)
  vi.advanceTimersByTime(LIVE_TICK_MS)
  expect(ticks[0]?.rows.map(({ word }) => word)).toEqual(Array(LIVE_ROWS_A_TICK).fill('deny'))
  expect(ticks[0]?.left).toBe(4)
  // Nobody was shown it, so nobody is told how it ended.
  plain.settled({ status: 'answered' } as never)
  pass(ALLOWED, 'next')
  vi.advanceTimersByTime(LIVE_TICK_MS)
  expect(ticks[1]?.settled).toEqual([])
})

test('counters stay exact over many series that come one by one, and are the same for everybody', () => {
  const { watch, viewer } = look()
  const [one, other] = [viewer(), viewer()]
  let made = 0
  for (let tool = 0; tool < 1_000; tool++) {
    const call = { ...watched.call, server: `s${tool}` }
    watch.begin({ ...watched, call }, undefined).decided(decision(ALLOWED), `c${tool}`)
    made++
    if (tool % 100 === 0) vi.advanceTimersByTime(LIVE_TICK_MS)
  }
  vi.advanceTimersByTime(LIVE_TICK_MS)
  const sum = (ticks: LiveTick[]) =>
    ticks.flatMap(({ counts }) => counts).reduce((all, [, , , n]) => all + n, 0)
  const took = (ticks: LiveTick[]) =>
    ticks.flatMap(({ latency }) => latency).reduce((all, n) => all + n, 0)
  expect([sum(one.ticks), sum(other.ticks)]).toEqual([made, made])
  expect(took(one.ticks)).toBe(0)
  expect(one.ticks).toEqual(other.ticks)
})

test('a call that ends later is told again, one that ended has its time', () => {
  const { pass, viewer } = look()
  const { ticks } = viewer()
  const slow = pass(ALLOWED, 'slow')
  const fast = pass(ALLOWED, 'fast')
  fast.settled({ status: 'answered' } as never)
  vi.advanceTimersByTime(LIVE_TICK_MS)
  expect(ticks[0]?.rows.map(({ callId, status }) => [callId, status])).toEqual([
    ['slow', null],
    ['fast', 'answered'],
  ])
  expect(ticks[0]?.settled).toEqual([])
  slow.settled({ status: 'error' } as never)
  vi.advanceTimersByTime(LIVE_TICK_MS)
  expect(ticks[1]?.settled.map(([id, status]) => [id, status])).toEqual([['slow', 'error']])
})

test('whoever lost the stream gets what came since, and is told where that is not known', () => {
  const { pass, viewer } = look()
  const first = viewer()
  pass(ALLOWED, 'one')
  vi.advanceTimersByTime(LIVE_TICK_MS)
  first.leave()
  pass(DENIED, 'two')
  vi.advanceTimersByTime(LIVE_TICK_MS)
  const again = viewer(first.ids.at(-1))
  expect(again.resumed).toBe(true)
  expect(again.ticks.flatMap(({ rows }) => rows.map(({ callId }) => callId))).toEqual(['two'])
  expect(viewer('12').resumed).toBe(false)
  expect(viewer('not a number').resumed).toBe(false)
})
