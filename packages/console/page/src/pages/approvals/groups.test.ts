// The order of held calls: the most dangerous first, whatever its tool.

import { expect, test } from 'vitest'
import type { ApprovalRequest } from '../../../../src/contract/contract.ts'
import { groupBySession, listDangers } from './groups.ts'

function held(id: string, more: Partial<ApprovalRequest> & { says?: string; secrets?: number }) {
  const { says = '["x"]', secrets = 0, ...rest } = more
  return {
    id,
    session: id,
    principal: { id: 'ann', kind: 'grant' },
    server: 's',
    method: 'tools/call',
    name: 't',
    args: '{}',
    risk: 'low',
    asks: [{ says }],
    masked: { parts: [], count: secrets, characters: 0 },
    votes: [],
    why: '',
    ...rest,
  } as unknown as ApprovalRequest
}

test('a secret and a stranger’s value come before the risk of the tool, and that before the amount', () => {
  const requests = [
    held('soon', {}),
    held('large', { risk: 'high', args: '{"amount":900}' }),
    held('larger', { risk: 'high', args: '{"amount":9000}' }),
    held('secret', { secrets: 1 }),
    held('both', {
      says: '["protect: values from text",false,0,"call.valueFromText"]',
      secrets: 2,
    }),
    held('late', {}),
  ]
  const inOrder = (order: string) =>
    groupBySession(requests, { order, search: '' }).map(({ session }) => session)
  expect(inOrder('danger')).toEqual(['both', 'secret', 'larger', 'large', 'soon', 'late'])
  const unasked = held('unasked', {
    says: '["protect: unasked changes",false,0,"call.changesUnasked"]',
  })
  expect(listDangers(unasked)).toEqual([])
  expect(inOrder('time')).toEqual(requests.map(({ id }) => id))
  expect(inOrder('amount').slice(0, 2)).toEqual(['larger', 'large'])
  expect(requests.map(listDangers).slice(3, 5)).toEqual([['secret'], ['from a stranger', 'secret']])
})

test('calls of one session stand at their own places, or together; its first place knows all of them', () => {
  const requests = [
    held('small', { session: 'a', risk: 'low' }),
    held('pay', { session: 'a', risk: 'critical' }),
    held('send', { session: 'b', risk: 'high' }),
  ]
  const groups = (order: string) =>
    groupBySession(requests, { order, search: '' }).map((group) => [
      group.requests.map(({ id }) => id).join(' '),
      group.ofSession.length,
    ])
  expect(groups('danger')).toEqual([
    ['pay', 2],
    ['send', 1],
    ['small', 0],
  ])
  expect(groups('session')).toEqual([
    ['pay small', 2],
    ['send', 1],
  ])
})

test('a decided call is found by who decided it, their comment, why it ended, and its values', () => {
  const votes = [{ by: 'bob', comment: 'Night flood' }] as unknown as ApprovalRequest['votes']
  const requests = [
    held('denied', { votes, args: '{"amount":5038.5}' }),
    held('expired', { why: 'nobody decided in time', args: '' }),
  ]
  const find = (search: string) =>
    groupBySession(requests, { order: '', search }).map(({ session }) => session)
  for (const search of ['bob', 'night flood', '5038.5']) expect(find(search)).toEqual(['denied'])
  expect(find('in time')).toEqual(['expired'])
  expect(find('ada')).toEqual([])
})
