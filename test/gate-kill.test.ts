// kill -9 of the gate under load: whatever reached the server is on record, the chain fits together,
// no process is left, and the next gate goes on with the same data.

import { appendFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openLedgerReadOnly } from '../src/ledger/read.ts'
import { digestOf } from '../src/ledger/record.ts'
import { verifyLedger } from '../src/ledger/verify.ts'
import { PlainClient, recordsOf, sentTo } from './gate/plain-client.ts'
import { childrenOf, isAlive } from './gate/processes.ts'
import { endGates, fixture, startGate, until } from './gate/start-gate.ts'

const TIMES = 5

afterAll(endGates)

test(`kill -9 under load, ${TIMES} times`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-gate-'))
  const servers = { office: fixture('office', 'office.log') }
  for (let time = 0; time < TIMES; time++) {
    const gate = await startGate({ servers, folder })
    const clients = await Promise.all([0, 1].map(() => PlainClient.open(gate, 'office')))
    const before = arrivals(folder).length
    const load = clients.map((client, at) => callUntilDead(client, `${time}.${at}`))
    await until(() => arrivals(folder).length > before + 30 + 20 * time)
    const children = childrenOf(gate)
    expect(children.length).toBeGreaterThanOrEqual(3)
    await gate.kill()
    await Promise.all(load)
    await until(() => !children.some(isAlive))
    // Torn in the middle of a line; what comes next begins on its own.
    appendFileSync(join(folder, 'office.log'), '\n')
  }
  const gate = await startGate({ servers, folder })
  await gate.stop()
  const records = recordsOf(gate)
  const intents = new Set(
    records.flatMap((record) => (record.kind === 'intent' ? [record.argsDigest] : [])),
  )
  const arrived = arrivals(folder)
  expect(arrived.length).toBeGreaterThan(TIMES * 30)
  expect(arrived.filter((args) => !intents.has(digestOf(args)))).toEqual([])
  const ended = new Set(records.map((record) => record.kind === 'outcome' && record.intent))
  expect(records.filter(({ kind, seq }) => kind === 'intent' && !ended.has(seq))).toEqual([])
  const database = openLedgerReadOnly(gate.data)
  expect(verifyLedger(database).problems).toEqual([])
  database.close()
})

async function callUntilDead(client: PlainClient, name: string): Promise<void> {
  try {
    for (let at = 0; ; at += 4)
      await Promise.all(
        [0, 1, 2, 3].map((n) => client.call('write_note', { text: `${name}.${at + n}` })),
      )
  } catch {
    // The gate is gone.
  }
}

/** The arguments of every call that reached the server, as text. */
function arrivals(folder: string): string[] {
  return sentTo(folder)
    .filter(({ params }) => params?.name === 'write_note')
    .map(({ params }) => JSON.stringify(params.arguments))
}
