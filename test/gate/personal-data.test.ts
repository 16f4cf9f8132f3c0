// Personal data in the audit log: what a caller says of a customer is in no file of it, neither in clear nor as a digest
// that could be found by trying, and limits and searches go on to work.

import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { digestText } from '../../packages/ledger/src/records/record.ts'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal, makePerson } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, startGate } from '../support/start-gate.ts'

const DORA = 'dora.berg@example.org'
const POLICY = `version: 1
default: allow
tools:
  count/write: { action: allow, rate_limit: { max: 3, window: 1h, per: args.customer } }
`

afterAll(endGates)

/** Files below the data directory with this text, by name. */
function filesWith(data: string, text: string): string[] {
  return readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const file = join(data, name)
    return statSync(file).isFile() && readFileSync(file).includes(text)
  })
}

test('P5: the value of `per: args.customer` is in no record, and the limit holds over kill -9', async () => {
  const servers = { count: fixture('counter', join(scratchDirectory(), 'calls')) }
  let gate = await startGate({ servers, policy: POLICY })
  const args = { customer: DORA }
  const call = async () => {
    const client = await PlainClient.open(gate, 'count')
    const { answer } = await client.call('write', args)
    return answer.result?._meta?.['sluice/decision']?.code ?? 'passed'
  }
  expect([await call(), await call()]).toEqual(['passed', 'passed'])
  await gate.kill()
  rmSync(join(gate.data, 'gate-state.json'), { force: true })
  expect(filesWith(gate.data, DORA)).toEqual([])
  expect(filesWith(gate.data, digestText(JSON.stringify(args)))).toEqual([])
  gate = await startGate({ servers, policy: POLICY, folder: gate.folder })
  expect([await call(), await call()]).toEqual(['passed', 'RATE_LIMITED'])

  const query = ['ledger', 'query', '--data', gate.data]
  const find = async (text: string) => {
    const { calls } = await sluiceJson([...query, '--args', text])
    return (calls as { readonly record?: { readonly code?: string } }[]).length
  }
  expect(await find(JSON.stringify(args))).toBe(4)
  expect(await find(JSON.stringify(args, null, 2))).toBe(4)
  expect(await find('{"customer":"other"}')).toBe(0)
  await gate.stop()
  // Without a gate the command has the key itself.
  expect(await find(JSON.stringify(args))).toBe(4)
  expect(recordsOf(gate).filter(({ kind }) => kind === 'refusal')).toHaveLength(1)
})

test('`sluice forget`: same hashes, checkpoints and proofs, and no byte of the name', {
  timeout: 120_000,
}, async () => {
  const ann = 'ann.smith@example.com'
  const gate = await serveGate({
    servers: { count: fixture('counter', join(scratchDirectory(), 'calls')) },
    policy: POLICY,
  })
  const data = ['--data', gate.data]
  const config = ['--config', join(gate.folder, 'sluice.yaml'), '--as', 'ann']
  const forget = (...args: string[]) => sluice(['forget', ...args, ...data, '--as', 'ann'])
  await atTerminal(gate.data)
  await makePerson(gate.data, 'bob.jones@example.com')
  const added = await sluiceJson(['grants', 'add', ann, '--policy', 'policy', ...config])
  expect(added).toMatchObject({ token: expect.stringMatching(/^sluice_/) })
  const client = await PlainClient.open(gate, 'count', undefined, added.token)
  for (let n = 0; n < 4; n++) await client.call('write', { customer: DORA })
  const second = await PlainClient.open(gate, 'count', undefined, added.token)
  // One line for a caller, however many sessions it has.
  const { stdout } = await sluice(['status', ...data])
  expect(stdout.match(/sessions? of .*/g)).toEqual([expect.stringMatching(`^sessions of ${ann}: `)])
  expect(stdout).toContain(`2 sessions of ${ann}: `)
  await second.end()
  await client.end()
  const who = async (id: string) =>
    (await sluiceJson(['ledger', 'query', '--who', id, ...data])).calls.length
  expect(await who(ann)).toBe(4)
  expect((await sluice(['ledger', 'tail', ...data])).stdout).toContain(ann)
  const sql = 'select distinct principal from calls'
  const { rows } = await sluiceJson(['ledger', 'query', '--sql', sql, ...data])
  expect(rows).toEqual([[ann]])
  const tail = () => readFileSync(join(gate.data, 'ledger-checkpoints.jsonl'), 'utf8')
  const head = async () => (await sluiceJson(['ledger', 'verify', ...data])).head
  const { seq, hash } = await head()
  const checkpoints = tail()

  expect((await forget(ann)).stderr).toContain('`ann.smith@example.com` may still call')
  const gateFile = new DatabaseSync(join(gate.data, 'gate.db'))
  const listAlerts = () =>
    gateFile
      .prepare('SELECT id FROM alerts ORDER BY id')
      .all()
      .map(({ id }) => id)
  for (const [id, text] of [
    ['a1', `calls of ${ann}.`],
    ['a2', `calls of jo${ann}`],
    ['a3', `session \`${ann}#0@17\``],
  ] as const)
    gateFile
      .prepare('INSERT INTO alerts (id, at, alert) VALUES (?, 1, ?)')
      .run(id, JSON.stringify({ facts: [text] }))
  expect((await forget('smith')).stderr).toContain('no record and no grant')
  expect(listAlerts()).toEqual(expect.arrayContaining(['a1', 'a2', 'a3']))
  expect((await forget('local')).stderr).toContain('the name of nobody')
  expect((await forget('bob.jones@example.com')).stderr).toContain('may still decide')
  expect((await sluice(['grants', 'revoke', ann, ...config])).code).toBe(0)
  const frozen = ['--principal', ann, ...data]
  expect((await sluice(['freeze', ...frozen])).code).toBe(0)
  expect((await forget(ann)).stderr).toContain('is frozen, and the freeze has the name')
  expect((await sluice(['freeze', '--lift', ...frozen, '--as', 'ann'])).code).toBe(0)
  const dry = await forget(ann, '--dry-run')
  expect(dry.stdout + dry.stderr).toMatch(
    /would be forgotten: .* records[\s\S]*not reached from here/,
  )
  expect(await who(ann)).toBe(4)
  const forgotten = JSON.parse((await forget(ann, '--json')).stdout)
  const [token] = forgotten.tokens
  expect(token).toMatch(/^person:[\w-]{22}$/)
  expect([await who(ann), await who(token)]).toEqual([0, 4])
  expect(listAlerts()).toContain('a2')
  expect(listAlerts()).not.toContain('a1')
  expect(listAlerts()).not.toContain('a3')
  gateFile.exec("PRAGMA secure_delete = ON; DELETE FROM alerts WHERE id = 'a2'")
  gateFile.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  gateFile.close()
  expect(tail().startsWith(checkpoints)).toBe(true)
  const noted = ['ledger', 'verify', '--head', `${seq}:${hash}`, ...data]
  expect(await sluiceJson(noted)).toMatchObject({ ok: true })
  expect((await forget(ann)).stderr).toContain('no record and no grant')
  await gate.stop()
  const left = filesWith(gate.data, ann).filter((name) => name !== 'gate.log')
  expect(left).toEqual([])
})
