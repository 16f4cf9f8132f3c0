// A call as one line, with what rules in shadow mode would have done.

import { STEPS } from '@sluice/access/approvals/record-steps'
import { describeEvent, titleOfEvent } from '@sluice/ledger/records/event-title'
import type { DecisionRecord } from '@sluice/ledger/records/record'
import { expect, test } from 'vitest'
import { Output } from '../terminal/output.ts'
import { callLine, recordLine } from './lines.ts'

test('the verdicts of shadow rules stand behind the call, printable', () => {
  const shadow = [
    { rule: 'r1', action: 'deny', code: 'DENIED', reason: 'not \u001b[31mnow', limits: [] },
    { rule: 'r2', action: 'require_approval', code: 'APPROVAL_REQUIRED', reason: '', limits: [] },
  ]
  const record = (of: object) =>
    ({
      kind: 'refusal',
      seq: 1,
      atMs: 0,
      judged: {},
      principal: { id: 'ann' },
      agent: null,
      server: 'shop',
      method: 'tools/call',
      name: 'pay',
      decision: { action: 'deny', code: 'DENIED', reason: 'no', shadow: [], ...of },
    }) as unknown as DecisionRecord
  const line = (of: object) => callLine({ record: record(of), outcome: null }, new Output({}))
  expect(line({})).toMatch(/DENIED: no$/)
  expect(line({ shadow })).toMatch(/shadow: deny by r1 \(not .*\), require_approval by r2$/)
  expect(line({ shadow })).not.toContain('\u001b')
  const guessed = { ...record({}), category: 'Destructive' as const, unknown: true }
  expect(callLine({ record: guessed, outcome: null }, new Output({}))).toMatch(
    /DENIED: no {2}unknown class, perhaps Destructive$/,
  )
  const named = { record: record({}), outcome: null, sessionName: '"chat\u001b 1" (self-reported)' }
  expect(callLine(named, new Output({}))).toMatch(/session "chat.* 1" \(self-reported\)$/)
  expect(callLine(named, new Output({}))).not.toContain('\u001b')
})

test('names in an alert do not drive the terminal', () => {
  const facts = [{ name: 'Tool', value: 'x\u001b[2J\u202E\n1970 start' }]
  const detail = { how: 'raised', kind: 'tools', title: 'A server has a new tool', facts }
  const event = { kind: 'event', seq: 1, atMs: 0, name: 'alert', detail } as never
  expect(recordLine(event, new Output({}))).toMatch(
    /alert A server has a new tool, Tool: x\\u\{1b\}\[2J\\u\{202e\}\\u\{a\}1970 start$/,
  )
})

test('events are in words', () => {
  expect(STEPS.map((step) => titleOfEvent(`approval-${step}`, {})).filter(isRaw)).toEqual([])
  expect(titleOfEvent('approver', { how: 'passkey added' })).toBe('Passkey added')
  expect(titleOfEvent('grant', { how: 'add' })).toBe('Grant added')
  const proposal = {
    request: '37344cf0b309',
    call: '01HZ',
    principal: 'local',
    agent: null,
    session: 's',
    server: 'shop',
    method: 'tools/call',
    name: 'pay',
    risk: 'low',
    expiresAtMs: 1.8e12,
    asks: [{ rule: '/tools/shop~1pay', reason: '', quorum: 1 }],
  }
  expect(describeEvent(proposal)).toBe(
    'shop/pay, for local, request 37344cf0b309, risk low, expires 2027-01-15 08:00 UTC, rule /tools/shop/pay',
  )
  const alert = { title: 'A limit', facts: [{ name: 'pay', value: '9 of 10' }], suppressed: 0 }
  expect(describeEvent(alert)).toBe('A limit, pay: 9 of 10')
  const grant = {
    how: 'add',
    name: 'ci',
    groups: ['ops', 'qa'],
    explain: false,
    prompt: true,
    until: '2027-01-31T18:00:00.000Z',
  }
  expect(describeEvent({ ...grant, by: { name: 'ada' } })).toBe(
    'ci, by ada, groups ops and qa, prompt, until 2027-01-31 18:00 UTC',
  )
  const frozen = { scope: 'server', id: 'shop', why: 'an incident', cancelled: 2 }
  expect(describeEvent(frozen, 'freeze')).toBe(
    'the server shop: an incident; open calls cancelled: 2',
  )
  const thawed = { scope: 'all', id: '', frozenAtMs: 1.8e12, by: { name: 'ada' } }
  expect(describeEvent(thawed, 'thaw')).toBe(
    'everything, by ada, frozen since 2027-01-15 08:00 UTC',
  )
  const session = { session: 's', principal: 'ann', client: 'chat 1', servers: ['shop', 'desk'] }
  expect(describeEvent(session, 'session')).toBe('ann with chat 1 to shop and desk')
  expect(describeEvent({ hold: [] }, 'grants')).toBe('valid now: none')
  const documents = [
    { name: 'policy', from: 'a', to: 'b' },
    { name: 'other', from: 'c', to: 'c' },
  ]
  expect(describeEvent({ how: 'saved', documents, loosens: [{}], by: 'ada' }, 'policy')).toBe(
    'policy, how: saved, rules loosened: 1, by ada',
  )
  expect(describeEvent({ documents: 1, odd: {} }, 'policy')).toBe('documents 1')
  expect(titleOfEvent('server', { how: 'removed' })).toBe('Server removed')
  expect([describeEvent(null), describeEvent('odd')]).toEqual(['', '"odd"'])
})

const isRaw = (title: string): boolean => title.startsWith('approval-')
