import { parseDecimal } from '@sluice/policy/core/decimal'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { expect, onTestFinished, test } from 'vitest'
import { scratchDirectory } from '../../../../../test/support/scratch.ts'
import { buildAlertBody, composeAlertMail } from '../../approvals/channels/alert-message.ts'
import { ALERT_KINDS, type Alert, type SentAlert } from '../../core/alert.ts'
import type { AdmissionStore } from '../../store/admission.ts'
import { openGateStore } from '../data/gate-store.ts'
import { Meter } from '../metrics/meter.ts'
import type { PendingDefinition } from '../tools/pins.ts'
import { Alerts, type ListedAlert } from './alerts.ts'
import { describeLimitKey, nameCounterOwner } from './describe-limit.ts'
import { ALERTS_KEPT, LIMITS_LOOKED_MAX } from './limits.ts'
import { LimitsInUse } from './limits-in-use.ts'
import { listNames } from './list-names.ts'
import { StoredAlerts } from './stored-alerts.ts'
import { GateWatch, type WatchedGate } from './watch-gate.ts'

const config = {
  on: [...ALERT_KINDS],
  channels: ['webhook' as const],
  everyMs: 60_000,
  denialsPercent: 50,
  limitPercent: 80,
  verifyMs: 86_400_000,
}

/** A name that drives a terminal, a chat and a mail program where it is not escaped. */
const HOSTILE =
  '\u001b[2J<!channel> <https://evil.example|Approve> [x](https://evil.example) <img src=x>'

function alertOf(kind: Alert['kind'], title = 'something'): Alert {
  return { kind, title, facts: [{ name: 'Server', value: 'office' }], page: '/servers' }
}

interface Outbox {
  readonly alerts: Alerts
  readonly sent: SentAlert[]
  readonly events: { readonly detail: object }[]
  readonly faults: unknown[]
  nowMs: number
}

function openOutbox({
  on = [...ALERT_KINDS] as string[],
  fails = false,
  stored = [] as ListedAlert[],
  onSave = (_: readonly ListedAlert[]) => {},
} = {}): Outbox {
  const [sent, events, faults]: [SentAlert[], { detail: object }[], unknown[]] = [[], [], []]
  const email = { channel: 'email', alert: () => Promise.reject(new Error('refused')) }
  const webhook = { channel: 'webhook', alert: async (alert: SentAlert) => void sent.push(alert) }
  const outbox = { sent, events, faults, nowMs: 1_000 }
  const alerts = new Alerts({
    config: { ...config, on },
    channels: fails ? [webhook, email] : [webhook],
    ledger: { event: async (event: { detail: object }) => void events.push(event) } as never,
    stored: { load: () => stored, save: (_, kept) => void onSave(kept) },
    log: (_level, message, fields) => void faults.push([message, fields]),
    nowMs: () => outbox.nowMs,
    base: () => 'http://localhost:7433',
  })
  return Object.assign(outbox, { alerts })
}

test('at most one alert of a kind is sent in a while; the last of the others follows with their number', () => {
  const outbox = openOutbox({ on: ['injection', 'ledger'] })
  const { alerts, sent, events } = outbox
  for (let at = 0; at < 10_000; at++) alerts.raise(alertOf('injection', `answer ${at}`))
  alerts.raise(alertOf('ledger'))
  // Not wanted.
  expect(alerts.raise(alertOf('denials'))).toBe(false)
  outbox.nowMs += 59_999
  alerts.flush()
  expect(sent.map(({ title, suppressed }) => [title, suppressed])).toEqual([
    ['answer 0', 0],
    ['something', 0],
  ])
  outbox.nowMs += 1
  alerts.flush()
  alerts.flush()
  expect(sent).toHaveLength(3)
  const url = 'http://localhost:7433/servers'
  expect(sent.at(-1)).toMatchObject({ title: 'answer 9999', suppressed: 9_998, url })
  // It counts as one: the next may come after another while.
  expect(alerts.raise(alertOf('injection'))).toBe(false)
  expect([events.length, alerts.sent.length]).toEqual([3, 3])
})

