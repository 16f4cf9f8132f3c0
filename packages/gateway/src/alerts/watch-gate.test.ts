import { GATE_GONE_MS } from '@sluice/ledger/store/limits'
import { expect, test } from 'vitest'
import { CallInstrumentation } from '../metrics/instrument-calls.ts'
import { Meter } from '../metrics/meter.ts'
import type { PendingDefinition } from '../tools/pins.ts'
import { ALERT_SUBJECTS_LENGTH_MAX } from './limits.ts'
import { listNames } from './list-names.ts'
import { config, listed, type Outbox, openOutbox, openRows } from './outbox.test-support.ts'
import { GateWatch, type WatchedGate } from './watch-gate.ts'

/** What a watched gate is like; tests change it. */
interface State {
  readonly meter: Meter
  failing: readonly string[]
  answered: readonly string[]
  held: readonly string[]
  decided: readonly string[]
  tools: readonly string[]
  limits: readonly string[]
  ledger: 'writing' | 'reserve'
  problems: readonly string[] | undefined
  storeFault: string | undefined
  isLive: boolean
}

const QUIET = {
  failing: [],
  answered: [],
  held: [],
  decided: [],
  tools: [],
  limits: [],
  ledger: 'writing',
  problems: undefined,
  storeFault: undefined,
  isLive: true,
} as const

function watchGate(outbox: Outbox): { readonly state: State; readonly watch: GateWatch } {
  const state: State = { ...QUIET, meter: new Meter() }
  const gate: WatchedGate = {
    config,
    lookMs: 10_000,
    alerts: outbox.alerts,
    meter: state.meter,
    servers: () => ['a', 'b', 'c'],
    notes: {
      failureOf: (name) =>
        state.failing.includes(name) ? ({ message: 'secret' } as never) : undefined,
      hasAnswered: (name) => state.answered.includes(name),
    },
    pendingDefinitions: () =>
      state.held.map(
        (digest) =>
          ({
            digest,
            tool: { definition: { server: 's', name: digest } },
          }) as unknown as PendingDefinition,
      ),
    isDecided: (digest) => state.decided.includes(digest),
    newTools: () => state.tools.map((name) => ({ server: 's', name, atMs: 1 })),
    limits: async () =>
      state.limits.map((whose) => ({
        key: `/tools/a~1b|rate|1|principal|${whose.length}:${whose}`,
        id: whose,
        kind: 'rate',
        windowMs: 1,
        used: '8',
        max: '10',
        share: 0.8,
      })),
    ledgerState: () => state.ledger,
    verified: () => state.problems && { problems: state.problems },
    storeFault: () => state.storeFault,
    nowMs: () => outbox.nowMs,
    gates: async () => {
      const { isLive } = state
      return [
        { name: 'g1', isLive: false, state: 'ready', seenAt: '1969-12-30' } as never,
        { name: 'g2', isLive, state: 'ready', seenAt: '1970-01-01' } as never,
        { name: 'g3', isLive, state: isLive ? 'ready' : 'stopped' } as never,
      ]
    },
  }
  return { state, watch: new GateWatch(gate) }
}

/** Calls of one tool that end like this. */
function decide(
  meter: Meter,
  how: { readonly action: string; readonly code?: string; readonly session?: string },
  times: number,
): void {
  const { action, code = 'X', session = 'ann#1@1794819081355' } = how
  const watched = {
    call: { server: 'a', name: 't', method: 'tools/call' },
    facts: { tool: {}, session: { id: session } },
  }
  const calls = new CallInstrumentation(meter, undefined)
  for (let at = 0; at < times; at++)
    calls.begin(watched as never, undefined).decided({ action, code } as never, 'id')
}

function denialsPage(session: string, nowMs: number): string {
  return `/ledger?word=deny&session=${encodeURIComponent(session)}&order=oldest&sinceMs=${nowMs - 300_000}`
}

