// What every driver of the journal promises: an event with all that follows from it, or nothing, and only
// where the caller believes the agent to be. SQLite, PostgreSQL and the model in memory, each also behind a
// driver that is slow on purpose; then agents whose steps are committed through the slow one, and leases.

import { randomUUID } from 'node:crypto'
import { type PostgresAddress, parsePostgresUrl } from '@sluice/ledger/store/postgres/address'
import { BlockingConnection } from '@sluice/ledger/store/postgres/blocking-connection'
import { PostgresConnections } from '@sluice/ledger/store/postgres/connections'
import { migrate } from '@sluice/ledger/store/postgres/migrate'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../../../../test/support/postgres.ts'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { Bench, call, configOf, coreImage, LIMITS } from '../agents.test-support.ts'
import type { Effect, JournalEvent, StepResult, Summary } from '../guest/protocol.ts'
import type { Database } from './database.ts'
import type { EventJournal, JournalEntry } from './event-journal.ts'
import { IDLE, NO_USAGE } from './idle-summary.test-support.ts'
import { Journal } from './journal.ts'
import { MemoryJournal } from './memory-journal.test-support.ts'
import { newFamily, rowOf } from './new-rows.ts'
import type { AgentRow } from './rows.ts'
import { SlowJournal } from './slow-journal.test-support.ts'

const NOTHING: StepResult = {
  effects: [],
  dropped: [],
  ended: [],
  output: null,
  summary: IDLE,
  changes: null,
}
const ABOUT = {
  owner: 'me',
  depth: 0,
  image: 'image',
  createdAt: 1,
  asked: {},
  model: 'script:x',
  template: null,
  grants: [],
  price: null,
}
const LIMITED = { ...LIMITS, maxTurns: 2, runMs: 500 }

const postgres = findPostgres()
const STORES = { sqlite: openSqlite, memory: openMemory, postgres: openPostgres }
const DRIVERS = (['sqlite', 'memory'] as (keyof typeof STORES)[])
  .flatMap((store) => [
    { store, isSlow: false, name: String(store) },
    { store, isSlow: true, name: `${store}, slow` },
  ])
  .concat({ store: 'postgres', isSlow: false, name: namePostgresSuite('postgres', postgres) })

function open({ store, isSlow }: (typeof DRIVERS)[number]) {
  const inner = STORES[store]()
  const journal: EventJournal = isSlow ? new SlowJournal(inner.journal) : inner.journal
  return { ...inner, journal }
}

let server: RunningPostgres | undefined
let address: PostgresAddress

beforeAll(async () => {
  if (postgres === undefined) return
  server = await startPostgres(postgres)
  await server.createDatabase('journal')
  address = parsePostgresUrl(`postgres://sluice@127.0.0.1:${server.port}/journal`)
  const connections = new PostgresConnections(address)
  await migrate(connections)
  await connections.close()
})
afterAll(() => server?.end())

function openShared(gate: string): Journal {
  const journal = new Journal({ address, gate, lease: randomUUID() })
  onTestFinished(() => journal.close())
  return journal
}

function openPostgres() {
  const journal = openShared('a')
  for (const table of ['agents', 'families', 'events', 'effects', 'runs'])
    journal.run(`DELETE FROM ${table}`)
  const alter = 'ALTER TABLE sluice_agents.effects'
  return openTables(journal, () => {
    journal.run(`${alter} ADD CONSTRAINT is_full CHECK (false) NOT VALID`)
    onTestFinished(() => void openShared('b').run(`${alter} DROP CONSTRAINT is_full`))
  })
}

function openSqlite() {
  const journal = new Journal(scratchDirectory())
  onTestFinished(() => journal.close())
  const trigger =
    "CREATE TEMP TRIGGER full BEFORE INSERT ON effects BEGIN SELECT raise(ABORT, 'full'); END"
  return openTables(journal, () => (journal.database as Database).database.exec(trigger))
}

function openTables(journal: Journal, fail: () => void) {
  const first = { seq: 0, at: 1, kind: 'create', turn: 0, event: '{}', bytes: null, answer: null }
  const made = { id: 'a', ...ABOUT, limits: LIMITED }
  const agent = journal.transact(() => journal.insertAgent(made, IDLE, first))
  return {
    journal,
    agent,
    /** Everything a commit writes. */
    read: () => ({
      agent: journal.agent('a'),
      family: journal.family(agent.family),
      events: journal.events(agent.key, 0, 100).map(({ seq, kind, event }) => [seq, kind, event]),
      effects: journal.work.openEffects().map(({ id, kind }) => [id, kind]),
      run: journal.work.findRun(agent.key, null),
    }),
    fail,
  }
}

