// `sluice ledger export`: every record, oldest first, with its hash: as lines of JSON, as CSV, as CEF, or
// as OpenTelemetry logs, into a file or to a collector. With --encoded also the text that was hashed,
// so that others can verify the chain without Sluice.

import { once } from 'node:events'
import { closeSync, openSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { type Command, Option } from 'commander'
import { readPackageVersion } from '../../gateway/shared/package-version.ts'
import { deliverWebhook } from '../../ledger/chain/deliver-webhook.ts'
import { openLedgerReadOnly } from '../../ledger/chain/read.ts'
import { exportChunks, type HashedRecord, readHashedRecords } from '../../ledger/export/chunks.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../../ledger/export/forms.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { addDirectoryOptions } from '../connect/find-data.ts'
import { readCount, readTime, toCommandError, withCliErrors } from './source.ts'

interface Options {
  data: string
  format: ExportFormat
  out?: string
  otlp?: string
  from: string
  since?: string
  until?: string
  encoded?: boolean
}

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

hash = SHA-256(hash before it, length of the encoded text as 4 bytes, encoded text); the first
follows 32 zero bytes.`

export function addLedgerExport(parent: Command, answer: SetExitCode): void {
  addDirectoryOptions(parent.command('export'))
    .description('write every record, oldest first: JSON lines, CSV, CEF or OpenTelemetry logs')
    .addOption(
      new Option('--format <form>', 'of what is written').choices(EXPORT_FORMATS).default('jsonl'),
    )
    .option('--out <file>', 'write there, for its owner only; stdout where left out')
    .option('--otlp <url>', 'send to a collector that takes OTLP over HTTP, as JSON')
    .option('--from <seq>', 'begin with this record', '1')
    .option('--since <time>', 'not before: `15m`, `2h`, `7d` (ago), or a time')
    .option('--until <time>', 'not after')
    .option('--encoded', 'with the text that was hashed (jsonl)')
    .option('--json', 'lines of JSON, which is the default')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      await exportAll(options)
      answer(0)
    })
}

async function exportAll(options: Options): Promise<void> {
  const ledger = withCliErrors(() => openLedgerReadOnly(options.data))
  try {
    if (options.otlp !== undefined) await sendAll(ledger, options, options.otlp)
    else await writeAll(ledger, options)
  } catch (error) {
    throw toCommandError(error)
  } finally {
    ledger.close()
  }
}

function* foundIn(ledger: DatabaseSync, options: Options): Generator<HashedRecord> {
  const from = readCount(options.from, '--from', 2 ** 50)
  const sinceMs = readTime(options.since, '--since') ?? 0
  const untilMs = readTime(options.until, '--until') ?? Number.MAX_SAFE_INTEGER
  for (const record of readHashedRecords(ledger, from))
    if (record.record.atMs >= sinceMs && record.record.atMs <= untilMs) yield record
}

function chunks(ledger: DatabaseSync, options: Options, format: ExportFormat): Generator<string> {
  const form = { format, version: readPackageVersion(), encoded: options.encoded === true }
  return exportChunks(foundIn(ledger, options), form)
}

async function writeAll(ledger: DatabaseSync, options: Options): Promise<void> {
  const { write, close } = writerTo(options.out)
  try {
    for (const chunk of chunks(ledger, options, options.format)) await write(chunk)
  } finally {
    close()
  }
}

async function sendAll(ledger: DatabaseSync, options: Options, to: string): Promise<void> {
  if (!/^https?:\/\//.test(to) || !URL.canParse(to))
    throw new CliError('CLI_ARGUMENT', `--otlp is \`${to}\``, 'write `http://127.0.0.1:4318`')
  const url = new URL(to)
  if (!url.pathname.endsWith('/v1/logs'))
    url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/logs`
  let sent = 0
  for (const body of chunks(ledger, options, 'otlp')) {
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
