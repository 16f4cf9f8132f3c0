// `sluice ledger query, report and export --store`: the records of all gates that share a store, as an auditor reads
// them without a data directory.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SHARED_MARK } from '@sluice/gateway/data/shared-tables'
import { decisionEntry, denied } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { encodeBody } from '@sluice/ledger/records/encoding'
import { type DecisionEntry, outcomeEntry } from '@sluice/ledger/records/record'
import { FollowedChains } from '@sluice/ledger/store/postgres/follow-chains'
import { openSharedGate } from '@sluice/ledger/store/postgres/shared-gate.test-support'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../../../../test/support/postgres.ts'
import { sluice, sluiceJson } from '../../../../test/support/run-sluice.ts'
import { scratchDirectory } from '../../../../test/support/scratch.ts'

const postgres = findPostgres()
const START_MS = 1_800_000_000_000

describe.skipIf(postgres === undefined)(namePostgresSuite('ledger --store', postgres), () => {
  let server: RunningPostgres
  let store = ''
  const gates: Awaited<ReturnType<typeof openSharedGate>>[] = []

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    store = server.url()
    gates.push(await openSharedGate(store, 'east'), await openSharedGate(store, 'west'))
    for (let n = 1; n <= 6; n++) await call(n % 2, n)
    await refuse(0, 7)
  })
  afterAll(async () => {
    for (const gate of gates) await gate.close()
    await server?.end()
  })

  /** Odd calls are at `west`, by the agent `odd`. */
  function makeCall(n: number): DecisionEntry {
    return decisionEntry(n, { atMs: START_MS + n * 1_000, agent: n % 2 === 1 ? 'odd' : 'even' })
  }
  async function call(at: number, n: number): Promise<void> {
    const admission = gates[at]?.store
    const entry = makeCall(n)
    const body = encodeBody({ ...entry, kind: 'intent' })
    const seq = (await admission?.append({ kind: 'i', id: entry.callId, body })) as number
    const outcome = outcomeEntry(seq, { atMs: entry.atMs + 5, status: 'answered', bytes: n })
    await admission?.append({ kind: 'o', id: '', body: encodeBody(outcome) })
  }
  async function refuse(at: number, n: number): Promise<void> {
    const entry = { ...makeCall(n), decision: denied }
    const body = encodeBody({ ...entry, kind: 'refusal' })
    await gates[at]?.store.append({ kind: 'r', id: entry.callId, body })
  }

  const listCopies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('sluice-copy-'))
  const places = (calls: readonly { gate: string; seq: number }[]) =>
    calls.map(({ gate, seq }) => `${gate} ${seq}`)

  test('query finds the calls of all gates, each with its gate and its number there', async () => {
    const before = listCopies()
    const { calls, next } = await sluiceJson(['ledger', 'query', '--store', store])
    expect(places(calls)).toEqual([
      'east 7',
      'east 5',
      'west 5',
      'east 3',
      'west 3',
      'east 1',
      'west 1',
    ])
    expect(calls[1].outcome).toMatchObject({ gate: 'east', seq: 6, intent: 5, bytes: 6 })
    expect(next).toBe(null)
    expect(listCopies()).toEqual(before)

    const odd = await sluice(['ledger', 'query', '--store', store, '--agent', 'odd', '--denied'])
    expect(odd).toMatchObject({ code: 0, stderr: '' })
    expect(odd.stdout).toMatch(/^east {9} {6}7 {2}2027-01-15T08:00:07.000Z {2}deny/)
    const mixed = await sluice(['ledger', 'query', '--store', store, '--agent', 'ann'])
    expect(mixed).toMatchObject({ code: 1, stdout: 'no calls\n' })
    expect(mixed.stderr).toContain('`ann` is a caller, not an agent: use --who')
    const sql = 'select agent, count(*) n from calls group by agent order by agent'
    const counted = await sluiceJson(['ledger', 'query', '--store', store, '--sql', sql])
    expect(counted.rows).toEqual([
      ['even', 3],
      ['odd', 4],
    ])
    const origins = "select gate || ' ' || gate_seq from calls order by seq desc"
    const found = await sluiceJson(['ledger', 'query', '--store', store, '--sql', origins])
    expect(found.rows.flat()).toEqual(places(calls))
  })

  test('without it, the ledger of a gate of a cluster says that it is of one gate', async () => {
    const data = scratchDirectory()
    Ledger.open({ directory: data }).close()
    expect((await sluice(['ledger', 'query', '--data', data])).stderr).toBe('')
    writeFileSync(join(data, SHARED_MARK), '')
    const { stderr } = await sluice(['ledger', 'query', '--data', data])
    expect(stderr).toBe('note: the records of this gate; --store shows those of all gates\n')
  })

  test('pages go on where the last one ended', async () => {
    const page = ['ledger', 'query', '--store', store, '--limit', '3']
    const first = await sluiceJson(page)
    const second = await sluiceJson([...page, '--before', String(first.next)])
    expect(places([...first.calls, ...second.calls])).toEqual([
      'east 7',
      'east 5',
      'west 5',
      'east 3',
      'west 3',
      'east 1',
    ])
  })

  test('all pages are read from one copy', async () => {
    const page = ['ledger', 'query', '--store', store, '--limit', '3']
    const before = await sluice(page)
    expect(before.stderr).toContain('a further page copies the store again')
    const look = vi.spyOn(FollowedChains.prototype, 'look')
    const all = await sluiceJson([...page, '--all'])
    expect(look).toHaveBeenCalledTimes(1)
    look.mockRestore()
    expect(places(all.calls)).toEqual(places((await sluiceJson(page.slice(0, 4))).calls))
    expect([all.calls.length, all.next]).toEqual([7, null])
    const lines = await sluice([...page, '--all'])
    expect(lines).toMatchObject({ code: 0, stderr: '' })
    expect(lines.stdout.trim().split('\n')).toHaveLength(7)
  })

  test('a report counts the calls of all gates', async () => {
    const report = ['ledger', 'report', '--store', store, '--since', '2027-01-15']
    const { totals } = await sluiceJson([...report, '--until', '2027-01-16'])
    expect(totals).toMatchObject({ calls: 7, allowed: 6, refused: 1, answered: 6 })
  })

  test('an export has the records as their gates wrote them, so that each chain can be verified', async () => {
    const { stdout } = await sluice(['ledger', 'export', '--store', store, '--encoded'])
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(records).toHaveLength(13)
    for (const gate of ['east', 'west']) {
      let hash = Buffer.alloc(32)
      for (const { encoded, hash: stored } of records.filter((record) => record.gate === gate)) {
        const length = Buffer.alloc(4)
        length.writeUInt32BE(Buffer.byteLength(encoded))
        hash = createHash('sha256').update(hash).update(length).update(encoded).digest()
        expect(hash.toString('hex')).toBe(stored)
      }
    }
  })

  test('an export of one agent has its calls with their outcomes', async () => {
    const odd = ['ledger', 'export', '--store', store, '--agent', 'odd', '--format', 'csv']
    const { stdout } = await sluice(odd)
    const [head = '', ...lines] = stdout.trim().split('\r\n')
    expect(head.split(',')).toContain('gate')
    expect(lines).toHaveLength(7)
    expect(lines.filter((line) => line.includes('west'))).toHaveLength(6)
  })

  test('--copy keeps the copy, and the next command adds what is new', async () => {
    const copy = scratchDirectory()
    const count = async () =>
      (await sluiceJson(['ledger', 'query', '--store', store, '--copy', copy])).calls.length
    const had = await count()
    expect(existsSync(join(copy, 'all-gates', 'ledger.db'))).toBe(true)
    await refuse(1, 8)
    expect(await count()).toBe(had + 1)
    rmSync(copy, { recursive: true })
  })

  test('says what is wrong before anything is copied', async () => {
    const wrong = async (...args: string[]) => (await sluice(['ledger', ...args])).stderr
    expect(await wrong('query', '--copy', '/tmp/x')).toContain('--copy needs --store')
    expect(await wrong('query', '--store', store, '--since', 'monday')).toContain('not a time')
    expect(await wrong('export', '--store', store, '--from', '3')).toContain('use --since')
    expect(await wrong('query', '--store', 'db.internal')).toContain('postgres://')
    await server.createDatabase('nothing')
    expect(await wrong('report', '--store', server.url('nothing'))).toContain('has no ledger')
    await gates[0]?.connections.query('CREATE ROLE stranger LOGIN')
    const stranger = store.replace('sluice@', 'stranger@')
    expect(await wrong('export', '--store', stranger)).toContain('grant the role USAGE')
  })

  test('a record that was edited in the database stops the command', async () => {
    await gates[0]?.connections.query(
      `UPDATE sluice.ledger SET body = overlay(body placing 'x'::bytea from 60) WHERE gate = 'west' AND seq = 3`,
    )
    const { code, stderr } = await sluice(['ledger', 'query', '--store', store])
    expect(code).toBe(2)
    expect(stderr).toContain('the chain of the gate `west` does not verify: record 3 was edited')
  })
})
