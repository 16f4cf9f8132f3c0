// Exports the ledger as text, oldest first, each record with its hash: JSON lines, CSV, CEF or
// OpenTelemetry logs. Either a whole time range, chunk by chunk, or the records that match a
// filter, page by page. Used by `sluice ledger export` and by the console.

import type { DatabaseSync } from 'node:sqlite'
import { hashAfter, listRecordSpans, recordText } from '../chain/block.ts'
import { blocksFrom } from '../chain/read.ts'
import { type RecordOrigin, toOriginal } from '../merged/origins.ts'
import { matches, type Query } from '../query/query.ts'
import { decode } from '../records/decoding.ts'
import { EXPORT_OPEN_MAX, EXPORT_STRETCH_RECORDS } from '../records/limits.ts'
import { findName, type NameRow, namesIn, shownText } from '../records/names.ts'
import type { LedgerRecord } from '../records/record.ts'
import { CSV_HEAD, cefLine, csvLine, type ExportFormat, otlpRecord, otlpRequest } from './forms.ts'
import { formatJson, recordJson } from './record-json.ts'

export interface HashedRecord {
  readonly record: LedgerRecord
  readonly hash: string
  readonly encoded: string
  /** The rows that open the tokens in it. */
  readonly names?: readonly NameRow[]
}

export interface Form {
  readonly format: ExportFormat
  /** The version of this program. */
  readonly version: string
  /** Includes the text that was hashed (jsonl). */
  readonly encoded?: boolean
}

const CHUNK_LENGTH = 65_536
/** The length of a chunk, below the size limit of one message. */
const OTLP_CHUNK_LENGTH = 150_000

export function* readHashedRecords(ledger: DatabaseSync, from: number): Generator<HashedRecord> {
  for (const { data } of blocksFrom(ledger, from))
    for (const place of listRecordSpans(data)) {
      const encoded = recordText(data, place)
      const record = decode(shownText(ledger, encoded))
      if (record.seq < from) continue
      const hash = Buffer.from(hashAfter(data, place), 'latin1').toString('hex')
      const names = namesIn(encoded, (token) => findName(ledger, token))
      yield { record, hash, encoded, names }
    }
}

/** `isFirst`: with the header above the records. */
export function* exportChunks(
  records: Iterable<HashedRecord>,
  form: Form,
  isFirst = true,
): Generator<string> {
  if (form.format === 'otlp') return yield* otlpBodies(records, form)
  let chunk = isFirst && form.format === 'csv' ? CSV_HEAD : ''
  const named = new Set<string>()
  for (const one of records) {
    if (form.encoded === true && form.format === 'jsonl') chunk += nameLines(one, named)
    chunk += formatRecord(one, form)
    if (chunk.length < CHUNK_LENGTH) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

/** The names that were not written yet: a reader of the text that was hashed opens its tokens with them. */
function nameLines({ names = [] }: HashedRecord, named: Set<string>): string {
  return names
    .filter(({ token }) => !named.has(token) && named.add(token))
    .map((row) => `${formatJson({ kind: 'name', ...row })}\n`)
    .join('')
}

function formatRecord({ record, hash, encoded }: HashedRecord, form: Form): string {
  if (form.format === 'csv') return csvLine(record, hash)
  if (form.format === 'cef') return cefLine(record, hash, form.version)
  return `${recordJson(record, form.encoded ? { hash, encoded } : { hash })}\n`
}

function* otlpBodies(found: Iterable<HashedRecord>, { version }: Form): Generator<string> {
  let records: unknown[] = []
  let length = 0
  for (const { record, hash } of found) {
    const made = otlpRecord(record, hash)
    records.push(made)
    length += JSON.stringify(made).length
    if (length < OTLP_CHUNK_LENGTH) continue
    yield `${otlpRequest(records, version)}\n`
    records = []
    length = 0
  }
  if (records.length > 0) yield `${otlpRequest(records, version)}\n`
}

/**
 * Which records of one gate match a query, asked in their order: calls with their outcomes; also events of the gate,
 * if the query does not select particular calls.
 */
export class RecordSelection {
  readonly #query: Query
  readonly #hasEvents: boolean
  /** Calls that match and have no outcome yet. */
  readonly open: Set<number>

  constructor(query: Query, open: readonly number[] = []) {
    const { sinceMs: _since, untilMs: _until, ...words } = query
    this.#query = query
    this.#hasEvents = Object.values(words).every((word) => word === undefined)
    this.open = new Set(open)
  }

  has(record: LedgerRecord): boolean {
    if (record.kind === 'outcome') return this.open.delete(record.intent)
    const { sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER } = this.#query
    if (record.kind === 'event')
      return this.#hasEvents && record.atMs >= sinceMs && record.atMs <= untilMs
    if (!matches(record, this.#query)) return false
    if (record.kind === 'intent') this.open.add(record.seq)
    return true
  }
}

/** Start of a page: the record, and earlier calls whose outcome belongs to the export. */
export interface ExportCursor {
  readonly seq: number
  readonly open: readonly number[]
  /** Paths of the recorded values that an export of calls has columns for. */
  readonly columns?: readonly string[]
}

export interface ExportPage {
  readonly text: string
  /** Null at the end. */
  readonly next: ExportCursor | null
}

interface PageOptions {
  readonly form: Form
  readonly from: ExportCursor
  readonly recordsMax?: number | undefined
  /** Returns the gate and number of a record in a merged ledger. */
  readonly originOf?: (seq: number) => RecordOrigin | undefined
}

/** Exports the records that match a query. Reads a bounded number of records. */
export function exportPage(
  ledger: DatabaseSync,
  query: Query,
  { form, from, recordsMax = EXPORT_STRETCH_RECORDS, originOf = () => undefined }: PageOptions,
): ExportPage {
  const { seq, open } = from
  const selection = new RecordSelection(query, open)
  const records: HashedRecord[] = []
  let looked = 0
  let next: ExportCursor | null = null
  for (const found of readHashedRecords(ledger, seq)) {
    if (++looked > recordsMax) {
      next = { seq: found.record.seq, open: [...selection.open].slice(-EXPORT_OPEN_MAX) }
      break
    }
    if (selection.has(found.record)) records.push(found)
  }
  const originals = records.map((found) => ({
    ...found,
    record: toOriginal(found.record, originOf),
  }))
  return { text: [...exportChunks(originals, form, seq <= 1)].join(''), next }
}