test('what is new since the last look is told, once, and again when it is over', async () => {
  const outbox = openOutbox()
  const { sent } = outbox
  const { state, watch } = watchGate(outbox)
  await watch.look()
  expect(sent).toEqual([])
  decide(state.meter, { action: 'allow' }, 12)
  decide(state.meter, { action: 'deny' }, 18)
  Object.assign(state, { failing: ['b'], held: ['d1'], tools: ['x, s/y'] })
  state.limits = ['ann']
  state.ledger = 'reserve'
  state.isLive = false
  await watch.look()
  const inWords = () =>
    sent.map(({ kind, page, facts }) => [kind, page, ...facts.map(({ value }) => value)])
  expect(inWords()).toEqual([
    [
      'denials',
      denialsPage('ann#1@1794819081355', outbox.nowMs),
      '18 of 30 calls in 5 minutes',
      'a/t (18)',
      'ann (18)',
      'ann#1 (18)',
    ],
    ['limit', '/overview?section=limits', '8 of 10, ann'],
    ['server', '/servers/b', 'b'],
    ['definition', '/servers/s?section=definitions', 's/d1'],
    ['tools', '/servers/s?show=new', '"s/x, s/y"'],
    ['ledger', '/settings?section=data', 'the disk is full'],
    ['gate', '/settings?section=data', 'g2'],
  ])
  expect(JSON.stringify(sent)).not.toContain('secret')
  // Within `every`: told later, together.
  state.failing = ['a', 'b', 'c']
  await watch.look()
  await watch.look()
  expect(sent).toHaveLength(7)
  outbox.nowMs += 60_000
  await watch.look()
  await watch.look()
  expect(inWords().slice(7)).toEqual([['server', '/servers', 'a, c']])
  expect(sent.at(-1)).toMatchObject({ title: '2 servers are failing', suppressed: 0 })
  decide(state.meter, { action: 'allow' }, 30)
  Object.assign(state, { failing: ['c'], held: [], tools: [], limits: [] })
  state.ledger = 'writing'
  state.isLive = true
  await watch.look()
  expect(sent.slice(8).map(({ title }) => title)).toEqual([
    'Few calls are denied again',
    'The limit has room again',
    'The server is no longer failing',
    'Calls are recorded again',
    'The gate is back',
  ])
  const ongoing = (await listed(outbox)).filter(({ overAtMs }) => overAtMs === undefined)
  expect(ongoing).toMatchObject([{ kind: 'server', subjects: ['a', 'c'] }])
  state.problems = ['record 1 was edited, or its hash']
  await watch.look()
  expect(sent.at(-1)?.title).toBe('The chain of the ledger does not verify')
})

test('an alert of denials names all callers and sessions, the worst first, and leads to the worst', async () => {
  const outbox = openOutbox()
  const { state, watch } = watchGate(outbox)
  const session = (caller: string, number: number) => `${caller}#${number}@1794819081355`
  // What was denied before the period is not counted, however much it was.
  decide(state.meter, { action: 'allow' }, 6_000)
  decide(state.meter, { action: 'deny', session: session('bob', 1) }, 5_000)
  for (let at = 0; at < 30; at++) await watch.look()
  decide(state.meter, { action: 'allow' }, 302)
  decide(state.meter, { action: 'deny', session: session('ops', 33) }, 60)
  for (let at = 0; at < 12; at++) await watch.look()
  decide(state.meter, { action: 'hide', session: session('bob', 1) }, 1)
  decide(state.meter, { action: 'deny', session: session('ops', 34) }, 700)
  for (let at = 1; at < 5; at++)
    decide(state.meter, { action: 'deny', session: session('eve', at) }, 9)
  await watch.look()
  const [{ facts, page } = { facts: [], page: '' }] = outbox.sent
  expect(Object.fromEntries(facts.map(({ name, value }) => [name, value]))).toEqual({
    Denied: '797 of 1099 calls in 5 minutes',
    Mostly: 'a/t (797)',
    Callers: 'ops (760), eve (36), bob (1)',
    Sessions: 'ops#34 (700), ops#33 (60), eve#1 (9), eve#2 (9), eve#3 (9) and 2 more',
  })
  expect(page).toBe(denialsPage(session('ops', 34), outbox.nowMs))
})

