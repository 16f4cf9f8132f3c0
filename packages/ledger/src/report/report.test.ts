// The report over a small week: it is accurate, and names chosen by agents are only text in it.

import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLedgerReadOnly } from '../chain/read.ts'
import { allowed, decisionEntry, denied } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { RecordIndex } from '../query/record-index.ts'
import { freshDirectoryForAll } from '../samples.test-support.ts'
import { gatherReport } from './gather.ts'
import type { LedgerReport } from './report.ts'
import { asHtml, asMarkdown } from './write-report.ts'

const DAY_MS = 86_400_000
const END_MS = 1_800_000_000_000
const SINCE_MS = END_MS - 7 * DAY_MS
let report: LedgerReport
let directory = ''

beforeAll(async () => {
  directory = freshDirectoryForAll()
  const ledger = Ledger.open({ directory })
  const call = async (day: number, name: string, status: 'answered' | 'error' | 'unknown') => {
    const atMs = SINCE_MS + day * DAY_MS
    const shadow = {
      rule: '/new',
      action: 'deny' as const,
      code: 'DENIED',
      reason: 'soon',
      limits: [],
    }
    const decision = name === 'new' ? { ...allowed, shadow: [shadow] } : allowed
    const seq = await ledger.intent(decisionEntry(day, { atMs, name, decision }))
    ledger.outcome(seq, { atMs, status, durationMs: 10 * day })
  }
  await call(-1, 'old', 'answered')
  await call(1, 'old', 'answered')
  await call(2, 'old', 'error')
  await call(3, 'new', 'unknown')
  const refuse = (day: number, decision: object, who = 'ann') =>
    ledger.refuse(
      decisionEntry(day, {
        atMs: SINCE_MS + day * DAY_MS,
        principal: { id: who, kind: 'grant' },
        name: '<script>alert(1)</script>|[x](http://evil)\u202e',
        decision: { ...denied, ...decision },
      }),
    )
  await refuse(4, { code: 'RATE_LIMITED', rule: '/r', reason: '30 a minute' }, 'ben')
  await refuse(4, { code: 'RATE_LIMITED', rule: '/r', reason: '30 a minute' }, 'ben')
  await refuse(5, { action: 'require_approval', code: 'APPROVAL_PENDING', reason: 'ask' })
  await refuse(5, { code: 'DEFINITION_CHANGED', reason: 'changed' })
  const about = { request: 'r1', server: 'stripe', name: 'new', principal: 'ann' }
  const step = (name: string, minutes: number, detail: object = {}) =>
    ledger.event({
      atMs: SINCE_MS + 5 * DAY_MS + minutes * 60_000,
      name: `approval-${name}`,
      detail: { ...about, ...detail },
    })
  await step('proposed', 0)
  await step('notified', 1)
  await step('approved', 30, { by: 'carl', proof: 'passkey', comment: 'fine' })
  await step('executed', 31)
  await ledger.event({ atMs: SINCE_MS + DAY_MS, name: 'freeze', detail: { why: 'odd' } })
  const pinned = { server: 'mail', tools: ['send'], by: { by: 'carl' } }
  await ledger.event({ atMs: SINCE_MS + DAY_MS, name: 'pin', detail: pinned })
  const client = { session: 'session-1', kind: 'mcp', client: 'chat <b>1</b>', principal: 'ann' }
  await ledger.event({ atMs: SINCE_MS - 2 * DAY_MS, name: 'session', detail: client })
  ledger.close()
  const reader = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, reader)
  index.catchUp()
  report = gatherReport(
    { ledger: reader, index: index.database },
    { sinceMs: SINCE_MS, untilMs: END_MS },
  )
  index.close()
  reader.close()
})
afterAll(() => rmSync(directory, { recursive: true }))