function openMemory() {
  const agent = { key: 1, id: 'a', ...rowOf({ ...ABOUT, family: 1 }, IDLE, 0) }
  const journal = new MemoryJournal(agent, newFamily({ limits: LIMITED, price: null, labels: [] }))
  return {
    journal,
    agent,
    read: () => {
      const { agents, families, events, effects, runs } = journal.state
      const [run] = [...runs.values()].sort((a, b) => (a.runId < b.runId ? 1 : -1))
      return {
        agent: agents.get('a'),
        family: families.get(1),
        events: (events.get(1) ?? []).map(({ seq, kind, event }) => [seq, kind, event]),
        effects: [...effects.values()].map(({ id, kind }) => [id, kind]),
        run: run && { runId: run.runId, startedAt: run.startedAt, result: run.result },
      }
    },
    fail: () => {
      journal.isFull = true
    },
  }
}

const MODEL: Effect = { kind: 'model', id: 'e1', epoch: 0, from: 0, messages: [] }
const RUNNING: Summary = { ...IDLE, state: 'running', runId: 'r1' }

function entryOf(event: JournalEvent, step: Partial<StepResult> = {}): JournalEntry {
  const row = { event: JSON.stringify(event), bytes: null, answer: null }
  return { event, row, step: { ...NOTHING, ...step }, nonce: null }
}

const prompt = entryOf(
  { kind: 'prompt', at: 100, runId: 'r1', input: 'go', maxTurns: null },
  { effects: [MODEL], summary: RUNNING },
)

function answered(at: number, more: Partial<StepResult> = {}): JournalEntry {
  const usage = { inputTokens: 3, outputTokens: 4 }
  const event = { kind: 'model', at, effectId: 'e1', text: 'hi', toolCalls: [], usage } as const
  return entryOf(event, { summary: RUNNING, ...more })
}

async function append(journal: EventJournal, agent: AgentRow, entries: readonly JournalEntry[]) {
  const reply = await journal.append({ agent }, entries)
  if (reply.status !== 'appended') throw new Error(reply.status)
  return reply
}