test('a gate that has just started ends an alert when it knows, and not before', async () => {
  const rows = openRows()
  const before = openOutbox({ rows })
  const first = watchGate(before)
  const { meter } = first.state
  decide(meter, { action: 'allow' }, 12)
  decide(meter, { action: 'deny' }, 18)
  const so = { failing: ['a', 'b'], held: ['d'], problems: ['record 1 was edited'], isLive: false }
  Object.assign(first.state, so)
  await first.watch.look()
  await new Promise((resolve) => setTimeout(resolve, 5))
  const kinds = ['definition', 'denials', 'gate', 'ledger', 'server']
  expect(before.sent.map(({ kind }) => kind).sort()).toEqual(kinds)

  const outbox = openOutbox({ rows })
  const { state, watch } = watchGate(outbox)
  state.isLive = false
  const open = async () => {
    await watch.look()
    const ongoing = (await listed(outbox)).filter(({ overAtMs }) => overAtMs === undefined)
    return ongoing.map(({ kind }) => kind).sort()
  }
  expect(await open()).toEqual(kinds)
  // Of two servers one has answered.
  state.answered = ['a']
  expect(await open()).toEqual(kinds)
  Object.assign(state, { answered: ['a', 'b'], decided: ['d'], problems: [], isLive: true })
  expect(await open()).toEqual(['denials'])
  for (let at = 0; at < 30; at++) await watch.look()
  expect(await open()).toEqual([])
  // None was told a second time.
  expect(outbox.sent.map(({ title }) => title)).toEqual([
    'The servers are no longer failing',
    'The chain of the ledger verifies again',
    'The gate is back',
    'Few calls are denied again',
  ])
})

test('an alert about thousands of counters is stored with few, and all are told once, at any gate', async () => {
  const rows = openRows()
  const gates = ['north', 'south'].map((gate) => openOutbox({ rows, gate }))
  const watched = gates.map(watchGate)
  for (const { state } of watched)
    state.limits = Array.from({ length: 5_000 }, (_, at) => `${at}${'x'.repeat(200)}`)
  for (let look = 0; look < 3; look++)
    for (const [at, outbox] of gates.entries()) {
      await watched[at]?.watch.look()
      outbox.nowMs += 60_000
    }
  const titles = gates.flatMap(({ sent }) => sent.map(({ title }) => title))
  expect(titles).toEqual(['5000 limits are nearly full'])
  const subjects = (await listed(gates[0] as Outbox))[0]?.subjects ?? []
  expect(subjects.length).toBeGreaterThan(100)
  expect(subjects.join('').length).toBeLessThanOrEqual(ALERT_SUBJECTS_LENGTH_MAX)
})

test('a fault of the shared store is told if it lasts until the next look', async () => {
  const outbox = openOutbox()
  const { state, watch } = watchGate(outbox)
  for (const fault of ['slow', undefined, 'gone', 'gone', 'gone', undefined]) {
    state.storeFault = fault
    await watch.look()
  }
  expect(outbox.sent.map(({ title, facts }) => [title, facts[0]?.value])).toEqual([
    ['Calls cannot be recorded, and none is forwarded', 'gone'],
    ['Calls are recorded again', 'gone'],
  ])
})

test('P1: while the store cannot be written, calls that wait for it are no denials and no gate is said to be lost', async () => {
  const outbox = openOutbox()
  const { state, watch } = watchGate(outbox)
  await watch.look()
  decide(state.meter, { action: 'deny', code: 'GATE_UNAVAILABLE' }, 30)
  expect(state.meter.decisions.map(({ labels }) => labels.action)).toEqual(['unavailable'])
  expect([...state.meter.refusals]).toEqual([])
  Object.assign(state, { isLive: false, storeFault: 'the shared store refuses to write' })
  await watch.look()
  await watch.look()
  // Looks soon after it: the other gates may not have said yet that they are there.
  state.storeFault = undefined
  await watch.look()
  state.isLive = true
  await watch.look()
  expect(outbox.sent.map(({ title }) => title)).toEqual([
    'Calls cannot be recorded, and none is forwarded',
    'Calls are recorded again',
  ])
  state.isLive = false
  outbox.nowMs += GATE_GONE_MS
  await watch.look()
  expect(outbox.sent.at(-1)?.title).toBe('A gate does not answer')
})

test('names of an alert are few and short, and none passes for two', () => {
  expect(listNames(['a/b', 'x, a/c', 'y\n> At: never'])).toBe('a/b, "x, a/c", "y\\n> At: never"')
  const many = listNames(Array.from({ length: 5_000 }, (_, at) => `${at}${'n'.repeat(2_000)}`))
  expect(many.length).toBeLessThan(1_500)
  expect(many).toMatch(/n… and 4990 more$/)
})
