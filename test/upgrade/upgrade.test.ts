// Data of other versions (fixtures/, made by make-fixtures.ts) opens with this one, verifies and goes on where it was:
// limits count on, approvals are what they were, labels hold, the agent ends its run, the ledger is one chain.

import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { readVersion } from '../../scripts/standalone.ts'
import { askAgents } from '../support/cluster-in-full.ts'
import { ROOT } from '../support/modules.ts'
import { serveGate } from '../support/own-gate.ts'
import { PIN, type } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { forms, rounds } from '../support/runs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { SetClock } from '../support/set-clock.ts'
import { endGates, type GateSpec, type RunningGate, startGate } from '../support/start-gate.ts'
import { unpackFolder } from './archive.ts'
import { countCalls, runBeside } from './beside.ts'
import { restoreDump } from './restore-dump.ts'
import {
  AMOUNT_MAX,
  AMOUNT_USED,
  APPROVED,
  FIXTURES,
  PENDING,
  readerAddress,
  STANDING,
  STANDING_CALLS,
  STANDING_USED,
  type Story,
  storySpec,
  WRITES_MAX,
  WRITES_USED,
} from './story.ts'

const postgres = findPostgres()
const LATER_MS = 60_000
const VERSIONS = readdirSync(FIXTURES)
  .map((name) => /^(.+)(?<!-command)\.br$/.exec(name)?.[1])
  .filter((version) => version !== undefined)
/** Has fixtures of revisions only. */
const UNRELEASED = '0.1.0'
/** The first version had no shared store. */
const SHARED = VERSIONS.filter((version) => version !== '0.1.0-0ce18f4').reverse()
const BESIDE = SHARED.filter((version) => existsSync(join(FIXTURES, `${version}-command.br`)))

afterEach(endGates)

test('every version of the changelog before this one has fixtures', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  const versions = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version)
  expect(versions[0]).toBe(readVersion(ROOT))
  const has = (version: string): boolean =>
    VERSIONS.some(
      (name) => name === version || (version === UNRELEASED && name.startsWith(`${version}-`)),
    )
  expect(versions.slice(1).filter((version) => !has(version ?? ''))).toEqual([])
  expect(versions.length).toBeGreaterThan(1)
})

