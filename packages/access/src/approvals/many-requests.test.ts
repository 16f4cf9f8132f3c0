// Approvals at their limits: what concerns a few of many requests reads those few, without their
// arguments, and what concerns all of them is done in slices, but applies immediately.

import { constants, DatabaseSync } from 'node:sqlite'
import type { JsonObject } from '@sluice/policy/values/json'
import { describe, expect, test, vi } from 'vitest'
import type { ApprovalRequest } from './approval.ts'
import {
  ada,
  asking,
  bench,
  type EngineBench,
  makeCall,
  proposed,
  yes,
} from './engine.test-support.ts'
import {
  ARGS_LENGTH_MAX,
  CHANGE_AGAIN_MS,
  EXPIRED_PER_TURN,
  LISTED_LENGTH_MAX,
  OPEN_PER_TOOL_MAX,
  SHOWN_KEPT_LENGTH_MAX,
  SHOWN_KEPT_MAX,
} from './limits.ts'
import { RequestViews } from './request-views.ts'
import { REQUEST_STATEMENTS, Requests } from './requests.ts'
import {
  APPROVAL_INDEXES,
  APPROVAL_OF_UNKNOWN,
  APPROVAL_SESSION_NAME,
  APPROVAL_TABLES,
} from './schema.ts'

const UNSLICED = { isOver: false, next: async () => {} }

/** Every request is a slice of its own. */
function sliced(b: EngineBench): { go(): void } {
  const waiting: (() => void)[] = []
  b.slices = { isOver: true, next: () => new Promise((resolve) => void waiting.push(resolve)) }
  return { go: () => waiting.shift()?.() }
}

const COUNT = 40
const propose = async (b: EngineBench, count = COUNT): Promise<string[]> => {
  const ids: string[] = []
  for (let at = 0; at < count; at++)
    ids.push(await proposed(b, makeCall(`{"at":${at}}`, { session: `s${at}` })))
  return ids
}
const storedStates = (b: EngineBench): string[] =>
  b.database
    .prepare('SELECT state FROM approvals ORDER BY seq')
    .all()
    .map(({ state }) => String(state))

test('a text is searched in all requests, whatever page they are on, and counted', async () => {
  const b = bench()
  const ids = await propose(b)
  await b.engine.decide(
    ids[3] as string,
    { ...yes, verdict: 'deny', comment: 'Not Today' },
    ada,
    'console',
  )
  const list = async (filter: object) => (await b.engine.list(filter)).map(({ id }) => id)
  expect(await list({ text: 'not today', limit: 1 })).toEqual([ids[3]])
  expect(await list({ text: '"at":1', limit: 3 })).toEqual([ids[19], ids[18], ids[17]])
  expect(await b.engine.count({ text: '"at":1' })).toBe(11)
  expect(await list({ text: '"at":1', before: ids[12] })).toEqual([ids[11], ids[10], ids[1]])
  expect(await b.engine.count({ text: 'nothing' })).toBe(0)
  expect(await list({ text: 'nothing', recorded: new Set([ids[5]]) })).toEqual([ids[5]])
  expect(await b.engine.count({ states: ['denied'] })).toBe(1)
})

