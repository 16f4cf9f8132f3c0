// `sluice ledger export`: every record as one JSON object a line, oldest first, with its hash. With
// --encoded also the text that was hashed, so that others can verify the chain without Sluice.

import { openSync, writeSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Command } from 'commander'
import { hashAfter, placesOf, recordText } from '../ledger/block.ts'
import { decode } from '../ledger/decoding.ts'
import { blocksFrom } from '../ledger/read.ts'
import type { Answer } from './answer.ts'
import { CliError } from './errors.ts'
import { recordJson } from './ledger-lines.ts'
import { DATA_OPTION, readCount, readTime, withLedger } from './ledger-source.ts'

interface Options {
  data: string
  out?: string
  from: string
  since?: string
  until?: string
  encoded?: boolean
}

const EXAMPLES = `
Examples:
  sluice ledger export > calls.jsonl
  sluice ledger export --since 2026-01-01 --until 2026-02-01 --out january.jsonl
  sluice ledger export --encoded                     with the text that was hashed

hash = SHA-256(hash before it, length of the encoded text as 4 bytes, encoded text); the first
follows 32 zero bytes.`

export function addLedgerExport(parent: Command, answer: Answer): void {
  parent
    .command('export')
    .description('write every record as a line of JSON, oldest first')
    .option(...DATA_OPTION)
    .option('--out <file>', 'write there, for its owner only; stdout where left out')
    .option('--from <seq>', 'begin with this record', '1')
    .option('--since <time>', 'not before: `15m`, `2h`, `7d` (ago), or a time')
    .option('--until <time>', 'not after')
    .option('--encoded', 'with the text that was hashed')
    .option('--json', 'it is JSON anyway')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => {
      withLedger(options.data, (ledger) => writeAll(ledger, options))
      answer(0)
    })
}

const CHUNK_LENGTH = 65_536

function writeAll(ledger: DatabaseSync, options: Options): void {
  const from = readCount(options.from, '--from', 2 ** 50)
  const sinceMs = readTime(options.since, '--since') ?? 0
  const untilMs = readTime(options.until, '--until') ?? Number.MAX_SAFE_INTEGER
  const write = writerTo(options.out)
  let chunk = ''
  for (const { data } of blocksFrom(ledger, from))
    for (const place of placesOf(data)) {
      const encoded = recordText(data, place)
      const record = decode(encoded)
      if (record.seq < from || record.atMs < sinceMs || record.atMs > untilMs) continue
      const hash = Buffer.from(hashAfter(data, place), 'latin1').toString('hex')
      chunk += `${recordJson(record, options.encoded ? { hash, encoded } : { hash })}\n`
      if (chunk.length < CHUNK_LENGTH) continue
      write(chunk)
      chunk = ''
    }
  write(chunk)
}

function writerTo(file: string | undefined): (text: string) => void {
  if (file === undefined) return (text) => process.stdout.write(text)
  try {
    const handle = openSync(file, 'wx', 0o600)
    return (text) => writeSync(handle, text)
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = taken ? 'is there already' : `cannot be written: ${(error as Error).message}`
    throw new CliError('CLI_FILE', `\`${file}\` ${why}`, 'name another file')
  }
}
