// An export with a filter, page by page: the same text as in one go, calls with their outcomes
// wherever these are, and nothing else.

import { rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { beforeAll, expect, test } from 'vitest'
import { openLedgerReadOnly } from '../chain/read.ts'
import { allowed, decisionEntry, denied } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import type { Query } from '../query/query.ts'
import { freshDirectoryForAll } from '../samples.test-support.ts'
import { type ExportCursor, exportChunks, exportPage, readHashedRecords } from './chunks.ts'
import { EXPORT_FORMATS, type ExportFormat } from './forms.ts'

const START = 1_800_000_000_000
const CALLS = 60
let ledger: DatabaseSync

beforeAll(async () => {
  const directory = freshDirectoryForAll()
  const writing = Ledger.open({ directory })
  const open: number[] = []
  for (let n = 0; n < CALLS; n++) {
    const decision = n % 5 === 0 ? denied : allowed
    const call = decisionEntry(n, {
      atMs: START + n,
      server: n % 2 === 0 ? 'even' : 'odd',
      decision,
    })
    if (n % 5 === 0) await writing.refuse(call)
    else open.push(await writing.intent(call))
    if (n % 10 === 0) await writing.event({ atMs: START + n, name: 'policy', detail: {} })
  }
  // Long after the calls.
  for (const seq of open) writing.outcome(seq, { atMs: START + 900, status: 'answered', bytes: 1 })
  await writing.event({ atMs: START + 999, name: 'freeze', detail: {} })
  writing.close()
  ledger = openLedgerReadOnly(directory)
  return () => {
    ledger.close()
    rmSync(directory, { recursive: true })
  }
})

function exported(query: Query, format: ExportFormat, recordsMax?: number): string {
  let text = ''
  for (let from: ExportCursor | null = { seq: 1, open: [] }; from !== null; ) {
    const stretch = exportPage(ledger, query, { form: { format, version: '1' }, from, recordsMax })
    text += stretch.text
    from = stretch.next
  }
  return text
}

const linesOf = (query: Query, recordsMax?: number) =>
  exported(query, 'jsonl', recordsMax)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('without a filter it is all that the command writes, in every format', () => {
  for (const format of EXPORT_FORMATS) {
    const whole = [...exportChunks(readHashedRecords(ledger, 1), { format, version: '1' })].join('')
    expect(exported({}, format)).toBe(whole)
    if (format !== 'otlp') expect(exported({}, format, 7)).toBe(whole)
  }
  expect(exported({}, 'csv', 7).match(/^seq,/gm)).toHaveLength(1)
})

test('pages of any length give the same: calls that match, with outcomes that come much later', () => {
  const whole = linesOf({ server: 'odd' })
  const intents = whole.filter(({ kind }) => kind === 'intent')
  expect(whole.filter(({ kind }) => kind === 'refusal')).toHaveLength(6)
  expect(intents).toHaveLength(24)
  expect(new Set(intents.map(({ server }) => server))).toEqual(new Set(['odd']))
  expect(whole.filter(({ kind }) => kind === 'outcome').map(({ intent }) => intent)).toEqual(
    intents.map(({ seq }) => seq),
  )
  expect(whole.some(({ kind }) => kind === 'event')).toBe(false)
  for (const recordsMax of [1, 2, 13]) expect(linesOf({ server: 'odd' }, recordsMax)).toEqual(whole)
})

test('a time range has its events, and the outcomes of its calls', () => {
  const some = linesOf({ sinceMs: START + 10, untilMs: START + 12 }, 5)
  expect(some.map(({ kind }) => kind)).toEqual([
    'refusal',
    'event',
    'intent',
    'intent',
    'outcome',
    'outcome',
  ])
})