describe.each(DRIVERS)('the journal: $name', (driver) => {
  if (driver.store === 'postgres' && postgres === undefined) {
    test.skip('without PostgreSQL', () => {})
    return
  }

  test('stores an event with its run, its effects, the counts and the status', async () => {
    const { journal, agent, read } = open(driver)
    const first = await append(journal, agent, [prompt])
    expect(first).toMatchObject({ agent: { seq: 1, state: 'running' }, runStartedAt: 100 })
    expect(read()).toMatchObject({
      agent: first.agent,
      events: [[1, 'prompt', prompt.row.event]],
      effects: [['e1', 'model']],
      run: { runId: 'r1', startedAt: 100, result: null },
    })
    const end = { runId: 'r1', response: 'hi', turns: 1, toolCalls: 0, usage: NO_USAGE }
    const ended = [{ ...end, stop: { reason: 'answered', detail: '' } } as const]
    const second = await append(journal, first.agent, [answered(200, { ended, summary: IDLE })])
    expect(second).toMatchObject({ family: { turns: 1, tokens: 7 }, runStartedAt: null })
    expect(read()).toMatchObject({ effects: [], run: { result: ended[0] }, agent: { seq: 2 } })
  })

  test('appends several events as one', async () => {
    const { journal, agent, read } = open(driver)
    const both = await append(journal, agent, [prompt, answered(200)])
    expect(both.agent.seq).toBe(2)
    expect(read().events.map(([seq]) => seq)).toEqual([1, 2])
  })

  test('writes nothing behind a fence that is not where the agent is', async () => {
    const { journal, agent, read } = open(driver)
    await append(journal, agent, [prompt])
    const before = read()
    expect(await journal.append({ agent }, [prompt])).toEqual({ status: 'fenced', seq: 1 })
    const ahead = { ...agent, seq: 7 }
    expect(await journal.append({ agent: ahead }, [prompt])).toEqual({ status: 'fenced', seq: 1 })
    const unknown = { ...agent, id: 'b' }
    expect(await journal.append({ agent: unknown }, [prompt])).toMatchObject({ status: 'fenced' })
    expect(read()).toEqual(before)
  })

  test('of many writers at the same event lets one pass', async () => {
    const { journal, agent, read } = open(driver)
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => journal.append({ agent }, [prompt])),
    )
    expect(replies.filter(({ status }) => status === 'appended')).toHaveLength(1)
    expect(read().events).toHaveLength(1)
  })

  test('stops a family at its limit, and leaves it no effect', async () => {
    const { journal, agent, read } = open(driver)
    const tool: Effect = { kind: 'tool', id: 'e2', server: 's', tool: 't', input: {} }
    const { agent: asked } = await append(journal, agent, [prompt, answered(110)])
    const last = await append(journal, asked, [answered(120, { effects: [tool] })])
    expect(last.agent).toMatchObject({ state: 'stopped', hostStop: { reason: 'host_limit' } })
    expect(read()).toMatchObject({ effects: [], family: { turns: 2, calls: 1 } })
    const resumed: JournalEvent = { kind: 'resume', at: 130, limits: { maxTurns: 9 }, runId: 'r2' }
    const after = await append(journal, last.agent, [entryOf(resumed)])
    expect(after).toMatchObject({ agent: { hostStop: null }, family: { limits: { maxTurns: 9 } } })
  })

  test('does not count the time of a pause', async () => {
    const { journal, agent, read } = open(driver)
    const pause = entryOf({ kind: 'pause', at: 150, reason: '' }, { summary: RUNNING })
    const paused = await append(journal, agent, [prompt, pause])
    expect(paused).toMatchObject({ agent: { state: 'paused', pausedAt: 150 }, runStartedAt: null })
    const resume: JournalEvent = { kind: 'resume', at: 9_000, limits: {}, runId: 'r2' }
    const resumed = await append(journal, paused.agent, [entryOf(resume, { summary: RUNNING })])
    expect(resumed).toMatchObject({ agent: { state: 'running' }, runStartedAt: 8_950 })
    expect(read().run).toMatchObject({ runId: 'r1' })
  })

  test('counts the time of a run from now on if it began before the clock was set back', async () => {
    const { journal, agent } = open(driver)
    const waiting = (at: number) =>
      entryOf({ kind: 'waiting', at, effectId: 'e', on: '' }, { summary: RUNNING })
    const begun = await append(journal, agent, [prompt])
    const later = await append(journal, begun.agent, [waiting(50)])
    expect(later).toMatchObject({ agent: { state: 'running' }, runStartedAt: 49 })
    expect(await append(journal, later.agent, [waiting(60)])).toMatchObject({ runStartedAt: 49 })
  })

  test('a failed append leaves nothing', async () => {
    const { journal, agent, read, fail } = open(driver)
    const before = read()
    fail()
    await expect(journal.append({ agent }, [prompt])).rejects.toThrow()
    expect(read()).toEqual(before)
  })
})

describe.skipIf(postgres === undefined)(namePostgresSuite('a shared store', postgres), () => {
  test('is asked once for a mark of an effect, and once for a step', async () => {
    const { journal, agent } = openPostgres()
    const { agent: asked } = await append(journal, agent, [prompt])
    expect(journal.work.effectKind(agent.key, 'e1')).toBe('model')
    const send = vi.spyOn(BlockingConnection.prototype, 'send')
    onTestFinished(() => send.mockRestore())
    expect(journal.work.markEffect(agent.key, 'e1', { startedAt: 150 })).toBe(true)
    expect(send).toHaveBeenCalledTimes(1)
    await append(journal, asked, [answered(200)])
    expect(send).toHaveBeenCalledTimes(2)
    expect(journal.work.markEffect(agent.key, 'e1', { startedAt: 250 })).toBe(false)
  })

  test('says within a transaction whose a family is, and takes none over there', () => {
    const { journal, agent } = openPostgres()
    const fork = (gate: Journal, id: string) =>
      gate.transact(() => {
        gate.get('SELECT 1 AS one FROM families')
        gate.insertAlike({ ...ABOUT, family: agent.family }, IDLE, 1, [id])
      })
    fork(journal, 'b')
    expect(journal.agent('b')).toMatchObject({ family: agent.family })
    expect(journal.family(agent.family).members).toBe(2)
    const other = openShared('other')
    journal.close()
    // If the transaction were rolled back, the family would not be this gate's.
    expect(() => fork(other, 'c')).toThrow('the family runs at another gate')
    expect(other.database.leases?.acquireFamily(agent.family)).toBe(true)
    fork(other, 'c')
  })

  test('writes nothing of a transaction that was not begun', () => {
    const { journal } = openPostgres()
    const { send } = BlockingConnection.prototype
    const spy = vi.spyOn(BlockingConnection.prototype, 'send')
    onTestFinished(() => spy.mockRestore())
    spy.mockImplementationOnce(function (this: BlockingConnection, [, ...statements], options) {
      return send.call(this, [{ text: 'SELECT cancelled' }, ...statements], options)
    })
    const label = () => journal.run('UPDATE families SET labels = \'["half"]\'')
    expect(label).toThrow('cancelled')
    expect(journal.all('SELECT labels FROM families')).toEqual([{ labels: '[]' }])
  })
})

