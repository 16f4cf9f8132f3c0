// Measures a store of many agents in a dedicated process: random ones queried and woken, pages of
// the list, and the memory used. Started by the bench with the store's directory, and the address of a
// PostgreSQL if the agents are there.

import { Service } from '../../packages/agents/src/service/service.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { type Timing, time } from './timing.ts'

export interface AtRest {
  readonly rows: readonly Timing[]
  readonly rssMb: number
  readonly startMs: number
}

const [directory = '', owner = '', amount = '0', store] = process.argv.slice(2)
const agents = Number(amount)
const began = performance.now()
const models = { environment: {}, providers: {}, scripts: directory, prices: {} }
const shared = store === undefined ? undefined : openShared(store)
const service = await Service.start({ directory, models, ...(shared && { shared }) })
const startMs = performance.now() - began

/** Enough to avoid repetition; the names of all of them would distort the measurement. */
const KNOWN_MAX = 10_000
/** Those that are visited repeatedly before memory is measured. */
const MET_AGAIN = 900
const ids: string[] = []
const share = Math.max(1, Math.ceil(agents / KNOWN_MAX))
let count = 0
for (let after = 0; count < agents; ) {
  const page = await service.steps.list(owner, null, after, 100)
  const last = page.at(-1)
  if (last === undefined) throw new Error(`there are ${count} agents, not ${agents}`)
  for (const { id } of page) if (count++ % share === 0) ids.push(id)
  after = last.key
}

/** A walk that visits no agent twice. */
const STRIDE = 7_919
let walked = 0
const next = (): string => ids[(walked++ * STRIDE) % ids.length] ?? ''
const of = `of ${agents.toLocaleString('en')} on disk`
const calls = Math.min(1_000, Math.floor(agents / 8))
const rows = [
  await time(`a random one ${of}: files`, calls, () =>
    service.ask(owner, next(), { ask: 'files' }),
  ),
  await time(`a random one ${of}: todos`, calls, () =>
    service.ask(owner, next(), { ask: 'todos' }),
  ),
  await time(`a random one ${of}: is_stopped`, calls, () =>
    service.steps.standing(owner, next(), Date.now()),
  ),
  await time(`a random one ${of}, woken: a file`, calls, () =>
    service.ask(owner, next(), { ask: 'read', path: 'src/f3.ts' }),
  ),
  await time(`a random one ${of}, woken: a todo is written`, calls, () =>
    service.callTool(owner, next(), 'write_todos', { todos: ['another'] }),
  ),
  await time(`a page of the list ${of}`, 200, (at) =>
    service.steps.list(owner, null, ((at * STRIDE) % Math.max(1, agents - 100)) + 1, 100),
  ),
]
// The same work for any size of the store: a fixed number of agents from all over it, each of them
// repeatedly, so that every in-memory cache of agents is full.
const met = Array.from({ length: Math.min(MET_AGAIN, ids.length) }, () => next())
for (let round = 0; round < 4; round += 1)
  for (const [at, id] of met.entries())
    await service.ask(owner, id, { ask: 'read', path: `src/f${(at + round) % 20}.ts` })
const rssMb = Math.round(process.memoryUsage().rss / 1_048_576)
await service.close()
await shared?.connections.close()
process.stdout.write(`${JSON.stringify({ rows, rssMb, startMs } satisfies AtRest)}\n`)

function openShared(url: string) {
  const address = parsePostgresUrl(url)
  const connections = new PostgresConnections(address)
  const keys = {
    requestKey: Buffer.alloc(32, 1),
    bundleSeed: Buffer.alloc(32, 2),
    ask: async () => 'gone' as const,
    clockFault: () => undefined,
  }
  return { address, gate: 'bench', connections, ...keys }
}