test('a channel that fails is named beside the alert, and a test says why', async () => {
  const { alerts, faults } = openOutbox({ fails: true })
  alerts.raise(alertOf('server'))
  // A test is sent whenever it is asked for.
  for (let at = 0; at < 2; at++)
    expect(await alerts.test('ann')).toEqual([
      { channel: 'webhook', why: '' },
      { channel: 'email', why: 'refused' },
    ])
  expect(faults[0]).toEqual([
    'an alert was not sent',
    { channel: 'email', kind: 'server', why: 'refused' },
  ])
  expect(alerts.sent.map(({ undelivered }) => undelivered)).toEqual([
    ['email'],
    ['email'],
    ['email'],
  ])
})

test('an alert is over when none of its subjects is so any more, and a message with its id says so', () => {
  const outbox = openOutbox()
  const { alerts, sent, events } = outbox
  const failing = { ...alertOf('server'), subjects: ['a', 'b'], overTitle: 'Both answer again' }
  expect(alerts.raise(failing)).toBe(true)
  alerts.raise({ ...alertOf('tools'), subjects: ['t'] })
  outbox.nowMs += 5_000
  alerts.settle('server', new Set(['b', 'c']))
  alerts.settle('tools', new Set())
  expect(alerts.sent.map(({ kind, overAtMs }) => [kind, overAtMs])).toEqual([
    ['tools', 6_000],
    ['server', undefined],
  ])
  // A person saw the tools: nobody else has to be told.
  expect(sent).toHaveLength(2)
  alerts.settle('server', new Set(['c']))
  alerts.settle('server', new Set(['c']))
  expect(sent).toHaveLength(3)
  expect(sent[2]).toMatchObject({
    id: sent[0]?.id,
    title: 'Both answer again',
    atMs: 1_000,
    overAtMs: 6_000,
  })
  expect(events.at(-1)?.detail).toMatchObject({ how: 'over', title: 'Both answer again' })
  expect(alerts.sent[1]?.title).toBe('something')
})

test('after a restart alerts are listed, none is sent sooner, and nothing is said to be over', () => {
  const store = openGateStore(scratchDirectory())
  onTestFinished(() => store.close())
  const stored = new StoredAlerts(store)
  const before = openOutbox({ onSave: (kept) => kept[0] && stored.save(kept[0], kept) })
  before.alerts.raise({ ...alertOf('server'), subjects: ['a'], overTitle: 'It answers again' })
  const after = openOutbox({ stored: stored.load() })
  expect(after.alerts.sent).toMatchObject([{ kind: 'server', id: before.alerts.sent[0]?.id }])
  after.alerts.settle('server', new Set())
  expect(after.alerts.raise({ ...alertOf('server'), subjects: ['b'] })).toBe(false)
  after.nowMs += 60_000
  expect(after.alerts.raise({ ...alertOf('server'), subjects: ['b'] })).toBe(true)
  expect(after.sent).toHaveLength(1)
})

test('a disk that is full keeps no alert from being sent', () => {
  const full = () => {
    throw new Error('the disk is full')
  }
  const { alerts, sent, faults } = openOutbox({ onSave: full })
  alerts.raise(alertOf('ledger'))
  expect(sent).toHaveLength(1)
  expect(faults).toEqual([['an alert was not stored', { why: 'the disk is full' }]])
})

test('as many alerts are kept as there is room for, those that are ongoing last', () => {
  const outbox = openOutbox()
  const { alerts } = outbox
  alerts.raise({ ...alertOf('server'), subjects: ['a'] })
  for (let at = 0; at < 2 * ALERTS_KEPT; at++) {
    outbox.nowMs += 60_000
    alerts.raise(alertOf('injection'))
  }
  expect(alerts.sent).toHaveLength(ALERTS_KEPT)
  expect(alerts.sent.at(-1)?.kind).toBe('server')
})