test('a path of JSON is no parameter', () => {
  const { journal } = openSqlite()
  const sql = "SELECT json_extract($1, '$.input') AS input"
  expect(journal.all(sql, '{"input":"go"}')).toEqual([{ input: 'go' }])
})

describe.skipIf(postgres === undefined)(namePostgresSuite('forks', postgres), () => {
  test('are rows that differ by their key and id, on both databases', () => {
    for (const { journal, agent } of [openSqlite(), openPostgres()]) {
      const ids = Array.from({ length: 600 }, (_, at) => `fork-${at}`)
      const answer = Buffer.from([0, 255])
      const rows = journal.transact(() => {
        const made = journal.insertAlike({ ...ABOUT, family: agent.family }, IDLE, 1, ids)
        journal.appendForked([made[0]?.key ?? 0, made.at(-1)?.key ?? 0], 7, 3, answer)
        return made
      })
      expect(rows.map(({ id }) => journal.agent(id))).toEqual(rows)
      expect(rows.map(({ key }) => key - (rows[0]?.key ?? 0))).toEqual([...ids.keys()])
      const [first] = journal.events(rows[599]?.key ?? 0, 0, 9)
      const event = JSON.stringify({ kind: 'forked', at: 7, id: 'fork-599', seed: 'fork-599' })
      expect(first).toMatchObject({ seq: 1, at: 7, turn: 3, event })
      expect(Buffer.from(first?.answer ?? [])).toEqual(answer)
    }
  })
})