test('what ran, what was refused and why, what was pending and who decided', () => {
  expect(report.totals).toEqual({
    calls: 7,
    allowed: 3,
    refused: 3,
    held: 1,
    limited: 2,
    answered: 1,
    failed: 1,
    unknown: 1,
  })
  const sum = report.spans.reduce((all, span) => all + span.allowed + span.refused + span.held, 0)
  expect(sum).toBe(7)
  expect(report.tools.find(({ tool }) => tool === 'stripe/old')).toMatchObject({
    calls: 2,
    refused: 0,
    failed: 1,
    averageMs: 15,
    people: 1,
  })
  expect(report.principals).toMatchObject([{ principal: 'ann', calls: 5 }, { principal: 'ben' }])
  expect(report.refused[0]).toMatchObject({ code: 'RATE_LIMITED', count: 2, reason: '30 a minute' })
  expect(report.waited).toMatchObject([
    { request: 'r1', became: 'executed', by: 'carl', waitedMs: 30 * 60_000, comment: 'fine' },
  ])
  expect(report.deciders).toEqual([{ name: 'carl', approved: 1, denied: 0 }])
  expect(report.limits).toMatchObject([{ rule: '/r', principal: 'ben', count: 2 }])
  expect(report.newTools.map(({ tool }) => tool)).toContain('stripe/new')
  expect(report.newTools.map(({ tool }) => tool)).not.toContain('stripe/old')
  expect(report.definitions).toMatchObject([
    { what: expect.stringContaining('1 call refused') },
    { tool: 'mail/send', what: 'accepted by carl' },
  ])
  expect(report.sessions).toMatchObject([
    { session: 'session-1', name: '"chat <b>1</b>" (self-reported)', calls: 7, refused: 4 },
  ])
  expect(report.shadow).toMatchObject([
    { tool: 'stripe/new', shadow: 'deny by /new (soon)', action: 'allow', count: 1, people: 1 },
  ])
  expect(report.events.map(({ name }) => name)).toEqual(['pin', 'freeze'])
})

test('in HTML no name is markup, and nothing is loaded from another host', () => {
  const html = asHtml(report)
  expect(html).not.toContain('<script')
  expect(html).not.toContain('<b>1')
  expect(html).toContain('&lt;script&gt;')
  expect(html).not.toContain('\u202e')
  expect(html).toContain("default-src 'none'")
  expect(html).not.toMatch(/(src|href)=/)
  expect(html.match(/<rect/g)?.length).toBeGreaterThan(3)
})

test('in Markdown no cell ends its row, links or has HTML', () => {
  const text = asMarkdown(report)
  expect(text).not.toContain('<script')
  expect(text).not.toContain('](http')
  const bars = (line: string) => line.match(/(?<!\\)\|/g)?.length ?? 0
  let columns = 0
  for (const line of text.split('\n')) {
    if (line.startsWith('|---')) columns = bars(line)
    else if (line.includes('evil')) expect(bars(line)).toBe(columns)
  }
  expect(columns).toBeGreaterThan(0)
})

test('of one caller it has their calls, approvals and sessions, and nothing of others', () => {
  const reader = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, reader)
  const gather = (of: object) =>
    gatherReport(
      { ledger: reader, index: index.database },
      { sinceMs: SINCE_MS - 7 * DAY_MS, untilMs: END_MS, ...of },
    )
  const [ann, ben, none] = [{ principal: 'ann' }, { principal: 'ben' }, { agent: 'x' }].map(gather)
  index.close()
  reader.close()
  expect(ann?.totals).toMatchObject({ calls: 6, allowed: 4, held: 1 })
  expect(ann?.limits).toEqual([])
  expect(ann?.waited.map(({ request }) => request)).toEqual(['r1'])
  expect(ann?.events.map(({ name }) => name)).toEqual(['session'])
  expect(ben?.totals).toMatchObject({ calls: 2, limited: 2 })
  expect([ben?.waited, ben?.deciders, ben?.events]).toEqual([[], [], []])
  expect(asMarkdown(ben as LedgerReport)).toContain('Calls of ben, ')
  expect(none?.totals.calls).toBe(0)
})

test('a week without events is reported as such', () => {
  const reader = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, reader)
  const empty = gatherReport({ ledger: reader, index: index.database }, { sinceMs: 1, untilMs: 2 })
  index.close()
  reader.close()
  expect(asMarkdown(empty)).toContain('No calls.')
  expect(asHtml(empty)).toContain('No call needed approval.')
})