test('a message has no links and no hidden text that a server could have written', () => {
  const alert: SentAlert = {
    ...alertOf('definition', 'A tool definition has changed'),
    facts: [{ name: 'Tools', value: `x\u202E ${HOSTILE}\n> At: never` }],
    id: 'a',
    atMs: 0,
    suppressed: 2,
    url: 'http://localhost:7433/servers',
  }
  const { subject, text } = composeAlertMail(alert)
  expect(subject).toBe('[sluice] A tool definition has changed')
  expect(text).not.toContain('https://evil')
  expect(text).not.toContain('\u202E')
  expect(text.match(/^> At:/gm)).toHaveLength(1)
  expect(text).toContain('2 more of this kind')
  expect(JSON.parse(buildAlertBody('plain', alert))).toMatchObject({
    type: 'alert',
    kind: 'definition',
    state: 'raised',
    url: 'http://localhost:7433/servers',
  })
  // Elements that show text as it is, one button of ours, and no other link.
  for (const [form, types] of [
    ['slack', ['actions', 'button', 'context', 'header', 'plain_text', 'section']],
    ['teams', ['Action.OpenUrl', 'AdaptiveCard', 'RichTextBlock', 'TextRun', 'message']],
  ] as const) {
    const body = buildAlertBody(form, alert)
    const all = (pattern: RegExp) => [...new Set([...body.matchAll(pattern)].map(([, it]) => it))]
    expect(all(/"type":"([^"]+)"/g).sort()).toEqual(types)
    expect(all(/"url":"([^"]+)"/g)).toEqual([alert.url])
    expect(body).not.toContain('https://evil')
    expect(body).not.toContain('\u202E')
  }
  const over = { ...alert, overAtMs: 60_000 }
  expect(JSON.parse(buildAlertBody('plain', over))).toMatchObject({
    state: 'over',
    at: '1970-01-01T00:00:00.000Z',
    overAt: '1970-01-01T00:01:00.000Z',
  })
  expect(composeAlertMail(over).text).toContain('> Until: 1970-01-01T00:01:00.000Z')
})

