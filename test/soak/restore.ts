// `npm run soak -- restore`: three gates on one PostgreSQL, which is restored to a point in time from a copy of its files
// and its archived log. Gates with records that the database no longer has do not start; with new data directories they
// go on where the database is, limits included, and an auditor with the checkpoints of before sees what was restored.

import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { PlainClient } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture, type RunningGate, startGate } from '../support/start-gate.ts'

const NAMES = ['gate-1', 'gate-2', 'gate-3'] as const
const DATABASE = 'restore'
const POINT = 'before_the_accident'
/** Calls of `write` that the policy lets pass, at all gates together. */
const MAX = 90
const BEFORE_POINT = 60
const AFTER_POINT = 20
const POLICY = `version: 1
default: allow
tools:
  count/write: { action: allow, rate_limit: { max: ${MAX}, window: 1d, per: everyone } }
`
const QUERY_MS = 30_000

export async function run(): Promise<number> {
  const postgres = findPostgres()
  if (postgres === undefined) throw new Error('PostgreSQL is not installed')
  const server = await startPostgres(postgres, { hasArchive: true })
  try {
    const wrong = await restore(server)
    for (const each of wrong) console.log(each)
    console.log(`three gates after a restore: ${wrong.length} things wrong`)
    return wrong.length === 0 ? 0 : 1
  } finally {
    await endGates()
    await server.end()
  }
}

async function restore(server: RunningPostgres): Promise<string[]> {
  const wrong: string[] = []
  const expectEqual = (what: string, is: unknown, should: unknown): void => {
    console.log(`${what}: ${is}`)
    if (is !== should) wrong.push(`${what}: ${is} and not ${should}`)
  }
  await server.createDatabase(DATABASE)
  const store = server.url(DATABASE)
  const start = (name: string, folder?: string): Promise<RunningGate> =>
    startGate({
      ...(folder === undefined ? {} : { folder }),
      servers: { count: fixture('counter', '/dev/null') },
      policy: POLICY,
      config: {
        store,
        cluster: { name, key: CLUSTER_KEY },
        ledger: { checkpoints: { every: 10 } },
      },
    })
  const before = await Promise.all(NAMES.map((name) => start(name)))
  await callAll(before, BEFORE_POINT / 2)
  await server.backUp()
  expectEqual('calls before the point', await callAll(before, BEFORE_POINT / 2), BEFORE_POINT / 2)
  await Promise.all(before.map((gate) => gate.stop()))
  await query(server, `SELECT pg_create_restore_point('${POINT}')`)
  const again = await Promise.all(NAMES.map((name, at) => start(name, before[at]?.folder)))
  expectEqual('calls that are lost', await callAll(again, AFTER_POINT), AFTER_POINT)
  await Promise.all(again.map((gate) => gate.stop()))
  await server.restoreTo(POINT)

  const folders = again.map(({ folder }) => folder)
  const had = await query(server, 'SELECT gate, seq FROM sluice.gates ORDER BY gate')
  for (const [at, name] of NAMES.entries()) {
    const why = await start(name, folders[at]).then(() => 'it starts', String)
    const isRefused = why.includes('the shared store does not have the records of this gate')
    expectEqual(`${name} with its directory of before is refused`, isRefused, true)
  }
  const kept = folders.map((folder) => {
    const target = join(folder, 'data-before')
    renameSync(join(folder, 'data'), target)
    return join(target, 'ledger-checkpoints.jsonl')
  })
  const after = await Promise.all(NAMES.map((name, at) => start(name, folders[at])))
  const left = MAX - BEFORE_POINT
  expectEqual('calls that the limit lets pass after it', await callAll(after, MAX), left)
  await Promise.all(after.map((gate) => gate.stop()))

  const own = after.map(({ data }) => join(data, 'ledger-checkpoints.jsonl'))
  const checkpoints = [...kept, ...own].flatMap((file) => ['--checkpoint', file])
  const restored = had.flatMap(({ gate, seq }) => ['--restored', `${gate}:${seq}`])
  const verify = (...args: readonly string[]) =>
    sluiceJson(['ledger', 'verify', '--store', store, ...checkpoints, ...args])
  const unknown = await verify()
  expectEqual('it verifies without a word of the restore', unknown.ok, false)
  for (const { gate, problems } of unknown.chains) console.log(gate, problems)
  const known = await verify(...restored)
  expectEqual('it verifies with the restore', known.ok, true)
  for (const { gate, restored: part, signedBy } of known.chains) {
    console.log(gate, JSON.stringify(part), JSON.stringify(signedBy))
    expectEqual(`keys that have signed ${gate}`, signedBy.length, 2)
    expectEqual(`${gate} says what is gone`, part?.through > part?.after, true)
  }
  const [{ gate, seq } = {}] = had
  const earlier = ['--restored', `${gate}:${Number(seq) - 15}`, ...restored.slice(2)]
  expectEqual('it verifies with a restore that was another', (await verify(...earlier)).ok, false)
  await query(
    server,
    `UPDATE sluice.ledger SET body = overlay(body placing 'x' from 30) WHERE gate = 'gate-2' AND seq = 5`,
  )
  expectEqual('it verifies with an edited record', (await verify(...restored)).ok, false)
  return wrong
}

/** Calls all gates in turns; returns how many calls passed. */
async function callAll(gates: readonly RunningGate[], count: number): Promise<number> {
  const clients = await Promise.all(gates.map((gate) => PlainClient.open(gate, 'count')))
  let passed = 0
  for (let n = 0; n < count; n++) {
    const { answer } = (await clients[n % clients.length]?.call('write', { n })) ?? {}
    if (answer?.result !== undefined && answer.result.isError !== true) passed++
  }
  return passed
}

async function query(server: RunningPostgres, sql: string) {
  const connections = new PostgresConnections(parsePostgresUrl(server.url(DATABASE)))
  try {
    return await connections.query(sql, [], QUERY_MS)
  } finally {
    await connections.close()
  }
}
