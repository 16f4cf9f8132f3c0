// Edits of an export are found: of what is readable, of the text that was hashed, of the order, and a cut in the middle.

import { rmSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { spread } from '../../../../test/support/runs.ts'
import { readCheckpoints } from '../chain/checkpoint-file.ts'
import { openLedgerReadOnly } from '../chain/read.ts'
import { decisionEntry } from '../decision-entries.test-support.ts'
import { exportChunks, readHashedRecords } from '../export/chunks.ts'
import { Ledger } from '../ledger.ts'
import { CHECKPOINTS_FILE } from '../records/files.ts'
import { EntryHider } from '../records/hide-entry.ts'
import { Names } from '../records/names.ts'
import { freshDirectoryForAll } from '../samples.test-support.ts'
import { signerForTests } from '../signer.test-support.ts'
import { verifyExport } from './verify-export.ts'

const CALLS = 20
/** The first line: who `ann` is. */
let named: string
let lines: string[]
let checkpoints: ReturnType<typeof readCheckpoints>[number]['checkpoint'][]

beforeAll(async () => {
  const directory = freshDirectoryForAll()
  const signer = signerForTests('export')
  const names = new Names(directory)
  const hider = new EntryHider(Buffer.alloc(32), names)
  const ledger = Ledger.open({ directory, checkpoints: { signer }, hider })
  for (let n = 0; n < CALLS; n++) {
    const seq = await ledger.intent(decisionEntry(n))
    ledger.outcome(seq, { atMs: 1_000, status: 'answered' })
  }
  ledger.close()
  names.close()
  using database = openLedgerReadOnly(directory)
  const form = { format: 'jsonl', version: '1', encoded: true } as const
  const text = [...exportChunks(readHashedRecords(database, 1), form)].join('')
  const [name = '', ...records] = text.trimEnd().split('\n')
  named = name
  lines = records
  const all = readCheckpoints(`${directory}/${CHECKPOINTS_FILE}`)
  checkpoints = all.map(({ checkpoint }) => checkpoint)
  return () => rmSync(directory, { recursive: true })
})

async function* each(all: readonly string[], name = named) {
  yield* [name, ...all]
}

test('as it was made it verifies, also from the middle', async () => {
  const whole = await verifyExport(each(lines), checkpoints)
  expect(whole).toEqual({ records: lines.length, signed: lines.length, problems: [] })
  expect(await verifyExport(each(lines.slice(7)), checkpoints)).toMatchObject({ problems: [] })
})

test('every edit is found, with the line', async () => {
  for (const seq of spread(lines.length)) {
    const at = seq - 1
    const line = JSON.parse(lines[at] as string)
    const edits: Record<string, object> = {
      [`line ${seq + 1}: what is readable is not what was hashed (record ${seq})`]: {
        ...line,
        ...(line.kind === 'intent' ? { principal: { id: 'mallory', kind: 'x' } } : { status: 'x' }),
      },
      [`line ${seq + 1}: record ${seq} was edited, or its hash`]: {
        ...line,
        hash: `${line.hash.slice(0, -1)}${line.hash.endsWith('0') ? '1' : '0'}`,
      },
    }
    for (const [problem, edit] of Object.entries(edits)) {
      const { problems } = await verifyExport(each(lines.with(at, JSON.stringify(edit))), [])
      expect(problems).toContain(problem)
    }
    const encoded = line.encoded.replace(/\d\]$/, '9]').replace('"answered"', '"unknown"')
    const both = lines.with(at, JSON.stringify({ ...line, encoded }))
    if (encoded !== line.encoded)
      expect((await verifyExport(each(both), [])).problems).not.toEqual([])
  }
})

test('a missing line, a line twice and an export without texts', async () => {
  const problems = async (all: readonly string[]) => (await verifyExport(each(all), [])).problems
  expect(await problems(lines.toSpliced(3, 1))).toEqual(['line 5: records 4 to 4 are missing'])
  expect(await problems(lines.toSpliced(3, 0, lines[2] as string))).toEqual([
    'line 5: record 3 is out of order',
  ])
  const { encoded: _, ...bare } = JSON.parse(lines[0] as string)
  expect(await problems([JSON.stringify(bare)])).toEqual([
    'line 2: made without `--encoded`: nothing to check',
  ])
  expect(await problems(['x'])).toEqual(['line 2: this is not a line of an export in JSON'])
})

test('a chain that was made anew does not fit what was signed', async () => {
  const signed = checkpoints.at(-1)
  const other = signed && { ...signed, head: '0'.repeat(64) }
  const { problems } = await verifyExport(each(lines), other === undefined ? [] : [other])
  expect(problems).toEqual([`record ${lines.length} is not the one that was signed`])
})

test('a name opens its token only, and without it readers have the token', async () => {
  const row = JSON.parse(named)
  expect(row).toMatchObject({ kind: 'name', name: 'ann' })
  const other = JSON.stringify({ ...row, name: 'mallory' })
  const { problems } = await verifyExport(each(lines, other), [])
  expect(problems[0]).toBe(`line 1: \`${row.token}\` is the token of another name`)
  expect(problems[1]).toContain('line 2: what is readable is not what was hashed')
})
