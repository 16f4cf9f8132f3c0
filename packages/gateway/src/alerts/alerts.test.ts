import type { SentAlert } from '@sluice/access/approvals/alert'
import { buildAlertBody, composeAlertMail } from '@sluice/access/approvals/channels/alert-message'
import type { AlertRows } from '@sluice/ledger/store/alert-rows'
import { expect, test } from 'vitest'
import type { AlertSubjects } from './alerts.ts'
import { alertOf, listed, openOutbox, openRows } from './outbox.test-support.ts'

/** A name that drives a terminal, a chat and a mail program where it is not escaped. */
const HOSTILE =
  '\u001b[2J<!channel> <https://evil.example|Approve> [x](https://evil.example) <img src=x>'

/** Reports that a server fails. */
function failing(subjects: readonly string[], isShared = false): AlertSubjects {
  const describe = (fresh: readonly string[]) => ({
    ...alertOf('server', `${fresh.join(' and ')} fail`),
    overTitle: 'All answer again',
  })
  return { kind: 'server', subjects, isShared, describe }
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 5))

test('at most one alert of a kind is sent in a while; the last of the others follows with their number', async () => {
  const outbox = openOutbox({ on: ['injection', 'ledger'] })
  const { alerts, sent, events } = outbox
  for (let at = 0; at < 10_000; at++) alerts.raise(alertOf('injection', `answer ${at}`))
  alerts.raise(alertOf('ledger'))
  // Not wanted.
  alerts.raise(alertOf('denials'))
  expect(await alerts.report(failing(['a']))).toBe(false)
  outbox.nowMs += 59_999
  await alerts.refresh()
  expect(sent.map(({ title, suppressed }) => [title, suppressed])).toEqual([
    ['answer 0', 0],
    ['something', 0],
  ])
  outbox.nowMs += 1
  await alerts.refresh()
  await alerts.refresh()
  expect(sent).toHaveLength(3)
  const url = 'http://localhost:7433/servers'
  expect(sent.at(-1)).toMatchObject({ title: 'answer 9999', suppressed: 9_998, url })
  // It counts as one: the next may come after another while.
  alerts.raise(alertOf('injection'))
  expect([events.length, (await listed(outbox)).length]).toEqual([3, 3])
})

test('a channel that fails is named beside the alert, and a test says why', async () => {
  const outbox = openOutbox({ fails: true })
  const { alerts, faults } = outbox
  await alerts.report(failing(['a']))
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
  const undelivered = (await listed(outbox)).map((alert) => alert.undelivered)
  expect(undelivered).toEqual([['email'], ['email'], ['email']])
})

test('an alert is over when none of its subjects is so any more, and a message with its id says so', async () => {
  const outbox = openOutbox()
  const { alerts, sent, events } = outbox
  expect(await alerts.report(failing(['a', 'b']))).toBe(true)
  await alerts.report({
    ...failing(['t']),
    kind: 'tools',
    describe: () => alertOf('tools', 'A server has a new tool'),
  })
  outbox.nowMs += 5_000
  await alerts.settle('server', (one) => one === 'a')
  await alerts.settle('tools', () => true)
  expect((await listed(outbox)).map(({ kind, overAtMs }) => [kind, overAtMs])).toEqual([
    ['tools', 6_000],
    ['server', undefined],
  ])
  // A person saw the tools: nobody else has to be told.
  expect(sent).toHaveLength(2)
  await alerts.settle('server', () => true)
  await alerts.settle('server', () => true)
  expect(sent).toHaveLength(3)
  const { id } = sent[0] as SentAlert
  const over = { id, title: 'All answer again', atMs: 1_000, overAtMs: 6_000 }
  expect(sent[2]).toMatchObject(over)
  expect(events.at(-1)?.detail).toMatchObject({ how: 'over', title: 'All answer again' })
  expect((await listed(outbox))[1]?.title).toBe('a and b fail')
})

test('a restart leaves alerts open: none is told again, and each is over when that is known', async () => {
  const rows = openRows()
  const before = openOutbox({ rows })
  await before.alerts.report(failing(['a']))
  await soon()
  const after = openOutbox({ rows })
  await after.alerts.refresh()
  expect(after.alerts.ongoing('server')).toMatchObject([
    { id: before.sent[0]?.id, subjects: ['a'] },
  ])
  // Too soon for another one of the kind, as before the restart.
  expect(await after.alerts.report(failing(['b']))).toBe(false)
  after.nowMs += 60_000
  // What is told already is not told again.
  expect(await after.alerts.report(failing(['a']))).toBe(true)
  expect(after.sent).toEqual([])
  expect(await after.alerts.report(failing(['a', 'b']))).toBe(true)
  expect(after.sent).toMatchObject([{ title: 'b fail' }])
  await after.alerts.settle('server', (one) => one === 'a')
  expect(after.sent[1]).toMatchObject({ id: before.sent[0]?.id, title: 'All answer again' })
})

