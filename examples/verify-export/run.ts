// Calls are exported and verified by a program that knows nothing of Sluice; edits of the export are found.

import { deepStrictEqual } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runSluice, withGate } from '../support/gate.ts'

const VERIFIER = join(import.meta.dirname, 'verify.js')
const policy = `
version: 1
default: allow
tools:
  shop/create_refund: { action: allow, rate_limit: { max: 2, window: 1h, per: everyone } }
`

await withGate({ policy }, async ({ connect, data }) => {
  const shop = await connect('shop')
  for (const amount of [1200, 1300, 1400]) await shop.call('create_refund', { amount })
  runSluice(data, 'stop', '--data', data)
  const file = join(data, 'export.jsonl')
  const made = runSluice(data, 'ledger', 'export', '--encoded', '--data', data, '--out', file)
  deepStrictEqual(made.status, 0, made.output)
  const key = runSluice(data, 'ledger', 'key', '--data', data).output.trim()
  const verify = (): { status: number | null; text: string } => {
    const args = [VERIFIER, file, join(data, 'ledger-checkpoints.jsonl'), key]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    return { status, text: stdout.trim() }
  }
  const original = readFileSync(file, 'utf8')
  const { status, text } = verify()
  deepStrictEqual([status, text.startsWith('ok: ')], [0, true], text)

  const intent = original.split('\n').findIndex((line) => line.includes('"kind":"intent"'))
  const edit = (change: (line: string) => string, problem: string): void => {
    const lines = original.split('\n')
    lines[intent] = change(lines[intent] as string)
    writeFileSync(file, lines.filter((line) => line !== '').join('\n'))
    const found = verify()
    deepStrictEqual([found.status, found.text.split('\n')[0]], [1, problem])
  }
  const seq = (JSON.parse(original.split('\n')[intent] as string) as { seq: number }).seq
  edit(
    (line) => line.replace('"id":"local"', '"id":"mallory"'),
    `record ${seq} does not say what was hashed`,
  )
  edit((line) => line.replaceAll('local', 'mallory'), `record ${seq} was edited, or its hash`)
  edit(() => '', `the record before ${seq + 1} is missing`)
})
