// Past calls under another policy: from the record of a real gate, while it runs and after.

import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture, type ServingGate } from '../support/start-gate.ts'

afterAll(endGates)
vi.setConfig({ testTimeout: 90_000 })

const rule = (text: string) =>
  `version: 1\ndefault: allow\ntools:\n  office/create_payment: { action: allow, when: "${text}" }\n`

/** Calls with their answers: recorded by a person, encrypted, taken out, deleted, all on record. */
async function recordTraces(gate: ServingGate, client: PlainClient): Promise<void> {
  const traces = (...words: string[]) => sluiceJson(['traces', ...words, '--data', gate.data])
  const refused = await sluice(['traces', 'stop', '--data', gate.data])
  expect(refused.stderr).toContain('no recording is on')
  await atTerminal(gate.data)
  const { id } = await traces('record', '--for', '5m', '--server', 'office')
  await client.call('get_report', {})
  await client.call('read_file', { path: 'a very private path' })
  expect((await traces('list')).traces).toMatchObject([{ id, by: 'ann', isRecording: true }])
  await traces('stop')
  const sealed = readFileSync(join(gate.data, `traces-${id}.sealed`), 'latin1')
  expect(sealed).not.toContain('private')
  const out = join(gate.folder, 'traces.jsonl')
  expect(await traces('export', id, '--out', out)).toEqual({ traces: 1, calls: 2, isWhole: true })
  expect(statSync(out).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual({
    id: expect.any(String),
    steps: [
      { server: 'office', tool: 'get_report', args: {}, answer: '{"total":1}' },
      {
        server: 'office',
        tool: 'read_file',
        args: { path: 'a very private path' },
        answer: 'read_file {"path":"a very private path"}',
      },
    ],
  })
  await traces('delete', id)
  expect((await traces('list')).traces).toEqual([])
  const events = recordsOf(gate).flatMap((record) => (record.kind === 'event' ? [record] : []))
  const own = events.filter(({ name }) => name.startsWith('traces-'))
  expect(own.map(({ name }) => name.slice('traces-'.length))).toEqual([
    'start',
    'stop',
    'export',
    'delete',
  ])
  expect(own[0]?.detail).toMatchObject({ id, by: 'ann', server: 'office' })
}

test('labels are those of the policy that is tried, and what took others away is unknown', async () => {
  const policy = (labels: string, more = '') =>
    `version: 1\ndefault: allow\nlabels: { ${labels} }\n${more}`
  const gate = await serveGate({
    servers: { office: fixture('office') },
    policy: policy('office/read_file: [private]'),
  })
  const client = await PlainClient.open(gate, 'office')
  await client.call('get_report', {})
  await client.call('send_mail', { to: 'a@example.com' })
  await client.call('read_file', { path: '/etc/hosts' })
  await client.call('send_mail', { to: 'a@example.com' })
  await gate.stop()

  const tried = join(gate.folder, 'tried.yaml')
  const guard =
    'guardrails: [{ name: stays in, match: { tools: [office/send_mail] }, when: session.saw.private, action: deny }]\n'
  const replay = (labels: string) => {
    writeFileSync(tried, policy(labels, guard))
    return sluiceJson(['policy', 'replay', '--data', gate.data, '--policy', tried])
  }
  const both = await replay('office/get_report: [private], office/read_file: [private]')
  expect(both).toMatchObject({ calls: 4, same: 2, unknown: 0, flips: [{ count: 2 }] })
  expect(await replay('office/get_report: [private]')).toMatchObject({ flips: [{ count: 2 }] })
  const taken = await replay('office/create_payment: [private]')
  expect(taken).toMatchObject({ calls: 4, same: 3, unknown: 1, flips: [] })
  expect(taken.reasons).toEqual({ '`session.saw.private` is not recorded': 1 })
})

test('in observe mode the calls that the policy would have held are counted', async () => {
  const policy = `version: 1
default: allow
protect: balanced
tools: { office/create_payment: require_approval }
mode: shadow
`
  const gate = await serveGate({ servers: { office: fixture('office') }, policy })
  const client = await PlainClient.open(gate, 'office')
  for (const amount of [5, 50, 500]) await client.call('create_payment', { amount })
  await client.call('send_mail', { to: 'a@example.com' })
  await client.call('get_report', {})
  await gate.stop()

  const file = join(gate.folder, 'policy.yaml')
  const config = ['--config', join(gate.folder, 'sluice.yaml')]
  const records = recordsOf(gate).flatMap((one) => ('decision' in one ? [one.decision] : []))
  const held = records.filter(({ shadow }) => shadow.at(-1)?.action !== 'allow').length
  expect([records.length, held >= 3]).toEqual([5, true])
  const week = `of 5 calls of the last week ${held} would be held by this policy\n`
  expect((await sluice(['policy', 'check', file])).stdout).toContain(week)
  const doctor = await sluice(['doctor', ...config])
  expect(doctor.stdout).toContain(week)
  expect(doctor.stdout).toContain('`sluice enforce --dry-run` lists')
  const replayed = await sluice(['policy', 'replay', ...config])
  expect(replayed.stdout).toContain('5 calls: 5 the same, 0 change, 0 unknown')
  expect(replayed.stderr).toContain('only observes')

  // Another text decides by what is on record: it has no origins, so those calls are not counted as passing.
  writeFileSync(file, `${policy}# changed\n`)
  const changed = (await sluice(['policy', 'check', file])).stdout
  expect(changed).toMatch(
    /of 5 calls of the last week 3 would be held by this policy, and at most [12] more: what decides/,
  )
})

test('which verdicts another policy changes, and what the record cannot say', async () => {
  const policy = rule('args.amount < 100.0')
  const gate = await serveGate({ servers: { office: fixture('office') }, policy })
  const client = await PlainClient.open(gate, 'office')
  for (const amount of [5, 50, 500]) await client.call('create_payment', { amount })
  await client.call('send_mail', { to: 'a@example.com' })
  await client.call('read_file', { path: '/etc/hosts' })
  const kept = recordsOf(gate).flatMap((record) => ('judged' in record ? [record.judged] : []))
  expect(kept).toEqual([
    ...[5, 50, 500].map((amount) => ({ 'args.amount': amount, undeclared: false })),
    {},
    {},
  ])
  await recordTraces(gate, client)
  await gate.stop()

  const tried = join(gate.folder, 'tried.yaml')
  const place = ['--data', gate.data, '--policy', tried]
  writeFileSync(tried, `${rule('args.amount < 20.0')}  office/read_file: deny\n`)
  const found = await sluiceJson(['policy', 'replay', ...place])
  expect(found).toMatchObject({ calls: 7, same: 4, unknown: 0 })
  expect(found.flips).toMatchObject([
    { tool: 'office/create_payment', from: 'allow', to: 'deny', count: 1 },
    { tool: 'office/read_file', from: 'allow', to: 'deny', rule: '/tools/office~1read_file' },
  ])

  writeFileSync(
    tried,
    `version: 1
default: allow
tools:
  office/create_payment: { action: allow, rate_limit: { max: 2, window: 1h } }
  office/send_mail: { action: allow, when: 'args.to == "b"' }
`,
  )
  const { code, stdout } = await sluice(['policy', 'replay', ...place])
  expect(code).toBe(1)
  expect(stdout).toContain('deny -> limited  office/create_payment')
  expect(stdout).toContain('unknown  1 call: which arguments were sent is not recorded')
  expect(stdout).toContain('7 calls: 5 the same, 1 change, 1 unknown')
  writeFileSync(tried, policy)
  expect((await sluice(['policy', 'replay', ...place])).code).toBe(0)

  const suggest = ['policy', 'suggest', '--from', 'ledger', '--data', gate.data]
  const fitted = await sluiceJson([...suggest, '--out', tried])
  expect(fitted).toMatchObject({ calls: 6, kept: 6, stopped: [], unknown: 0, validation: null })
  expect(fitted.policy).toContain('args.amount <= 50')
  const again = await sluiceJson(['policy', 'replay', ...place])
  expect(again.flips).toMatchObject([{ tool: 'office/create_payment', from: 'deny' }])
  const shown = await sluice(suggest)
  expect(shown.stdout).toContain('6 calls: 6 kept')
  writeFileSync(tried, shown.stdout)
  expect(await sluice(['policy', 'check', '--policy', tried])).toMatchObject({ code: 0 })
  const seq = recordsOf(gate).findIndex(
    (one) => 'judged' in one && one.judged['args.amount'] === 50,
  )
  const bad = String(recordsOf(gate)[seq]?.seq)
  const stops = await sluiceJson([...suggest, '--against', bad])
  expect(stops.tool).toBe('office/create_payment')
  expect(stops.suggestions[0]).toMatchObject({ when: 'args.amount > 5', hits: [], unknown: 0 })
  expect(stops.suggestions.at(-1)).toMatchObject({ hits: [expect.any(Number)] })
  const printed = await sluice([...suggest, '--against', bad])
  expect(printed.stdout).toMatch(/when: "args.amount > 5"\n {2}action: deny\n.*0 legitimate calls/)
  expect((await sluice([...suggest, '--against', '1'])).stderr).toContain(
    'record 1 is not a tool call',
  )
})
