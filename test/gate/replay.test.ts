// Past calls under another policy: from the record of a real gate, while it runs and after.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture, startGate } from '../support/start-gate.ts'

afterAll(endGates)
vi.setConfig({ testTimeout: 90_000 })

const rule = (text: string) =>
  `version: 1\ndefault: allow\ntools:\n  office/create_payment: { action: allow, when: "${text}" }\n`

test('which verdicts another policy changes, and what the record cannot say', async () => {
  const policy = rule('args.amount < 100.0')
  const gate = await startGate({ servers: { office: fixture('office') }, policy })
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
  await gate.stop()

  const tried = join(gate.folder, 'tried.yaml')
  const place = ['--data', gate.data, '--policy', tried]
  writeFileSync(tried, `${rule('args.amount < 20.0')}  office/read_file: deny\n`)
  const found = await sluiceJson(['policy', 'replay', ...place])
  expect(found).toMatchObject({ calls: 5, same: 3, unknown: 0 })
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
  expect(stdout).toContain('5 calls: 3 the same, 1 change, 1 unknown')
  writeFileSync(tried, policy)
  expect((await sluice(['policy', 'replay', ...place])).code).toBe(0)

  const suggest = ['policy', 'suggest', '--from', 'ledger', '--data', gate.data]
  const fitted = await sluiceJson([...suggest, '--out', tried])
  expect(fitted).toMatchObject({ calls: 4, kept: 4, stopped: [], unknown: 0, validation: null })
  expect(fitted.policy).toContain('args.amount <= 50')
  const again = await sluiceJson(['policy', 'replay', ...place])
  expect(again.flips).toMatchObject([{ tool: 'office/create_payment', from: 'deny' }])
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
    'record 1 is no tool call',
  )
})