test('data of a newer version is refused with a sentence, and left as it is', async () => {
  const { folder, aheadMs } = unpack('0.1.0-b188b93', 'sqlite')
  const files = { version: join(folder, 'data/version'), ledger: join(folder, 'data/ledger.db') }
  const expectRefused = async (sentence: RegExp): Promise<void> => {
    const before = hash('sha256', readFileSync(files.ledger))
    await expect(start(storySpec(folder), aheadMs)).rejects.toThrow(sentence)
    expect(hash('sha256', readFileSync(files.ledger))).toBe(before)
  }
  writeFileSync(files.version, '99\n')
  await expectRefused(
    /has version 99, made by a newer sluice; .*: start the newer one, or restore a backup/,
  )
  writeFileSync(files.version, '1\n')
  const database = new DatabaseSync(files.ledger)
  database.exec('PRAGMA user_version = 99; PRAGMA journal_mode = DELETE')
  database.close()
  await expectRefused(
    /ledger\.db` has version 99, this program knows up to \d+[\s\S]*restore a backup/,
  )
})

function unpack(version: string, store: 'sqlite' | 'postgres') {
  const folder = scratchDirectory()
  unpackFolder(join(FIXTURES, `${version}.br`), folder)
  const own = join(folder, store)
  const story = JSON.parse(readFileSync(join(own, 'story.json'), 'utf8')) as Story
  return { folder: own, story, aheadMs: story.madeAtMs + LATER_MS - Date.now() }
}

/** A minute after the fixture was made. */
async function start(spec: GateSpec, aheadMs: number): Promise<RunningGate> {
  const clock = new SetClock()
  clock.set(aheadMs)
  vi.stubEnv('SLUICE_TRUST_DATA', join(spec.folder ?? '', 'data'))
  try {
    return await clock.start(spec)
  } finally {
    vi.unstubAllEnvs()
  }
}

async function expectGoesOn(gate: RunningGate, story: Story): Promise<void> {
  type(PIN)
  const worker = await PlainClient.open(gate, 'count')
  const call = async (name: string, args: object): Promise<string> => {
    const { answer, text } = await worker.call(name, args)
    return answer.result?._meta?.['sluice/decision']?.code ?? answer.result?.content[0].text ?? text
  }
  for (let n = WRITES_USED; n < WRITES_MAX; n++)
    expect(await call('write', { n })).toBe(`write {"n":${n}}`)
  expect(await call('write', {})).toBe('RATE_LIMITED')
  expect(await call('fail', { amount: AMOUNT_MAX - AMOUNT_USED })).toMatch(/^fail /)
  expect(await call('fail', { amount: 0.1 })).toBe('SPEND_LIMITED')
  // Without a token a session ends with its gate.
  if (story.reader !== undefined) {
    const reader = await PlainClient.open(gate, readerAddress(story.reader))
    expect((await reader.call('write')).text).toContain('it has read private data')
  }

  expect(await call('slow', APPROVED)).toMatch(/^slow /)
  expect(await call('slow', APPROVED)).toBe('APPROVAL_USED')
  for (let used = STANDING_USED; used < STANDING_CALLS; used++)
    expect(await call('slow', { ...STANDING, n: 10 + used })).toMatch(/^slow /)
  expect(await call('slow', { ...STANDING, n: 99 })).toMatch(/^APPROVAL_(?:PENDING|USED)$/)
  expect(await call('slow', PENDING)).toBe('APPROVAL_PENDING')
  const at = ['--data', gate.data]
  const { requests } = await sluiceJson(['approvals', 'list', ...at])
  const ofAgent = requests.find(({ agent }: { agent?: string }) => agent === story.agentId)
  expect(requests.map(({ id }: { id: string }) => id)).toContain(story.pending)
  for (const id of [story.pending, ofAgent?.id])
    expect(await sluice(['approvals', 'approve', id, ...at])).toMatchObject({ code: 0 })
  expect(await call('slow', PENDING)).toMatch(/^slow /)
  const run = { agentId: story.agentId, runId: story.runId }
  const ended = await askAgents(gate, 'wasm_agent_wait', { ...run, waitMs: 30_000 })
  expect(ended.response).toBe('done')
  const prompt = { agentId: story.agentId, input: 'again', waitMs: 30_000 }
  expect(JSON.stringify(await askAgents(gate, 'wasm_agent_prompt', prompt))).toContain('response')
}

/** Records of before and after have a proof each, against a checkpoint of the version that was made then. */
async function expectProven(data: string, seqs: readonly number[]): Promise<void> {
  const checkpoint = join(data, 'ledger-checkpoints.jsonl')
  const proof = join(scratchDirectory(), 'proof.json')
  const versions: number[] = []
  for (const seq of seqs) {
    expect(
      await sluice(['ledger', 'prove', `${seq}`, '--data', data, '--out', proof]),
    ).toMatchObject({ code: 0 })
    versions.push(JSON.parse(readFileSync(proof, 'utf8')).version)
    const check = ['ledger', 'verify', '--proof', proof, '--checkpoint', checkpoint, '--data', data]
    expect(await sluice(check)).toMatchObject({ code: 0 })
    rmSync(proof)
  }
  expect(versions).toEqual([1, 1, 2])
}

/** Before and after; `slow` also four times outside of the standing approval. */
const ARRIVALS = { write: WRITES_MAX, fail: 2, read: 1, slow: STANDING_CALLS + 4 }

/** In `npm test` the oldest, whose data takes all steps; a shared store and a gate beside are those of the newest. */
test.each(forms(VERSIONS))('a data directory of %s goes on', async (version) => {
  const { aheadMs, folder, story } = unpack(version, 'sqlite')
  const data = join(folder, 'data')
  const before = recordsOf({ data })
  const gate = await start(storySpec(folder), aheadMs)
  await expectGoesOn(gate, story)
  await gate.stop()
  expect(countCalls(join(folder, 'calls.log'))).toEqual(ARRIVALS)
  const verified = await sluiceJson(['ledger', 'verify', '--tree', '--data', data])
  expect(verified).toMatchObject({ ok: true })
  await expectProven(data, [1, before.length, verified.head.seq])
  expect(recordsOf({ data }).slice(0, before.length)).toEqual(before)
})

describe.skipIf(postgres === undefined)(namePostgresSuite('a shared store', postgres), () => {
  let server: RunningPostgres

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
  })
  afterAll(() => server?.end())

  test.each(forms(SHARED))('of %s goes on', async (version) => {
    const { aheadMs, folder, story } = unpack(version, 'postgres')
    const database = `upgrade_${version}`
    await server.createDatabase(database)
    await restoreDump(server.url(database), folder, aheadMs)
    const gate = await start(storySpec(folder, server.url(database)), aheadMs)
    await expectGoesOn(gate, story)
    await gate.stop()
    expect(countCalls(join(folder, 'calls.log'))).toEqual(ARRIVALS)
    const verified = await sluiceJson(['ledger', 'verify', '--store', server.url(database)])
    expect(verified).toMatchObject({ ok: true })
  })

  test('of a newer version is refused with a sentence', async () => {
    const database = 'newer'
    await server.createDatabase(database)
    const first = await serveGate(storySpec(scratchDirectory(), server.url(database)))
    await first.stop()
    const connections = new PostgresConnections(parsePostgresUrl(server.url(database)))
    const row = 'INSERT INTO sluice.migrations (version, oldest) VALUES (99, 99)'
    await connections.query(row, [], LATER_MS)
    await connections.close()
    await expect(startGate(storySpec(first.folder, server.url(database)))).rejects.toThrow(
      /the shared store needs gates that know version 99 of its tables; this one knows \d+[\s\S]*install the version/,
    )
  })

  test.each(forms(BESIDE))('serves a gate of %s beside one of this version', async (version) => {
    expect(await runBeside(server, version, { calls: rounds(240) })).toEqual([])
  })
})