describe('finding: work on all open requests holds the event loop', () => {
  test.each(Object.entries(REQUEST_STATEMENTS))('`%s` uses an index', (_, sql) => {
    const { database } = bench()
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    const steps = plan.map(({ detail }) => String(detail))
    expect(steps.filter((step) => /^SCAN (?!.*COVERING INDEX)|TEMP B-TREE/.test(step))).toEqual([])
  })

  test('only the statement for arguments reads them', () => {
    const { database } = bench()
    const reads = Object.entries(REQUEST_STATEMENTS).filter(([, sql]) => {
      let isRead = false
      database.setAuthorizer((action, _table, column) => {
        if (action === constants.SQLITE_READ && column === 'args') isRead = true
        return constants.SQLITE_OK
      })
      database.prepare(sql)
      database.setAuthorizer(null)
      return isRead
    })
    expect(reads.map(([name]) => name)).toEqual(['args'])
  })

  test('what concerns no request reads none', async () => {
    const b = bench()
    await propose(b)
    const read = vi.spyOn(Requests.prototype, 'read')
    b.engine.definitionSeen('s', 'other', 'pin 2')
    b.engine.definitionSeen('s', 'pay', 'pin')
    b.engine.policyChanged(() => true)
    b.engine.peopleChanged()
    expect([b.engine.pendingCount, b.engine.oldestOpenMs]).toEqual([COUNT, b.nowMs])
    expect(read).not.toHaveBeenCalled()
    const soon = await proposed(b, makeCall('{"soon":1}', asking({ timeoutMs: 5 })))
    read.mockClear()
    b.nowMs += 5
    await b.engine.change(soon, 10_000)
    // When it is due, before it is ended, and to be shown.
    expect(read.mock.calls.map(([{ id }]) => id)).toEqual([soon, soon, soon])
    read.mockRestore()
  })

  test.each([
    ['a definition changes', (b: EngineBench) => b.engine.definitionSeen('s', 'pay', 'pin 2')],
    ['a rule is gone', (b: EngineBench) => b.engine.policyChanged(() => false)],
  ])('if %s, requests are void at once and ended in slices', async (_, change) => {
    const b = bench()
    const turns = sliced(b)
    const ids = await propose(b)
    const approved = ids.at(-1) as string
    await b.engine.decide(approved, yes, ada, 'terminal')
    await b.engine.decide(ids[20] as string, yes, ada, 'terminal')
    change(b)
    expect(storedStates(b).filter((state) => state === 'void')).toHaveLength(1)
    // Read before its turn, each is void.
    expect([b.engine.use(approved, 'c1'), b.engine.usesMax(ids[20] as string, false)]).toEqual([
      false,
      0,
    ])
    await expect(b.engine.decide(ids[30] as string, yes, ada, 'terminal')).rejects.toThrow('void')
    expect(b.engine.find(ids[31] as string)?.state).toBe('void')
    b.slices = UNSLICED
    expect(await b.engine.list({ states: ['pending', 'approved'], limit: 5 })).toEqual([])
    expect(storedStates(b).filter((state) => state === 'void').length).toBeLessThan(COUNT)
    for (let turn = 0; turn < COUNT; turn++) {
      turns.go()
      await new Promise(setImmediate)
    }
    expect(new Set(storedStates(b))).toEqual(new Set(['void']))
    const recorded = b.events.filter(({ name }) => name === 'approval-void')
    expect(recorded.map(({ detail }) => (detail as JsonObject).request).sort()).toEqual(
      [...ids].sort(),
    )
  })

  test('votes of a removed approver count no longer, and are changed in slices', async () => {
    const b = bench()
    const turns = sliced(b)
    const ids = await propose(b)
    for (const id of ids) await b.engine.decide(id, yes, ada, 'terminal')
    b.removed.add('ada')
    b.engine.peopleChanged()
    expect(storedStates(b).filter((state) => state === 'void')).toHaveLength(1)
    expect(b.engine.use(ids.at(-1) as string, 'c1')).toBe(false)
    for (let turn = 0; turn < COUNT; turn++) {
      turns.go()
      await new Promise(setImmediate)
    }
    expect(new Set(storedStates(b))).toEqual(new Set(['void']))
    expect(b.steps.filter((step) => step === 'void')).toHaveLength(COUNT)
  })

  test('what is void does not count for the session, also before its turn', async () => {
    const b = bench()
    sliced(b)
    const other = await propose(b, 3)
    for (let at = 0; at < OPEN_PER_TOOL_MAX; at++) await proposed(b, makeCall(`{"n":${at}}`))
    b.engine.definitionSeen('s', 'pay', 'pin 2')
    expect((await b.engine.ask(makeCall('{"n":"one more"}', { pin: 'pin 2' }))).is).toBe('pending')
    expect(storedStates(b).slice(0, other.length)).toEqual(['void', 'pending', 'pending'])
  })

  test('if nothing can be written, what is void is not used, and it is tried again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const b = bench()
      const [id = ''] = await propose(b, 1)
      await b.engine.decide(id, yes, ada, 'terminal')
      b.database.exec('PRAGMA query_only = 1')
      b.engine.definitionSeen('s', 'pay', 'pin 2')
      expect(b.warned).toEqual([expect.stringContaining('requests could not be ended')])
      expect(() => b.engine.use(id, 'c1')).toThrow('readonly')
      b.database.exec('PRAGMA query_only = 0')
      vi.advanceTimersByTime(CHANGE_AGAIN_MS)
      expect(storedStates(b)).toEqual(['void'])
    } finally {
      vi.useRealTimers()
    }
  })

  test('an approval that is given back after its time has come ends', async () => {
    const b = bench()
    const [id = ''] = await propose(b, 1)
    await b.engine.decide(id, yes, ada, 'terminal')
    b.engine.use(id, 'c1')
    b.nowMs = b.engine.find(id)?.expiresAtMs ?? 0
    // The look at what has run out: nothing is there, and none is planned behind it.
    b.engine.sharedChanged([])
    b.engine.settled(id, 'c1', 'not-sent')
    await b.engine.change(id, 10_000)
    expect(storedStates(b)).toEqual(['expired'])
  })

  test('an approver decides while many requests expire', async () => {
    const b = bench()
    const late = await proposed(b, makeCall('{"late":1}', asking({ timeoutMs: 90_000 })))
    const ids = await propose(b, 3 * EXPIRED_PER_TURN)
    b.nowMs += 60_000
    b.engine.sharedChanged([])
    await b.engine.change(ids[0] as string, 10_000)
    await b.engine.decide(late, yes, ada, 'terminal')
    expect(storedStates(b)).toContain('pending')
    await b.engine.change(ids.at(-1) as string, 10_000)
    expect(b.steps.filter((step) => step === 'expired')).toHaveLength(ids.length)
  })
})

