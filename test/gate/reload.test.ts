// A policy file that changes under a running gate: what only tightens holds at once, what may loosen
// waits for a person, what is broken changes nothing; and a restart is no way around.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture, type ServingGate, startGate, until } from '../support/start-gate.ts'

afterAll(endGates)
vi.setConfig({ testTimeout: 90_000 })

const servers = { office: fixture('office') }
const policy = (rules: string) => `version: 1\ndefault: deny\ntools:\n${rules}`
const FIRST = policy('  office/read_file: allow\n')
const LOOSER = policy('  office/read_file: allow\n  office/write_note: allow\n')
const MIXED = `${LOOSER}  office/send_mail: hide\n`
const TIGHTER = policy('  office/read_file: { action: deny, reason: not any more }\n')

const write = (gate: ServingGate, text: string) =>
  writeFileSync(join(gate.folder, 'policy.yaml'), text)

async function ready(gate: ServingGate): Promise<string> {
  return (await fetch(`${gate.url}/readyz`)).text()
}

async function verdict(client: PlainClient, tool: string): Promise<string> {
  const { answer } = await client.call(tool, {})
  return answer.result?._meta?.['sluice/decision']?.reason ?? 'passed'
}

const WAITS =
  /a policy that may loosen \(\/tools\/office~1write_note.* waits for `sluice policy apply`; what only tightens in it is not in force either: \/tools\/office~1send_mail/

async function saysItWaits({ folder }: ServingGate): Promise<void> {
  const config = ['--config', join(folder, 'sluice.yaml')]
  const file = join(folder, 'policy.yaml')
  for (const command of [
    ['policy', 'check', file],
    ['policy', 'check', ...config],
    ['doctor', ...config],
  ]) {
    const { stdout } = await sluice(command)
    expect(stdout, command.join(' ')).toMatch(/not in force/)
    expect(stdout, command.join(' ')).toMatch(WAITS)
  }
}

test('tightening at once, loosening by apply, a broken file not at all', async () => {
  const gate = await startGate({ servers, policy: FIRST })
  const place = ['--config', join(gate.folder, 'sluice.yaml')]
  const client = await PlainClient.open(gate, 'office')
  expect(await verdict(client, 'read_file')).toBe('passed')
  expect(await verdict(client, 'write_note')).toBe('no rule of the policy matches it')

  write(gate, LOOSER)
  await until(async () => (await ready(gate)).includes('waits for `sluice policy apply`'))
  expect(await verdict(client, 'write_note')).toBe('no rule of the policy matches it')
  expect(gate.log).toContain('/tools/office~1write_note')

  const seen = await sluiceJson(['policy', 'apply', '--dry-run', ...place])
  expect(seen).toMatchObject({ applied: false, loosens: [{ where: '/tools/office~1write_note' }] })
  expect(seen.decisions).toEqual([
    { policy: 'policy', tool: 'office/write_note', from: 'deny', to: 'allow', change: 'loosens' },
  ])
  expect(await verdict(client, 'write_note')).toBe('no rule of the policy matches it')
  await atTerminal(gate.data)
  const done = await sluice(['policy', 'apply', ...place])
  expect(done).toMatchObject({ code: 0 })
  expect(done.stdout).toContain('loosens office/write_note: deny -> allow (policy)')
  expect(await verdict(client, 'write_note')).toBe('passed')
  expect(await ready(gate)).toBe('ready\n')
  expect((await sluice(['policy', 'apply', ...place])).code).toBe(1)
  const checked = await sluice(['policy', 'check', join(gate.folder, 'policy.yaml')])
  expect(checked.stdout).not.toContain('not in force')

  write(gate, 'version: 1\ndefault: allow\ntools: {')
  gate.process.kill('SIGHUP')
  await until(async () => (await ready(gate)).includes('the policy is as it was'))
  expect(gate.log).toMatch(/policy\.yaml:3:8: .*\[DOCUMENT_SYNTAX\]/)
  expect(await verdict(client, 'write_note')).toBe('passed')
  expect((await sluice(['policy', 'apply', ...place])).stderr).toContain('DOCUMENT_SYNTAX')
  rmSync(join(gate.folder, 'policy.yaml'))
  await until(async () => (await ready(gate)).includes('cannot be read'))
  expect(await verdict(client, 'write_note')).toBe('passed')

  write(gate, TIGHTER)
  await until(async () => (await verdict(client, 'read_file')) === 'not any more')
  expect(await verdict(client, 'write_note')).toBe('no rule of the policy matches it')
  expect(await ready(gate)).toBe('ready\n')
  const events = recordsOf(gate).flatMap((record) =>
    record.kind === 'event' && record.name === 'policy' ? [record.detail] : [],
  )
  expect(events).toMatchObject([{ how: 'waiting' }, { how: 'applied' }, { how: 'tightened' }])
  const digests = events.flatMap((event) => {
    const { documents } = event as { documents: { from: string; to: string }[] }
    return documents.map(({ from, to }) => [from, to])
  })
  expect(digests[1]?.[0]).toBe(digests[0]?.[0])
  expect(digests[2]?.[0]).toBe(digests[1]?.[1])
})

test('a policy loosened while no gate ran waits too, and can be applied then; commands say so', async () => {
  const gate = await startGate({ servers, policy: FIRST })
  const place = ['--config', join(gate.folder, 'sluice.yaml')]
  write(gate, MIXED)
  await saysItWaits(gate)
  expect((await sluice(['status', ...place])).stdout).toMatch(WAITS)
  // A gate that is suspended: the command ends, and says so.
  gate.process.kill('SIGSTOP')
  const hung = await sluice(['status', ...place])
  gate.process.kill('SIGCONT')
  expect([hung.code, hung.stderr]).toEqual([2, expect.stringContaining('does not answer within')])
  await gate.stop()
  await saysItWaits(gate)
  write(gate, LOOSER)
  const seen = await sluice(['policy', 'apply', '--dry-run', ...place])
  expect(seen.stdout).toContain('may loosen /tools/office~1write_note')
  await atTerminal(gate.data)
  expect((await sluice(['policy', 'apply', ...place])).stdout).toContain('applied: it is in force')
  expect((await sluice(['policy', 'apply', ...place])).code).toBe(1)
})

test('F14: a policy taken without comparison is said, and on record', async () => {
  const gate = await serveGate({ servers, policy: FIRST })
  await gate.stop()
  for (const end of ['', '-wal', '-shm']) rmSync(join(gate.data, `gate.db${end}`), { force: true })
  const again = await serveGate({ servers, policy: LOOSER, folder: gate.folder })
  expect(again.log).toMatch(/without comparison.*gate\.db has no policy/)
  const starts = recordsOf(again).flatMap((record) =>
    record.kind === 'event' && record.name === 'start' ? [record.detail] : [],
  )
  expect(starts).toMatchObject([{ isFirstPolicy: true }, { isFirstPolicy: true }])
  const place = ['status', '--data', again.data]
  expect((await sluice(place)).stdout).toContain('knew no earlier policy')
  expect(await sluiceJson(place)).toMatchObject({ policy: { isFirstPolicy: true } })
  await again.stop()
  const third = await serveGate({ servers, policy: LOOSER, folder: gate.folder })
  expect((await sluice(place)).stdout).not.toContain('knew no earlier policy')
  await third.stop()
})
