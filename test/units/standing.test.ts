// Very many standing approvals: what a call and a list cost.

import { expect, test } from 'vitest'
import type { ApprovalRow } from '../../packages/access/src/approvals/requests.ts'
import { StandingApprovals } from '../../packages/access/src/approvals/standing.ts'
import { openGateStore } from '../../packages/gateway/src/data/gate-store.ts'
import type { Vault } from '../../packages/ledger/src/store/vault.ts'
import { scratchDirectory } from '../support/scratch.ts'

const CALL = {
  agent: null,
  server: 'shop',
  method: 'tools/call',
  name: 'refund',
  asked: 'asked',
  pin: 'pin',
}
const COUNT = 50

function open() {
  const database = openGateStore(scratchDirectory())
  let opened = 0
  const vault: Pick<Vault, 'seal' | 'open'> = {
    seal: (_what, text) => Buffer.from(text),
    open: (_what, sealed) => {
      opened++
      return Buffer.from(sealed).toString()
    },
  }
  const openStanding = () => new StandingApprovals(database, vault as Vault, () => true)
  const standing = openStanding()
  for (let n = 0; n < COUNT; n++) {
    const row = { ...CALL, id: `r${n}`, principal: { id: 'ann', kind: 'grant' } } as ApprovalRow
    const sent = { rest: '{}', args: `{"order":"A-${n}"}` }
    standing.check(row, sent, { wanted: { forMs: 1_000 }, by: 'bob', nowMs: 1 })()
  }
  return { database, standing, openStanding, openedCount: () => opened }
}

test('finding: the arguments of a call are read once, however many approvals are for such calls', () => {
  const { database, standing } = open()
  let reads = 0
  const callWith = (args: string) => ({
    ...CALL,
    principal: 'ann',
    session: 's1',
    rest: '{}',
    get args() {
      reads++
      return args
    },
  })
  expect(standing.find(callWith('{"order":"A-none"}'), 2)).toBeUndefined()
  expect(standing.find(callWith(`{ "order": "A-${COUNT - 1}" }`), 2)).toMatchObject({ by: ['bob'] })
  expect(standing.find(callWith('["A-1"]'), 2)).toBeUndefined()
  expect(reads).toBe(3)
  database.close()
})

test('finding: what is shown of one is masked once', () => {
  const { database, standing } = open()
  const [first, again] = [standing.list(2), standing.list(2)]
  expect(first).toHaveLength(COUNT)
  expect(again[7]?.bounds).toBe(first[7]?.bounds)
  expect(again[7]?.bounds).toEqual({ order: { oneOf: ['"A-7"'] } })
  database.close()
})

test('finding: a change at another gate reads only what is new', () => {
  const { database, standing, openStanding, openedCount } = open()
  const other = openStanding()
  expect(openedCount()).toBe(COUNT)
  standing.end('r3-while')
  const row = { ...CALL, id: 'new', principal: { id: 'ann', kind: 'grant' } } as ApprovalRow
  const wanted = { wanted: { forMs: 1_000 }, by: 'bob', nowMs: 1 }
  standing.check(row, { rest: '{}', args: '{}' }, wanted)()
  other.reload()
  expect(openedCount()).toBe(COUNT + 1)
  expect(other.list(2).map(({ id }) => id)).toEqual(standing.list(2).map(({ id }) => id))
  expect([other.has('r3-while', 2), other.has('new-while', 2)]).toEqual([false, true])
  database.close()
})
