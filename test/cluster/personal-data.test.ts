// `sluice forget` at one gate of a cluster: no gate has the name any more, every chain verifies, and a restart does not
// bring it back. Real gates on a real PostgreSQL.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, type ServingGate, until } from '../support/start-gate.ts'

const ANN = 'ann.smith@example.com'
const postgres = findPostgres()

/** Files below these folders with the name, without logs. */
function filesWithName(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((file) => !file.endsWith('.log') && statSync(file).isFile())
    .filter((file) => readFileSync(file).includes(ANN))
}

/** Makes one call as soon as the grant has reached the gate. */
async function callAs(gate: ServingGate, token: string): Promise<void> {
  await until(async () => {
    const client = await PlainClient.open(gate, 'count', undefined, token).catch(() => undefined)
    await client?.call('read')
    await client?.end()
    return client !== undefined
  })
}

/** An export of all gates has the name, and one that a program can check has it beside the text that was hashed. A role
 * that may read the records alone gets tokens. */
async function expectExportHas(store: string): Promise<void> {
  const exportAs = async (address: string, ...more: readonly string[]) => {
    const { stderr, stdout } = await sluice(['ledger', 'export', '--store', address, ...more])
    const lines = stdout.trim().split('\n')
    return { stderr, lines: lines.map((line) => JSON.parse(line)) }
  }
  const countCalls = (lines: readonly { principal?: { id: string } }[]): number =>
    lines.filter(({ principal }) => principal?.id === ANN).length
  const named = await exportAs(store)
  expect([countCalls(named.lines), named.stderr]).toEqual([2, ''])
  const file = join(scratchDirectory(), 'export.jsonl')
  await sluice(['ledger', 'export', '--store', store, '--encoded', '--out', file])
  expect(readFileSync(file, 'utf8').match(/{"kind":"name",[^}]*ann\.smith@/g)).toHaveLength(1)
  expect(await sluiceJson(['ledger', 'verify', file])).toMatchObject({ ok: true })

  const connections = new PostgresConnections(parsePostgresUrl(store))
  for (const sql of [
    'CREATE ROLE auditor LOGIN',
    'GRANT USAGE ON SCHEMA sluice TO auditor',
    'GRANT SELECT ON sluice.ledger, sluice.ledger_base, sluice.gates TO auditor',
  ])
    await connections.query(sql)
  await connections.close()
  const audited = await exportAs(store.replace('sluice@', 'auditor@'))
  expect(audited.stderr).toContain('this role may not read `sluice.shared`')
  expect(audited.lines.length).toBe(named.lines.length)
  expect(JSON.stringify(audited.lines)).not.toContain(ANN)
}

describe.skipIf(postgres === undefined)(namePostgresSuite('personal data', postgres), () => {
  let server: RunningPostgres
  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    await server.createDatabase('people')
  })
  afterAll(async () => {
    await endGates()
    await server?.end()
  })

  const start = (name: string, folder?: string): Promise<ServingGate> =>
    serveGate({
      ...(folder === undefined ? {} : { folder }),
      servers: { count: fixture('counter', join(scratchDirectory(), 'calls')) },
      config: { store: server.url('people'), cluster: { name, key: CLUSTER_KEY } },
    })

  test('who is forgotten at one gate is forgotten at all', { timeout: 240_000 }, async () => {
    const gates = await Promise.all([start('north'), start('south')])
    const [north, south] = gates
    await atTerminal(north.data)
    const of = (gate: ServingGate) => ['--data', gate.data, '--as', 'ann']
    const config = ['--config', join(north.folder, 'sluice.yaml'), '--as', 'ann']
    const add = ['grants', 'add', ANN, '--policy', 'policy', ...config]
    const { token } = await sluiceJson(add)
    for (const gate of gates) await callAs(gate, token)
    const who = async (gate: ServingGate, id: string): Promise<number> =>
      (await sluiceJson(['ledger', 'query', '--who', id, '--data', gate.data])).calls.length
    expect([await who(north, ANN), await who(south, ANN)]).toEqual([1, 1])
    const copy = scratchDirectory()
    const ofAll = async (id: string, ...more: readonly string[]): Promise<number> => {
      const query = ['ledger', 'query', '--store', server.url('people'), '--who', id]
      const { calls } = await sluiceJson([...query, ...more])
      return calls.filter(({ principal }: { principal: { id: string } }) => principal.id === id)
        .length
    }
    expect([await ofAll(ANN), await ofAll(ANN, '--copy', copy)]).toEqual([2, 2])
    await expectExportHas(server.url('people'))
    await sluice(['grants', 'revoke', ANN, '--forget', ...config])
    const forgotten = await sluiceJson(['forget', ANN, ...of(north)])
    const [name] = forgotten.tokens
    await until(async () => (await who(south, ANN)) === 0)
    const rows = /(?:ledger-names|identity|gate)\.db/
    // Also while they run, where a write-ahead log may have what the file has no more, or the other way round.
    await until(() => filesWithName([north.data, south.data]).every((file) => !rows.test(file)))
    expect([await who(north, name), await who(south, name)]).toEqual([1, 1])
    expect([await ofAll(ANN), await ofAll(ANN, '--copy', copy)]).toEqual([0, 0])
    expect([await ofAll(name), await ofAll(name, '--copy', copy)]).toEqual([2, 2])

    await south.stop()
    const again = await start('south', south.folder)
    expect([await who(again, ANN), await who(again, name)]).toEqual([0, 1])
    const { token: secondToken } = await sluiceJson(add)
    await callAs(again, secondToken)
    expect(await who(again, ANN)).toBe(1)
    await again.stop()
    const listIndexes = () => filesWithName([again.data]).filter((file) => file.includes('index'))
    expect(listIndexes()).not.toEqual([])
    await sluice(['grants', 'revoke', ANN, '--forget', ...config])
    await sluiceJson(['forget', ANN, ...of(north)])
    const third = await start('south', south.folder)
    expect(listIndexes()).toEqual([])
    const verified = await sluiceJson(['ledger', 'verify', '--store', server.url('people')])
    expect(verified).toMatchObject({ ok: true })
    for (const gate of [north, third]) await gate.stop()
    expect(filesWithName([...gates.map(({ data }) => data), copy])).toEqual([])
  })
})