test('after a restart, an alert that was sent while the clock was a year ahead keeps no other back', async () => {
  const rows = openRows()
  const ahead = openOutbox({ rows })
  ahead.nowMs += 365 * 86_400_000
  await ahead.alerts.report(failing(['a']))
  ahead.alerts.raise(alertOf('injection', 'then'))
  await soon()
  const after = openOutbox({ rows })
  await after.alerts.refresh()
  after.alerts.raise(alertOf('injection', 'now'))
  expect(await after.alerts.report(failing(['b']))).toBe(true)
  await soon()
  expect(after.sent.map(({ title }) => title).sort()).toEqual(['b fail', 'now'])
  // The ordinary pause applies from there.
  expect(await after.alerts.report(failing(['c']))).toBe(false)
})

test('a message that was claimed and not sent, because the gate was killed, is sent after the restart', async () => {
  const rows = openRows()
  const killed = openOutbox({ rows, send: () => new Promise(() => {}) })
  await killed.alerts.report(failing(['a']))
  killed.alerts.raise(alertOf('injection', 'an answer'))
  await killed.alerts.refresh()
  expect(killed.sent).toEqual([])
  const after = openOutbox({ rows })
  await after.alerts.refresh()
  await after.alerts.refresh()
  expect(after.sent.map(({ title }) => title).sort()).toEqual(['a fail', 'an answer'])
})

test('of two gates that see the same one tells, and each tells what it sees alone', async () => {
  const rows = openRows()
  const [north, south] = [openOutbox({ rows, gate: 'north' }), openOutbox({ rows, gate: 'south' })]
  const titles = () => [north, south].map(({ sent }) => sent.map(({ title }) => title))
  const both = [north.alerts, south.alerts]
  const shared = failing(['x', 'y'], true)
  expect(await Promise.all(both.map((one) => one.report(shared)))).toEqual([true, true])
  expect(titles().flat()).toEqual(['x and y fail'])
  for (const outbox of [north, south]) outbox.nowMs += 60_000
  for (const one of both) await one.refresh()
  await south.alerts.report(failing(['y', 'z'], true))
  expect(titles().flat()).toEqual(['x and y fail', 'z fail'])
  // Also what the other has told counts for `every`.
  await north.alerts.refresh()
  expect(await north.alerts.report(failing(['w'], true))).toBe(false)
  await Promise.all(both.map((one) => one.settle('server', () => true)))
  expect(
    titles()
      .flat()
      .filter((title) => title === 'All answer again'),
  ).toHaveLength(2)
  expect(await listed(north)).toEqual(await listed(south))

  for (const outbox of [north, south]) outbox.nowMs += 60_000
  for (const [at, one] of both.entries())
    expect(await one.report(failing([`own ${at}`]))).toBe(true)
  await south.alerts.refresh()
  // Nobody but its gate knows when it is over.
  await south.alerts.settle('server', () => true)
  expect((await listed(south)).filter((one) => one.overAtMs === undefined)).toMatchObject([
    { gate: 'north' },
  ])
})

test('if the store does not answer an alert is sent as ever, and stored when it does', async () => {
  const rows = openRows()
  let isGone = true
  const fail = () => {
    if (isGone) throw new Error('the disk is full')
  }
  const flaky = new Proxy(rows, {
    get: (target, name: keyof AlertRows) => async (one: never, other: never) => {
      fail()
      return target[name](one, other)
    },
  })
  const outbox = openOutbox({ rows: flaky, gate: 'north' })
  const { alerts, sent, faults } = outbox
  await expect(alerts.refresh()).rejects.toThrow('the disk is full')
  await alerts.report(failing(['a'], true))
  alerts.raise(alertOf('injection', 'an answer'))
  await soon()
  expect(sent.map(({ title }) => title)).toEqual(['a fail', 'an answer'])
  expect(faults).toContainEqual([
    'an alert was not stored',
    { kind: 'server', why: 'the disk is full' },
  ])
  expect(await alerts.list()).toMatchObject({ isComplete: false, alerts: [{}, {}] })
  await alerts.settle('server', () => true)
  await soon()
  expect(sent.at(-1)?.title).toBe('All answer again')
  isGone = false
  await alerts.refresh()
  expect(await alerts.list()).toMatchObject({
    isComplete: true,
    alerts: [{ kind: 'injection' }, { kind: 'server', overAtMs: 1_000 }],
  })
  await alerts.refresh()
  expect(sent).toHaveLength(3)
})

test('a message has no links and no hidden text that a server could have written', () => {
  const alert: SentAlert = {
    ...alertOf('definition', 'A tool definition has changed'),
    facts: [{ name: 'Tools', value: `x\u202E ${HOSTILE}\n> At: never` }],
    id: 'a',
    gate: '',
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