describe('finding: a list of long calls holds the event loop', () => {
  test('it is made in slices, of requests as they are by then', async () => {
    const b = bench()
    const ids = await propose(b, 5)
    const turns = sliced(b)
    const listing = b.engine.list({ states: ['pending'] })
    await b.engine.decide(ids[0] as string, { verdict: 'deny' }, ada, 'terminal')
    for (let turn = 0; turn < ids.length; turn++) {
      turns.go()
      await new Promise(setImmediate)
    }
    expect((await listing).map(({ id }) => id)).toEqual(ids.slice(1).reverse())
  })

  test('a page ends at the length of its calls, and the next one goes on', async () => {
    const b = bench()
    const text = 'x '.repeat(ARGS_LENGTH_MAX / 2 - 50)
    const perPage = Math.floor(LISTED_LENGTH_MAX / text.length)
    const ids: string[] = []
    for (let at = 0; at < perPage + 3; at++)
      ids.unshift(await proposed(b, makeCall(`{"${at}":"${text}"}`, { session: `s${at}` })))
    const page = await b.engine.list({ limit: 1_000 })
    expect(page.length).toBeGreaterThan(perPage - 3)
    const next = await b.engine.list({ limit: 1_000, before: page.at(-1)?.id as string })
    expect([...page, ...next].map(({ id }) => id)).toEqual(ids)
    expect(next.length).toBeGreaterThan(0)
  })

  test('views of long calls are not kept without end', () => {
    const views = new RequestViews()
    const args = 'x'.repeat(SHOWN_KEPT_LENGTH_MAX / 4)
    const view = (id: string, more = {}) => ({ id, args, rest: '', ...more }) as ApprovalRequest
    for (let at = 0; at < 4; at++) views.set('v', view(`r${at}`))
    views.set('v', view('r3'))
    expect([0, 1, 2, 3].every((at) => views.get(`r${at}`, 'v') !== undefined)).toBe(true)
    expect(views.get('r1', 'v2')).toBeUndefined()
    views.set('v', view('r4', { args: 'x' }))
    expect([0, 1, 2, 3, 4].map((at) => views.get(`r${at}`, 'v') !== undefined)).toEqual([
      false,
      true,
      true,
      true,
      true,
    ])
    for (let at = 0; at < SHOWN_KEPT_MAX; at++) views.set('v', view(`s${at}`, { args: '' }))
    expect([views.get('r4', 'v'), views.get('s0', 'v')]).toEqual([undefined, expect.anything()])
  })
})

test('the beginning of an id finds its requests', async () => {
  const b = bench()
  await propose(b, 12)
  expect([b.engine.idsStartingWith('r1'), b.engine.idsStartingWith('r2')]).toEqual([
    ['r1', 'r10', 'r11', 'r12'],
    ['r2'],
  ])
})

test('a file of the version before keeps its requests', () => {
  const database = new DatabaseSync(':memory:')
  database.exec(APPROVAL_TABLES + APPROVAL_OF_UNKNOWN + APPROVAL_SESSION_NAME)
  const columns = database.prepare("SELECT name FROM pragma_table_info('approvals')").all()
  const names = columns.map(({ name }) => String(name))
  const numbers = ['seq', 'at', 'expires_at', 'edited', 'told', 'used_at', 'used_from', 'unknown']
  const values = (at: number) =>
    names.map((name) =>
      numbers.includes(name) ? at : name === 'args' ? Buffer.from([at]) : `${name} ${at}`,
    )
  const insert = database.prepare(`INSERT INTO approvals VALUES (${names.map(() => '?').join()})`)
  for (const at of [3, 7]) insert.run(...values(at))
  const rows = () => database.prepare('SELECT * FROM approvals ORDER BY seq').all()
  const before = rows()
  database.exec(APPROVAL_INDEXES)
  expect(rows()).toEqual(before)
  expect(Object.keys(rows()[0] ?? {}).at(-1)).toBe('args')
  const [, ...others] = names
  const more = database.prepare(
    `INSERT INTO approvals (${others}) VALUES (${others.map(() => '?')}) RETURNING seq`,
  )
  expect(more.get(...values(9).slice(1))?.seq).toBe(8)
})
