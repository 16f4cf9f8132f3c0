// The signed record of a real gate: checkpoints beside it and in a second place, verified by the
// command line; and an attacker who puts the whole data directory back to an earlier state.

import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture } from '../support/start-gate.ts'

afterAll(endGates)

test('h6: the outcome of a call is recorded as it ended: an error with its code, and an answer without one', async () => {
  const gate = await serveGate({ servers: { office: fixture('office') } })
  const client = await PlainClient.open(gate, 'office')
  const { error } = (await client.call('get_forged_error')).answer
  expect((await client.call('get_slow', { ms: 1 })).answer.result).toBeDefined()
  await gate.stop()
  const records = recordsOf(gate)
  const outcomeOf = (tool: string) => {
    const intent = records.find((one) => one.kind === 'intent' && one.name === tool)
    return records.find((one) => one.kind === 'outcome' && one.intent === intent?.seq)
  }
  expect(outcomeOf('get_forged_error')).toMatchObject({ status: 'error', errorCode: error.code })
  expect(outcomeOf('get_slow')).toMatchObject({ status: 'answered', errorCode: null })
})

test('a record that was cut, checkpoints and all, is found by the second place', async () => {
  const servers = { office: fixture('office') }
  const config = { ledger: { checkpoints: { every: 10, file: './audit.jsonl' } } }
  const first = await serveGate({ servers, config })
  const { folder, data } = first
  const client = await PlainClient.open(first, 'office')
  for (let n = 0; n < 20; n++) await client.call('get_note')
  await first.stop()
  const earlier = join(folder, 'earlier')
  cpSync(data, earlier, { recursive: true })
  const calls = ['ledger', 'query', '--tool', 'office/get_note', '--json', '--data', data]
  const all = await sluice(calls)
  const index = new DatabaseSync(join(data, 'ledger-index.db'))
  index.exec('DELETE FROM calls WHERE seq > 10')
  index.close()
  expect((await sluice(calls)).stdout).not.toBe(all.stdout)
  const verified = await sluiceJson(['ledger', 'verify', '--data', data])
  expect(verified).toMatchObject({ ok: true, problems: [] })
  // Who changes the query index hides calls until then.
  expect((await sluice(calls)).stdout).toBe(all.stdout)
  expect(verified.checkpoint).toBe(verified.head.seq)

  const second = await serveGate({ servers, config, folder })
  await (await PlainClient.open(second, 'office')).call('get_note')
  await second.stop()
  const audit = join(folder, 'audit.jsonl')
  const place = ['--data', data, '--checkpoint', audit]
  expect((await sluice(['ledger', 'verify', ...place])).code).toBe(0)
  const last = JSON.parse(readFileSync(audit, 'utf8').trim().split('\n').at(-1) ?? '')
  expect(last.seq).toBeGreaterThan(verified.head.seq)

  // Everything as it was before, signatures and all: in itself it is right.
  rmSync(data, { recursive: true })
  cpSync(earlier, data, { recursive: true })
  expect((await sluice(['ledger', 'verify', '--data', data])).code).toBe(0)
  const found = await sluice(['ledger', 'verify', ...place])
  expect(found.code).toBe(1)
  expect(found.stdout).toContain(`records ${verified.head.seq + 1} to ${last.seq} are missing`)
  await expect(serveGate({ servers, config, folder })).rejects.toThrow()
}, 120_000)
