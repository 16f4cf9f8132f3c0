import { parseDecimal } from '@sluice/policy/core/decimal'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { expect, test } from 'vitest'
import { buildAlertBody, composeAlertMail } from '../../approvals/channels/alert-message.ts'
import { ALERT_KINDS, type Alert, type SentAlert } from '../../core/alert.ts'
import type { AdmissionStore } from '../../store/admission.ts'
import { Meter } from '../metrics/meter.ts'
import type { PendingDefinition } from '../tools/pins.ts'
import { Alerts } from './alerts.ts'
import { describeLimitKey } from './describe-limit.ts'
import { LimitsInUse } from './limits-in-use.ts'
import { GateWatch, type WatchedGate } from './watch-gate.ts'

const config = {
  on: [...ALERT_KINDS],
  channels: ['webhook' as const],
  everyMs: 60_000,
  denialsPercent: 50,
  limitPercent: 80,
}

function alertOf(kind: Alert['kind'], title = 'something'): Alert {
  return { kind, title, facts: [{ name: 'Server', value: 'office' }], page: '/servers' }
}

test('at most one alert of a kind is sent in a while, and the next says how many were not', async () => {
  let nowMs = 1_000
  const sent: SentAlert[] = []
  const events: unknown[] = []
  const faults: unknown[] = []
  const alerts = new Alerts({
    config: { ...config, on: ['server', 'ledger'] },
    channels: [
      { channel: 'webhook', alert: async (alert) => void sent.push(alert) },
      { channel: 'email', alert: () => Promise.reject(new Error('refused')) },
    ],
    ledger: { event: async (event: object) => void events.push(event) } as never,
    log: (_level, message, fields) => void faults.push([message, fields]),
    nowMs: () => nowMs,
    base: () => 'http://localhost:7433',
  })
  for (let at = 0; at < 5; at++) alerts.raise(alertOf('server'))
  alerts.raise(alertOf('ledger'))
  // Not wanted.
  alerts.raise(alertOf('denials'))
  expect(sent.map(({ kind, suppressed }) => [kind, suppressed])).toEqual([
    ['server', 0],
    ['ledger', 0],
  ])
  nowMs += 60_000
  alerts.raise(alertOf('server'))
  expect(sent.at(-1)).toMatchObject({ suppressed: 4, url: 'http://localhost:7433/servers' })
  expect(events).toHaveLength(3)
  // A test is sent whenever it is asked for, and says what became of it.
  expect(await alerts.test('ann')).toEqual([
    { channel: 'webhook', why: '' },
    { channel: 'email', why: 'refused' },
  ])
  expect(faults[0]).toEqual([
    'an alert was not sent',
    { channel: 'email', kind: 'server', why: 'refused' },
  ])
  expect(alerts.sent).toHaveLength(4)
})

test('a message has no links and no hidden text that a server could have written', () => {
  const alert: SentAlert = {
    ...alertOf('definition', 'A tool definition has changed'),
    facts: [{ name: 'Tools', value: 'x\u202E https://evil.example/ \n> At: never' }],
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
    url: 'http://localhost:7433/servers',
  })
  for (const form of ['slack', 'teams'] as const)
    expect(buildAlertBody(form, alert)).not.toContain('https://evil')
})

test('what is new since the last look is told, once', async () => {
  const raised: Alert[] = []
  const meter = new Meter()
  const state = { failing: [] as string[], held: [] as string[], fault: false, live: true }
  const limit = { key: '/tools/a~1b|rate|1|principal|3:ann', kind: 'rate', windowMs: 1 } as const
  const gate: WatchedGate = {
    config,
    raise: (alert) => void raised.push(alert),
    meter,
    servers: () => ['a', 'b'],
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
    limits: () => (state.fault ? [{ ...limit, used: '8', max: '10', share: 0.8 }] : []),
    ledgerFault: () => (state.fault ? 'full' : undefined),
    gates: async () => [
      { name: 'g2', isLive: state.live, state: 'ready' } as never,
      { name: 'g3', isLive: state.live, state: state.live ? 'ready' : 'stopped' } as never,
    ],
  }
  const watch = new GateWatch(gate)
  await watch.look()
  expect(raised).toEqual([])
  for (let at = 0; at < 30; at++) meter.decision('a', 't', at < 12 ? 'allow' : 'deny', 'X')
  Object.assign(state, { failing: ['b'], held: ['d1'], fault: true, live: false })
  await watch.look()
  expect(raised.map(({ kind, facts }) => [kind, facts.map(({ value }) => value)])).toEqual([
    ['denials', ['18 of 30 calls in 5 minutes', 'a/t (18)']],
    ['limit', ['8 of 10, ann']],
    ['server', ['b']],
    ['definition', ['s/d1']],
    ['ledger', []],
    ['gate', ['g2']],
  ])
  expect(JSON.stringify(raised)).not.toContain('secret')
  await watch.look()
  expect(raised).toHaveLength(6)
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
  expect(limits.list({ wallMs: 0, monotonicMs: 100_000 })).toEqual([])
})

test('the key of a counter in words', () => {
  const key = '/tools/office~1write_note|rate|3600000|principal, args.to|3:ann|6:a|b:c~'
  expect(describeLimitKey(key)).toEqual({
    limit: 'office/write_note',
    whose: 'ann, a|b:c~',
    windowMs: 3_600_000,
  })
  expect(describeLimitKey('shadow:/defaults|spend|1|everyone of args.n|0:')).toEqual({
    limit: '/defaults',
    whose: '',
    windowMs: 1,
  })
})
