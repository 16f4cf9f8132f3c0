// Tokens and cost by time: SQLite and PostgreSQL give the figures that the same answers have when they are added
// up one by one, for any range, by any number of gates, and with agents that were removed. Figures begin where
// an older store was migrated, and the store says when that was.

import { randomUUID } from 'node:crypto'
import { parsePostgresUrl } from '@sluice/ledger/store/postgres/address'
import { PostgresConnections } from '@sluice/ledger/store/postgres/connections'
import { migrate } from '@sluice/ledger/store/postgres/migrate'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../../../../test/support/postgres.ts'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { bench, LIMITS } from '../agents.test-support.ts'
import type { JournalEvent, Price } from '../guest/protocol.ts'
import { USAGE_KEPT_MS } from '../shared/limits.ts'
import { copyAgents } from './copy-tables.ts'
import type { JournalEntry } from './event-journal.ts'
import { IDLE } from './idle-summary.test-support.ts'
import { Journal } from './journal.ts'
import type { ModelTotals, UsageRange } from './model-usage.ts'
import type { AgentRow } from './rows.ts'

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000]
/** The beginning of an hour. */
const START_MS = 1_800_000_000_000

/** Of a model each; the second one is cheap, the third has no price. */
const AGENTS: readonly { readonly model: string; readonly price: Price | null }[] = [
  { model: 'large', price: { inputMicros: 3, outputMicros: 15 } },
  { model: 'small', price: { inputMicros: 0.15, outputMicros: 0.6 } },
  { model: 'Own', price: null },
]