test('what is new since the last look is told, once, and again when it is over', async () => {
  const outbox = openOutbox()
  const { alerts, sent } = outbox
  const meter = new Meter()
  const state = { failing: ['c'], held: ['d0'], tools: ['old'], limits: [] as string[] }
  let [ledger, isLive]: ['writing' | 'reserve', boolean] = ['writing', true]
  const problems: string[] = []
  const gate: WatchedGate = {
    config,
    alerts,
    meter,
    servers: () => ['a', 'b', 'c'],
    notes: {
      failureOf: (name) =>
        state.failing.includes(name) ? ({ message: 'secret' } as never) : undefined,
    },
    held: () =>
      state.held.map(
        (digest) =>
          ({
            digest,
            tool: { definition: { server: 's', name: digest } },
          }) as unknown as PendingDefinition,
      ),
    newTools: () => state.tools.map((name) => ({ server: 's', name, atMs: 1 })),
    limits: () =>
      state.limits.map((whose) => ({
        key: `/tools/a~1b|rate|1|principal|3:${whose}`,
        kind: 'rate',
        windowMs: 1,
        used: '8',
        max: '10',
        share: 0.8,
      })),
    ledgerState: () => ledger,
    verified: () => ({ problems }),
    gates: async () => [
      { name: 'g1', isLive: false, state: 'ready' } as never,
      { name: 'g2', isLive, state: 'ready' } as never,
      { name: 'g3', isLive, state: isLive ? 'ready' : 'stopped' } as never,
    ],
  }
  const watch = new GateWatch(gate)
  state.failing = []
  await watch.look()
  expect(sent).toEqual([])
  for (let at = 0; at < 30; at++) meter.decision('a', 't', at < 12 ? 'allow' : 'deny', 'X')
  Object.assign(state, { failing: ['b'], held: ['d0', 'd1'], tools: ['old', 'x, s/y'] })
  state.limits = ['ann']
  ledger = 'reserve'
  isLive = false
  await watch.look()
  const inWords = () =>
    sent.map(({ kind, page, facts }) => [kind, page, ...facts.map(({ value }) => value)])
  expect(inWords()).toEqual([
    ['denials', '/overview?range=1h&section=calls', '18 of 30 calls in 5 minutes', 'a/t (18)'],
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
  for (let at = 0; at < 30; at++) meter.decision('a', 't', 'allow', '')
  Object.assign(state, { failing: ['c'], held: ['d0'], tools: [], limits: [] })
  ledger = 'writing'
  isLive = true
  await watch.look()
  expect(sent.slice(8).map(({ title }) => title)).toEqual([
    'Few calls are denied again',
    'The limit has room again',
    'The server is no longer failing',
    'Calls are recorded again',
    'The gate is back',
  ])
  expect(alerts.sent.filter(({ overAtMs }) => overAtMs === undefined)).toMatchObject([
    { kind: 'server', subjects: ['a', 'c'] },
  ])
  problems.push('record 1 was edited, or its hash')
  await watch.look()
  expect(sent.at(-1)?.title).toBe('The chain of the ledger does not verify')
})

test('names of an alert are few and short, and none passes for two', () => {
  expect(listNames(['a/b', 'x, a/c', 'y\n> At: never'])).toBe('a/b, "x, a/c", "y\\n> At: never"')
  const many = listNames(Array.from({ length: 5_000 }, (_, at) => `${at}${'n'.repeat(2_000)}`))
  expect(many.length).toBeLessThan(1_500)
  expect(many).toMatch(/n… and 4990 more$/)
})

test('limits in use are what the counters say, the fullest first', async () => {
  const counters = new MemoryCounters()
  const store = {
    usage: counters,
    refund: async () => {},
    admit: async (batch: readonly { charges: never; now: never }[]) =>
      batch.map(({ charges, now }) => counters.consume(charges, now)),
  } as unknown as AdmissionStore<never>
  const limits = new LimitsInUse()
  const now = { wallMs: 0, monotonicMs: 1_000 }
  const charge = (key: string, amount: string, max: string) => ({
    key,
    kind: 'rate' as const,
    windowMs: 60_000,
    amount: parseDecimal(amount),
    max: parseDecimal(max),
  })
  const admit = limits.watch(store).admit
  const charges = [
    charge('a|rate|1|principal|3:ann', '1', '4'),
    charge('b|rate|1|everyone|0:', '9.5', '10'),
  ]
  await admit([{ mode: 'charge', charges, now } as never])
  await admit([{ mode: 'probe', charges: [charge('c', '1', '1')], now } as never])
  expect(limits.list(now).map(({ key, used, max, share }) => [key, used, max, share])).toEqual([
    ['b|rate|1|everyone|0:', '9.5', '10', 0.95],
    ['a|rate|1|principal|3:ann', '1', '4', 0.25],
  ])
  const nearlyFull = (at = now) => limits.listNearlyFull(0.8, at).map(({ key }) => key)
  expect(nearlyFull()).toEqual(['b|rate|1|everyone|0:'])
  // Also when nothing more is charged to it; until its window has passed.
  expect(nearlyFull()).toEqual(['b|rate|1|everyone|0:'])
  const later = { wallMs: 0, monotonicMs: 100_000 }
  expect([limits.list(later), nearlyFull(later)]).toEqual([[], []])
  // A flood of counters is looked at in parts, and none is forgotten.
  const many = 3 * LIMITS_LOOKED_MAX
  for (let at = 0; at < many; at++)
    await admit([{ mode: 'charge', charges: [charge(`m${at}`, '9', '10')], now: later } as never])
  const seen = new Set<string>()
  for (let at = 0; at < 10; at++) {
    const found = nearlyFull(later)
    expect(found.length).toBeLessThanOrEqual(LIMITS_LOOKED_MAX)
    for (const key of found) seen.add(key)
  }
  expect(seen.size).toBe(many)
})

test('the key of a counter in words', () => {
  const key = '/tools/office~1write_note|rate|3600000|principal, args.to|3:ann|6:a|b:c~'
  expect(describeLimitKey(key)).toEqual({
    limit: 'office/write_note',
    whose: 'ann, a|b:c~',
    windowMs: 3_600_000,
  })
  // Messages have no arguments.
  expect(nameCounterOwner(key)).toBe('ann')
  expect(describeLimitKey('shadow:/defaults|spend|1|everyone of args.n|0:')).toEqual({
    limit: '/defaults',
    whose: '',
    windowMs: 1,
  })
})
