// Backups: made while the gate works, restored where none runs, and refused where anything does not
// fit. A data directory of a newer version is left alone.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { bringUpToDate, type DataStep } from '../../packages/gateway/src/data/data-version.ts'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture, until } from '../support/start-gate.ts'

afterAll(endGates)

function countAgents(directory: string): number {
  const database = new DatabaseSync(join(directory, 'agents.db'), { readOnly: true })
  try {
    return Number(database.prepare('SELECT count(*) AS n FROM agents').get()?.n)
  } finally {
    database.close()
  }
}

test('F11: a backup of a working gate with agents is whole, and comes back as it was', async () => {
  const servers = { office: fixture('office'), agents: { builtin: 'agents' as const } }
  const gate = await serveGate({ servers })
  const place = ['--data', gate.data]
  const copy = join(gate.folder, 'copy')
  const client = await PlainClient.open(gate, 'office')
  await sluice(['freeze', '--server', 'office', '--why', 'kept', ...place])
  await atTerminal(gate.data)
  await sluice(['thaw', '--server', 'office', ...place])
  await sluice(['freeze', '--principal', 'somebody', ...place])
  let busy = true
  const calls = Array.from({ length: 4 }, async () => {
    while (busy) await client.call('read_file', { path: 'x' })
  })
  const agents = await PlainClient.open(gate, 'agents')
  const create = () => agents.call('wasm_agent_create', { model: 'script:none' })
  await create()
  calls.push(
    (async () => {
      while (busy) await create()
    })(),
  )
  const made = await sluiceJson(['backup', copy, ...place])
  busy = false
  await Promise.all(calls)
  const names = made.files.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['gate.db', 'identity.key', 'ledger.db', 'version']))
  expect(names).not.toContain('gate.lock')
  expect(names).not.toContain('agents.lock')
  expect(countAgents(copy)).toBeGreaterThan(0)
  expect(statSync(copy).mode & 0o777).toBe(0o700)
  expect(statSync(join(copy, 'identity.key')).mode & 0o777).toBe(0o600)
  expect((await sluice(['backup', copy, ...place])).stderr).toContain('is not empty')
  const running = await sluice(['restore', copy, ...place])
  expect(running.stderr).toContain('a backup is restored while no gate runs')
  await client.call('read_file', { path: 'x' })
  const since = recordsOf(gate).length
  expect(since).toBeGreaterThan(made.head.seq)
  await gate.stop()

  await sluice(['thaw', '--principal', 'somebody', ...place])
  const done = await sluiceJson(['restore', copy, ...place])
  expect(done.head).toEqual(made.head)
  expect(recordsOf({ data: done.movedTo }).length).toBeGreaterThanOrEqual(since)
  const verified = await sluice([
    'ledger',
    'verify',
    '--head',
    `${made.head.seq}:${made.head.hash}`,
    ...place,
  ])
  expect(verified.code).toBe(0)
  const [last] = recordsOf(gate).slice(-1)
  expect(last).toMatchObject({ kind: 'event', name: 'restore' })
  expect(await sluiceJson(['status', ...place])).toMatchObject({
    frozen: [{ scope: 'principal', id: 'somebody' }],
  })
  const again = await serveGate({ servers, folder: gate.folder })
  await PlainClient.open(again, 'office')
  const back = await (await PlainClient.open(again, 'agents')).call('wasm_agent_list', {})
  expect(back.answer.result.structuredContent.count).toBeGreaterThan(0)
  // In a quiet moment; nobody asked for it.
  await until(() => existsSync(join(again.data, 'ledger-index.db')))
  await again.stop()

  appendFileSync(join(copy, 'gate.db'), 'x')
  const changed = await sluice(['restore', copy, ...place])
  expect(changed.stderr).toContain('`gate.db` of the backup is not as it was copied')
  const manifest = JSON.parse(readFileSync(join(copy, 'backup.json'), 'utf8'))
  manifest.files = [{ name: '../../elsewhere', bytes: 0, sha256: '' }]
  writeFileSync(join(copy, 'backup.json'), JSON.stringify(manifest))
  expect((await sluice(['restore', copy, ...place])).stderr).toContain('has no `../../elsewhere`')
  expect((await sluice(['restore', gate.folder, ...place])).stderr).toContain('is not a backup')

  writeFileSync(join(gate.data, 'version'), '99\n')
  await expect(serveGate({ servers, folder: gate.folder })).rejects.toThrow(
    'has version 99, made by a newer sluice; this one knows up to 1',
  )
  expect((await sluice(['freeze', ...place])).stderr).toContain('made by a newer sluice')
})

test('an older directory is copied, then brought up step by step; a step that fails is tried again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  mkdirSync(data)
  writeFileSync(join(data, 'ledger.db'), '')
  const ran: string[] = []
  let fails = true
  const steps: DataStep[] = [
    () => ran.push('to 2'),
    () => {
      ran.push('to 3')
      if (fails) throw new Error('disk')
    },
  ]
  const copies: number[] = []
  const bring = () => bringUpToDate(data, (version) => copies.push(version), steps)
  expect(bring).toThrow('disk')
  fails = false
  bring()
  bring()
  expect(ran).toEqual(['to 2', 'to 3', 'to 3'])
  expect(copies).toEqual([1, 2])
  expect(readFileSync(join(data, 'version'), 'utf8')).toBe('3\n')
  expect(() => bringUpToDate(data, () => {}, [])).toThrow('made by a newer sluice')
  const fresh = join(folder, 'fresh')
  mkdirSync(fresh)
  bringUpToDate(fresh, () => expect.unreachable(), steps)
  expect(readFileSync(join(fresh, 'version'), 'utf8')).toBe('3\n')
})
