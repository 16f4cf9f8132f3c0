// The record to take away: what `sluice ledger export` writes, with the filters of the page. Read in the
// thread that reads the ledger, a stretch at a time, as fast as the page takes it. Who took it is on
// record.

import { toActor } from '@sluice/access/identity/person'
import type { ExportPage } from '@sluice/ledger/export/chunks'
import { EXPORT_FORMATS, type ExportFormat } from '@sluice/ledger/export/forms'
import type { Query } from '@sluice/ledger/query/query'
import { word } from '@sluice/policy/document/build-shape'
import type { JsonObject } from '@sluice/policy/values/json'
import { Download } from '../http/download.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'
import { FILTER, toQuery } from './live-endpoints.ts'

export interface ExportParts {
  readonly reader: LedgerReader
  readonly record: (detail: JsonObject) => Promise<unknown>
  readonly nowMs: () => number
}

const FORMATS = [...EXPORT_FORMATS, 'calls'] as const
type ConsoleFormat = ExportFormat | 'calls'

const FILES: Readonly<Record<ConsoleFormat, { readonly type: string; readonly ending: string }>> = {
  jsonl: { type: 'application/jsonl; charset=utf-8', ending: 'jsonl' },
  csv: { type: 'text/csv; charset=utf-8', ending: 'csv' },
  cef: { type: 'text/plain; charset=utf-8', ending: 'cef' },
  calls: { type: 'text/csv; charset=utf-8', ending: 'calls.csv' },
  otlp: { type: 'application/jsonl; charset=utf-8', ending: 'otlp.jsonl' },
}

export function exportEndpoints({ reader, record, nowMs }: ExportParts): Endpoint[] {
  return [
    endpoint('GET /api/ledger/export', {
      role: 'viewer',
      input: {
        ...FILTER,
        format: { shape: word(FORMATS), doc: 'jsonl unless said' },
      },
      summary:
        'the record as a file, oldest first: JSON lines, CSV, CEF or OpenTelemetry logs, or `calls`: CSV with one line for each call and its outcome; with the filters of /api/ledger',
      handle: async ({ input: { format = 'jsonl', ...filter }, person }) => {
        const query = toQuery(filter)
        // A ledger that cannot be read is reported before the download starts.
        const first = await reader.ask('stretch', { query, format, from: { seq: 1, open: [] } })
        await record({ format, filter: filter as JsonObject, by: toActor(person) })
        const day = new Date(nowMs()).toISOString().slice(0, 10)
        const { type, ending } = FILES[format]
        return new Download({
          type,
          name: `sluice-${day}.${ending}`,
          pieces: piecesOf(reader, query, format, first),
        })
      },
    }),
  ]
}

async function* piecesOf(
  reader: LedgerReader,
  query: Query,
  format: ConsoleFormat,
  first: ExportPage,
): AsyncGenerator<string> {
  let stretch = first
  for (;;) {
    yield stretch.text
    if (stretch.next === null) return
    stretch = await reader.ask('stretch', { query, format, from: stretch.next })
  }
}