describe.skipIf(postgres === undefined)(namePostgresSuite('leases', postgres), () => {
  test('a gate that lost its lease writes nothing, and its family goes to the next that asks', async () => {
    const { agent } = openPostgres()
    const [first, second] = [openShared('first'), openShared('second')]
    const acquire = (journal: Journal) => journal.database.leases?.acquireAgent('a')
    // The gate `a` is gone.
    openShared('a').close()
    expect(acquire(first)).toBeUndefined()
    expect(acquire(second)).toBe('first')
    const { agent: asked } = await append(first, agent, [prompt])
    second.run("UPDATE sluice_agents.leases SET beat_at = '-infinity' WHERE gate = 'first'")
    expect(second.takeOver(0)).toMatchObject({ wasFenced: false, agents: ['a'] })
    expect(second.agent('a')).toEqual(asked)
    await expect(first.append({ agent: asked }, [answered(200)])).rejects.toMatchObject({
      code: 'STORE_FENCED',
    })
    await append(second, asked, [answered(200)])
    expect(first.takeOver(0)).toMatchObject({ wasFenced: true, agents: [] })
    expect(first.isOwn(agent.family)).toBe(false)
    expect(first.agent('a')?.seq).toBe(2)
    second.close()
    expect(first.takeOver(0)).toMatchObject({ agents: [] })
    expect(acquire(first)).toBeUndefined()
  })

  test('a lease of a gate that is gone ends, also if it was renewed while the clock of the database was ahead', async () => {
    const { agent } = openPostgres()
    const [gone, next] = [openShared('gone'), openShared('next')]
    openShared('a').close()
    expect(gone.database.leases?.acquireAgent('a')).toBeUndefined()
    await append(gone, agent, [prompt])
    next.run(
      "UPDATE sluice_agents.leases SET beat_at = now() + interval '1 year' WHERE gate = 'gone'",
    )
    expect(next.takeOver(0)).toMatchObject({ wasFenced: false, agents: ['a'] })
  })

  test('after the database was away, a gate leaves the others time to renew their leases', () => {
    openPostgres()
    const [back, slow] = [openShared('back'), openShared('slow')]
    openShared('a').close()
    expect(slow.database.leases?.acquireAgent('a')).toBeUndefined()
    let nowMs = performance.now() + 20_000
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    onTestFinished(() => clock.mockRestore())
    back.run("UPDATE sluice_agents.leases SET beat_at = '-infinity' WHERE gate = 'slow'")
    expect(back.takeOver(0)).toMatchObject({ wasFenced: false, agents: [] })
    expect(back.database.leases?.acquireAgent('a')).toBe('slow')
    expect(slow.takeOver(0)).toMatchObject({ wasFenced: false })
    // One that does not come back is gone.
    back.run("UPDATE sluice_agents.leases SET beat_at = '-infinity' WHERE gate = 'slow'")
    nowMs += 4_900
    back.takeOver(0)
    expect(back.database.leases?.acquireAgent('a')).toBeUndefined()
  })

  test('a transaction goes on over no other connection, and a lease is not valid after a failover', async () => {
    const { agent } = openPostgres()
    const gate = openShared('cut')
    openShared('a').close()
    expect(gate.database.leases?.acquireAgent('a')).toBeUndefined()
    const other = new BlockingConnection(address)
    onTestFinished(() => other.close())
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = 'journal' AND state = 'idle in transaction'`
    const begin = () =>
      gate.transact(() => {
        gate.get('SELECT 1 AS one FROM families')
        // As a gate that was stopped in a transaction: its connection is ended, and the thread opens another.
        expect(other.send([{ text: cut }])[0]).toHaveLength(1)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
        gate.run('UPDATE families SET labels = \'["zombie"]\'')
      })
    expect(begin).toThrow('the connection was lost')
    const [rows] = other.send([{ text: 'SELECT labels FROM sluice_agents.families' }])
    expect(rows).toEqual([{ labels: '[]' }])
    await expect.poll(() => gate.takeOver(0).wasFenced).toBe(false)
    // A promoted standby is on another timeline.
    other.send([{ text: "UPDATE sluice_agents.leases SET timeline = 'before'" }])
    await expect(gate.append({ agent }, [prompt])).rejects.toMatchObject({ code: 'STORE_FENCED' })
    expect(gate.takeOver(0)).toMatchObject({ wasFenced: true })
    expect(gate.isOwn(agent.family)).toBe(true)
    await append(gate, agent, [prompt])
  })
})

describe('an agent over a journal that takes its time', () => {
  async function slowBench() {
    let slow: SlowJournal | undefined
    const b = new Bench(scratchDirectory(), await coreImage(), undefined, (journal) => {
      slow = new SlowJournal(journal)
      return slow
    })
    onTestFinished(() => b.operations.close())
    return { b, slow: slow as SlowJournal }
  }

  test('runs from prompt to answer', async () => {
    const { b } = await slowBench()
    await b.create('a', configOf({ maxTurns: 2 }))
    const write = [call('write_file', { path: 'f', content: '1' })]
    const step = await b.model('a', await b.prompt('a', 'go', 'r1'), '', write)
    const done = await b.model('a', step, 'done')
    expect(done.ended).toMatchObject([{ runId: 'r1' }])
    expect(b.operations.standing(null, 'a', 0).agent).toMatchObject({ seq: 4, state: 'stopped' })
  })

  test.each(['before', 'after'] as const)(
    'a commit that fails %s it was stored is not made twice, and memory and journal agree',
    async (fails) => {
      const { b, slow } = await slowBench()
      await b.create('a')
      const step = await b.prompt('a', 'go', 'r1')
      slow.fails = fails
      const effectId = step.effects[0]?.id
      const usage = { inputTokens: 1, outputTokens: 1 }
      const result = { kind: 'model', at: 5, effectId, text: 'done', toolCalls: [], usage }
      await expect(b.send('a', result, 'n1')).rejects.toThrow(/lost/)
      slow.fails = 'never'
      // The request again, under its own name: run if it was not committed, else answered from the journal.
      const again = await b.send('a', result, 'n1')
      expect(again.ended).toMatchObject([{ runId: 'r1', response: 'done' }])
      const { agent, family } = b.operations.standing(null, 'a', 0)
      expect([agent.seq, family.turns, family.tokens]).toEqual([3, 1, 2])
      expect(b.ask('a', { ask: 'summary' })).toEqual(agent.summary)
    },
  )
})