interface Answer {
  readonly agent: number
  readonly atMs: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** Five hours, with answers at the ends of hours and minutes. */
const ANSWERS: readonly Answer[] = [
  ...Array.from({ length: 300 }, (_, n) => START_MS + n * 61_013),
  ...[0, 1, 2, 3].flatMap((n) => [START_MS + n * HOUR_MS - 1, START_MS + n * HOUR_MS]),
  ...[1, 61, 62].flatMap((n) => [START_MS + n * MINUTE_MS - 1, START_MS + n * MINUTE_MS]),
].map((atMs, n) => ({
  agent: n % AGENTS.length,
  atMs,
  inputTokens: 1_000 + ((n * 7_919) % 1_001),
  outputTokens: (n * 104_729) % 503,
}))

const RANGES: readonly UsageRange[] = [
  { sinceMs: START_MS, untilMs: START_MS + HOUR_MS },
  { sinceMs: START_MS + HOUR_MS, untilMs: START_MS + 4 * HOUR_MS },
  { sinceMs: START_MS + 1, untilMs: START_MS + 2 * HOUR_MS + 1 },
  { sinceMs: START_MS - 1, untilMs: START_MS + 2 * HOUR_MS - 1 },
  { sinceMs: START_MS + 20 * MINUTE_MS, untilMs: START_MS + 40 * MINUTE_MS + 17 },
  { sinceMs: START_MS + 50 * MINUTE_MS, untilMs: START_MS + 70 * MINUTE_MS },
  { sinceMs: START_MS - 30 * 24 * HOUR_MS, untilMs: START_MS + 30 * 24 * HOUR_MS },
  { sinceMs: 0, untilMs: START_MS - HOUR_MS },
]

/** One by one: an answer belongs to the range in which its minute begins. */
function addUp({ sinceMs, untilMs }: UsageRange): ModelTotals[] {
  const totals = AGENTS.map(({ model, price }, agent) => {
    const own = ANSWERS.filter((answer) => {
      const minuteMs = answer.atMs - (answer.atMs % MINUTE_MS)
      return answer.agent === agent && minuteMs >= sinceMs && minuteMs < untilMs
    })
    const sum = (of: (answer: Answer) => number) => own.reduce((all, one) => all + of(one), 0)
    const nanos = sum(({ inputTokens, outputTokens }) =>
      price === null
        ? 0
        : Math.round(1_000 * (inputTokens * price.inputMicros + outputTokens * price.outputMicros)),
    )
    return {
      model,
      modelCalls: own.length,
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
      costMicros: nanos / 1_000,
    }
  })
  return sortByModel(totals.filter(({ modelCalls }) => modelCalls > 0))
}

function sortByModel(totals: readonly ModelTotals[]): ModelTotals[] {
  return [...totals].sort((one, other) => (one.model < other.model ? -1 : 1))
}

function insertAgent(journal: Journal, id: string, about: (typeof AGENTS)[number]): AgentRow {
  const first = { seq: 0, at: 1, kind: 'create', turn: 0, event: '{}', bytes: null, answer: null }
  const made = { id, owner: 'me', depth: 0, image: 'image', createdAt: 1, asked: {}, grants: [] }
  const limits = { ...LIMITS, maxTurns: 100_000 }
  const agent = { ...made, ...about, template: null, limits }
  return journal.transact(() => journal.insertAgent(agent, IDLE, first))
}

function toEntry({ atMs: at, inputTokens, outputTokens }: Answer): JournalEntry {
  const usage = { inputTokens, outputTokens }
  const event: JournalEvent = { kind: 'model', at, effectId: 'e', text: '', toolCalls: [], usage }
  const step = { effects: [], dropped: [], ended: [], output: null, summary: IDLE, changes: null }
  return { event, row: { event: '{}', bytes: null, answer: null }, step, nonce: null }
}

/** Each agent at one of the journals, in turn. */
async function writeAll(journals: readonly Journal[]): Promise<void> {
  for (const [at, about] of AGENTS.entries()) {
    const journal = journals[at % journals.length] as Journal
    const first = insertAgent(journal, `a${at}`, about)
    let agent = first
    for (const answer of ANSWERS.filter((one) => one.agent === at)) {
      const reply = await journal.append({ agent }, [toEntry(answer)])
      if (reply.status !== 'appended') throw new Error(reply.status)
      agent = reply.agent
    }
    // A commit that comes too late writes nothing.
    const late = await journal.append({ agent: first }, [toEntry(ANSWERS[at] as Answer)])
    expect(late.status).toBe('fenced')
    if (at === 0) journal.transact(() => journal.remove(agent, START_MS))
  }
}

function readAll(journal: Journal): ModelTotals[][] {
  return RANGES.map((range) => sortByModel(journal.usage.read(range)))
}

test('in a data directory: exact for every range, without what a late commit brought', async () => {
  const journal = new Journal(scratchDirectory())
  onTestFinished(() => journal.close())
  await writeAll([journal])
  expect(readAll(journal)).toEqual(RANGES.map(addUp))
  expect(journal.usage.startedMs).toBeNull()
  const lastMs = START_MS + 6 * HOUR_MS
  journal.usage.drop(lastMs)
  expect(readAll(journal)).toEqual(RANGES.map(addUp))
  journal.usage.drop(lastMs + USAGE_KEPT_MS)
  expect(readAll(journal)).toEqual(RANGES.map(() => []))
})

test('a call that was paid for counts, though its agent and its family are gone', async () => {
  const b = await bench()
  const usage = { inputTokens: 7, outputTokens: 2, costMicros: 12.5 }
  b.operations.chargeFamily(999, { turns: 1, atMs: START_MS, model: 'large', ...usage })
  const range = { sinceMs: START_MS, untilMs: START_MS + 1 }
  expect(b.operations.modelUsage([range, { ...range, untilMs: START_MS }])).toEqual({
    startedMs: null,
    ranges: [[{ model: 'large', modelCalls: 1, ...usage }], []],
  })
})

const postgres = findPostgres()

describe.skipIf(postgres === undefined)(namePostgresSuite('in a shared store', postgres), () => {
  let server: RunningPostgres
  beforeAll(async () => {
    server = await startPostgres(postgres as string)
  })
  afterAll(() => server?.end())

  async function createStore(name: string) {
    await server.createDatabase(name)
    const address = parsePostgresUrl(server.url(name))
    const connections = new PostgresConnections(address)
    onTestFinished(() => connections.close())
    await migrate(connections)
    const open = (gate: string) => {
      const journal = new Journal({ address, gate, lease: randomUUID() })
      onTestFinished(() => journal.close())
      return journal
    }
    return { address, connections, open }
  }

  test('the figures of two gates are those of one directory, and are moved with it', async () => {
    const store = await createStore('usage')
    const [one, other] = [store.open('one'), store.open('other')]
    await writeAll([one, other])
    const directory = scratchDirectory()
    const journal = new Journal(directory)
    await writeAll([journal])
    const local = readAll(journal)
    journal.close()
    expect(readAll(one)).toEqual(local)
    expect(readAll(other)).toEqual(local)
    const target = await createStore('moved')
    await copyAgents(directory, target.connections)
    expect(readAll(target.open('one'))).toEqual(local)
  })

  test('a new store has figures by time from the beginning', async () => {
    const unused = await createStore('unused')
    expect(unused.open('one').usage.startedMs).toBeNull()
  })
})
