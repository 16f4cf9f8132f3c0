// `sluice ledger export`: every record, oldest first, with its hash: as lines of JSON, as CSV, as CEF, or
// as OpenTelemetry logs, into a file or to a collector. With --encoded also the text that was hashed,
// so that others can verify the chain without Sluice.

import { once } from 'node:events'
import { closeSync, openSync, writeSync } from 'node:fs'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import { deliverWebhook } from '@sluice/ledger/chain/deliver-webhook'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import {
  exportChunks,
  type HashedRecord,
  RecordSelection,
  readHashedRecords,
} from '@sluice/ledger/export/chunks'
import { EXPORT_FORMATS, type ExportFormat } from '@sluice/ledger/export/forms'
import type { LedgerRecord } from '@sluice/ledger/records/record'
import { DIRECTORY } from '../connect/find-data.ts'
import { readCount } from '../connect/read-option.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import type { Output } from '../terminal/output.ts'
import { CALL_FILTERS, type CallFilters, readCallFilters } from './call-filters.ts'

const EXAMPLES = `
Examples:
  sluice ledger export > calls.jsonl
  sluice ledger export --since 2026-01-01 --until 2026-02-01 --out january.jsonl
  sluice ledger export --format csv --out calls.csv        for a spreadsheet
  sluice ledger export --format cef | logger -n siem -P 514
  sluice ledger export --format otlp --out calls.otlp.jsonl
  sluice ledger export --otlp http://127.0.0.1:4318 --since 1d
                                                     to a collector, by OTLP over HTTP
  sluice ledger export --encoded                     with the text that was hashed
  sluice ledger export --agent agent-7 --since 7d --format csv --out agent-7.csv
                                                     the calls of one agent, with their outcomes
  sluice ledger export --store postgres://auditor@db/sluice --since 7d
                                                     the records of all gates

hash = SHA-256(hash before it, length of the encoded text as 4 bytes, encoded text); the first
follows 32 zero bytes.`

const OPTIONS = {
  ...DIRECTORY,
  ...CALL_FILTERS,
  '--format <form>': { doc: 'format of the output', choices: EXPORT_FORMATS, unset: 'jsonl' },
  '--out <file>': 'file to write, readable by its owner only (default: stdout)',
  '--otlp <url>': 'send to a collector that takes OTLP over HTTP, as JSON',
  '--from <seq>': 'begin with this record',
  '--store <address>': 'the records of all gates in the shared store at postgres://…',
  '--encoded': 'with the text that was hashed (jsonl)',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const addLedgerExport = defineCommand({
  name: 'export',
  description: 'write every record, oldest first: JSON lines, CSV, CEF or OpenTelemetry logs',
  options: OPTIONS,
  json: 'lines of JSON, which is the default',
  examples: EXAMPLES,
  run: async (options, output) => {
    await exportAll(options, output)
  },
})

async function exportAll(options: Options, output: Output): Promise<void> {
  const isWanted = selectRecords(options)
  const from = readCount(options.from ?? '1', '--from', 2 ** 50)
  const send = (batches: Batches) =>
    options.otlp === undefined
      ? writeAll(batches, options)
      : sendAll(batches, options, options.otlp)
  const { store } = options
  if (store !== undefined) {
    if (options.from !== undefined)
      throw new ArgumentError(
        '--from is the number of a record of one gate',
        'with --store use --since',
      )
    const { readAllGates, withStore } = await import('./with-store.ts')
    return withStore(store, (connections) =>
      send(selected(readAllGates(connections, output), isWanted)),
    )
  }
  using ledger = openLedgerReadOnly(options.data)
  await send(selected([readHashedRecords(ledger, from)], isWanted))
}

type Batches = AsyncIterable<Iterable<HashedRecord>>

async function* selected(
  batches: AsyncIterable<Iterable<HashedRecord>> | Iterable<Iterable<HashedRecord>>,
  isWanted: (record: LedgerRecord) => boolean,
): Batches {
  for await (const batch of batches) yield filter(batch, isWanted)
}

function* filter(
  records: Iterable<HashedRecord>,
  isWanted: (record: LedgerRecord) => boolean,
): Generator<HashedRecord> {
  for (const found of records) if (isWanted(found.record)) yield found
}

/** By time alone every record counts for itself: of exports of one hour after the other, none lacks the outcome
 * of a call that took longer. */
function selectRecords(options: CallFilters): (record: LedgerRecord) => boolean {
  const query = readCallFilters(options)
  const { sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, ...words } = query
  if (Object.keys(words).length === 0) return ({ atMs }) => atMs >= sinceMs && atMs <= untilMs
  const byGate = new Map<string | undefined, RecordSelection>()
  return (record) => {
    const selection = byGate.get(record.gate) ?? new RecordSelection(query)
    byGate.set(record.gate, selection)
    return selection.has(record)
  }
}

async function* chunks(
  batches: Batches,
  options: Options,
  format: ExportFormat,
): AsyncGenerator<string> {
  const form = { format, version: readPackageVersion(), encoded: options.encoded === true }
  let isFirst = true
  for await (const batch of batches) {
    yield* exportChunks(batch, form, isFirst)
    isFirst = false
  }
  // A spreadsheet without records has a header.
  if (isFirst) yield* exportChunks([], form)
}

async function writeAll(batches: Batches, options: Options): Promise<void> {
  const { write, close } = writerTo(options.out)
  try {
    for await (const chunk of chunks(batches, options, options.format)) await write(chunk)
  } finally {
    close()
  }
}

async function sendAll(batches: Batches, options: Options, to: string): Promise<void> {
  if (!/^https?:\/\//.test(to) || !URL.canParse(to))
    throw new ArgumentError(`--otlp is \`${to}\``, 'write `http://127.0.0.1:4318`')
  const url = new URL(to)
  if (!url.pathname.endsWith('/v1/logs'))
    url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/logs`
  let sent = 0
  for await (const body of chunks(batches, options, 'otlp')) {
    try {
      await deliverWebhook({ url: url.href }, { id: `ledger-${sent}`, body })
    } catch (error) {
      const help = 'what was sent before stays there; go on with --from'
      throw new CliError('CLI_FILE', `\`${url.origin}\`: ${(error as Error).message}`, help)
    }
    sent += 1
  }
}

function writerTo(file: string | undefined) {
  if (file === undefined) return { write: toStdout, close: () => {} }
  try {
    const handle = openSync(file, 'wx', 0o600)
    return {
      write: async (text: string) => void writeSync(handle, text),
      close: () => closeSync(handle),
    }
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = taken ? 'is there already' : `cannot be written: ${(error as Error).message}`
    throw new CliError('CLI_FILE', `\`${file}\` ${why}`, 'name another file')
  }
}

/** A ledger of years must not wait in memory for a slow reader of the pipe. */
async function toStdout(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
