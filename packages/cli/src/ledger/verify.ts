// `sluice ledger verify`: is the record of calls as it was written? Names what was edited, removed
// or moved, and what is missing at its end, by the signed checkpoints beside it and by those that
// were kept elsewhere. With --proof one record is checked by somebody who has only a checkpoint.

import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { findCheckpointFault } from '@sluice/ledger/chain/checkpoint'
import type { LocatedCheckpoint } from '@sluice/ledger/chain/checkpoint-file'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { recordJson } from '@sluice/ledger/export/record-json'
import { emptyIndex } from '@sluice/ledger/query/record-index'
import { PROBLEMS_MAX } from '@sluice/ledger/records/limits'
import { checkProof, readProof } from '@sluice/ledger/verify/proof'
import type { IntegrityProblem } from '@sluice/ledger/verify/verifier'
import type { TrustedHead } from '@sluice/ledger/verify/verify'
import { selectTrustedCheckpoints } from '@sluice/ledger/verify/verify-checkpoints'
import { verifyDirectory } from '@sluice/ledger/verify/verify-directory'
import { verifyExport } from '@sluice/ledger/verify/verify-export'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { DIRECTORY } from '../connect/find-data.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { type Output, plural } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { ownKey, readAllCheckpoints, readKeys } from './keys.ts'
import { recordLine } from './lines.ts'
import { withIndex } from './source.ts'

const EXAMPLES = `
Examples:
  sluice ledger verify
  sluice ledger verify --data ./.sluice --json
  sluice ledger verify --head 1200:9f86d0…           a head that was noted before
  sluice ledger verify --checkpoint /mnt/audit/gate.jsonl --key gate.pub
                                                     with what a second place has kept
  sluice ledger verify --proof record-7.json --checkpoint gate.jsonl --key gate.pub
                                                     one record, without the ledger
  sluice ledger verify week.jsonl --checkpoint gate.jsonl --key gate.pub
                                                     an export with --encoded, without the ledger
  sluice ledger verify --store postgres://auditor@db/sluice --checkpoint gate-1.jsonl
                                                     the chains of all gates of a cluster
  sluice ledger verify --store postgres://auditor@db/sluice --checkpoint gate-1.jsonl --restored gate-1:16500
                                                     after the database was restored from a backup

Exit code 0 if everything verifies, 1 if not.`

const OPTIONS = {
  ...DIRECTORY,
  '--head <seq:hash>': 'a head that was stored elsewhere',
  '--checkpoint <file>': {
    doc: 'checkpoints that were stored elsewhere, one per line',
    many: true,
  },
  '--key <key>': { doc: 'who may have signed: a key, or a file with it', many: true },
  '--tree': 'also verify the Merkle roots in the checkpoints; takes twice as long',
  '--proof <file>': 'only this proof of one record, against --checkpoint',
  '--store <address>': 'the chains of all gates in the shared store at postgres://…',
  '--restored <gate:seq>': {
    doc: 'with --store: a restore of the database that you know of, and the last record of the gate that the backup had',
    many: true,
  },
} as const

type Options = OptionsOf<typeof OPTIONS>

export const addLedgerVerify = defineCommand({
  name: 'verify',
  description:
    'check that no record was edited, removed, moved or cut off; rebuild the query index',
  args: { '[file]': 'an export with the texts that were hashed, instead of the ledger' },
  options: OPTIONS,
  examples: EXAMPLES,
  run: async ({ file, ...options }, output) => {
    if (typeof file === 'string') return await verifyFile(file, options, output)
    if (options.store !== undefined) {
      const { verifyStore } = await import('./verify-store.ts')
      return verifyStore({ ...options, store: options.store }, output)
    }
    if (options.restored !== undefined)
      throw new ArgumentError(
        '--restored needs --store',
        'it is about a restored database of several gates',
      )
    return options.proof === undefined ? verify(options, output) : verifyProof(options, output)
  },
})

function verify(options: Options, output: Output): 0 | 1 {
  const noted = options.head === undefined ? [] : [readHeadNote(options.head)]
  const keysGiven = readKeys(options.key ?? [])
  const checkpoints = readAllCheckpoints(options.checkpoint ?? [])
  const own = ownKey(options.data)
  const keys = keysGiven.length > 0 ? keysGiven : own === undefined ? undefined : [own]
  const tree = options.tree === true
  const request = { noted, checkpoints, tree, ...pickDefined({ keys }) }
  const verified = verifyDirectory(options.data, request)
  const { records, dropped, head, checkpoint, problems } = verified
  const ok = problems.length === 0
  output.value({ ok, records, dropped, head, checkpoint, keys: keys ?? null, problems })
  for (const { message } of problems) output.line(`${output.paint('red', 'broken')}: ${message}`)
  if (ok && records > 0) rebuildIndex(options.data, output)
  if (problems.length >= PROBLEMS_MAX) output.dim(`these are the first ${PROBLEMS_MAX}`)
  const what = ok ? output.paint('green', 'ok') : output.paint('red', 'not as it was written')
  output.line(`${what}: ${plural(records, 'record')}`)
  const dim = (text: string) => output.dim(text)
  if (dropped > 0) dim(`records 1 to ${dropped} were dropped after their time`)
  if (checkpoint > 0)
    dim(`signed up to record ${checkpoint} (${plural(verified.checkpoints, 'checkpoint')})`)
  if (records > 0 && checkpoint === 0)
    dim('no checkpoint: that the end was cut off could not be seen')
  if (checkpoint > 0 && keys === undefined)
    dim('the data directory has no key: anybody may have signed it; name the key with --key')
  if (ok && records > 0) dim(`head ${head.seq}:${head.hash}`)
  return ok ? 0 : 1
}

/** The query index is a copy that anybody with access to the directory can edit: what follows is asked of a new one. */
function rebuildIndex(directory: string, output: Output): void {
  using ledger = openLedgerReadOnly(directory)
  try {
    emptyIndex(directory)
    withIndex(directory, ledger, () => {})
  } catch (error) {
    output.remark(`note: the query index was not rebuilt: ${(error as Error).message}`)
  }
}

function verifyProof(options: Options, output: Output): 0 | 1 {
  const [key] = readKeys(options.key ?? [])
  if (options.checkpoint === undefined)
    throw new ArgumentError(
      '--proof needs --checkpoint',
      'name the file with the checkpoint that you trust',
    )
  const proof = readProof(readText(options.proof as string), options.proof as string)
  const checkpoints = readAllCheckpoints(options.checkpoint)
  const placed = checkpoints.find(
    ({ checkpoint: { seq, version } }) => seq === proof.size && version === proof.version,
  )
  if (placed === undefined)
    return printFault(output, `no checkpoint is over ${proof.size} records, which the proof is for`)
  const fault = findCheckpointFault(placed.checkpoint, key)
  if (fault !== undefined) return printFault(output, `the checkpoint ${placed.where}: ${fault}`)
  const checked = checkProof(proof, placed.checkpoint)
  if ('fault' in checked) return printFault(output, checked.fault)
  if (output.json) process.stdout.write(`${recordJson(checked.record, { ok: true })}\n`)
  output.line(recordLine(checked.record, output))
  output.line(`${output.paint('green', 'proven')}: record ${proof.seq} ${signedBy(placed)}`)
  if (key === undefined)
    output.remark('note: without --key anybody may have signed it: compare the key')
  return 0
}

async function verifyFile(file: string, options: Options, output: Output): Promise<0 | 1> {
  const { checkpoint: files, head, proof, store } = options
  if (head !== undefined || proof !== undefined || store !== undefined)
    throw new ArgumentError(`\`${file}\` is checked alone`, 'leave out --head, --proof and --store')
  if (!existsSync(file))
    throw new CliError('CLI_FILE', `\`${file}\` is not there`, 'name an export')
  const keys = readKeys(options.key ?? [])
  const problems: IntegrityProblem[] = []
  const located = readAllCheckpoints(files ?? [])
  const trusted = selectTrustedCheckpoints(located, keys.length > 0 ? keys : undefined, problems)
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity })
  const found = await verifyExport(
    lines,
    trusted.map(({ checkpoint }) => checkpoint),
  )
  const all = [...problems.map(({ message }) => message), ...found.problems]
  const ok = all.length === 0 && found.records > 0
  if (found.records === 0 && all.length === 0) all.push(`\`${file}\` has no record`)
  output.value({ ok, records: found.records, signed: found.signed, problems: all })
  for (const problem of all) output.line(`${output.paint('red', 'broken')}: ${problem}`)
  const what = ok ? output.paint('green', 'ok') : output.paint('red', 'not as it was written')
  output.line(`${what}: ${plural(found.records, 'record')}`)
  const remark =
    found.signed > 0 ? `signed up to record ${found.signed}` : 'no checkpoint is over these records'
  output.dim(remark)
  if (found.signed > 0 && keys.length === 0)
    output.dim('anybody may have signed it; name the key with --key')
  return ok ? 0 : 1
}

function signedBy({ checkpoint }: LocatedCheckpoint): string {
  return `is in the checkpoint of ${checkpoint.time} over ${checkpoint.seq} records, signed by ${checkpoint.key}`
}

function printFault(output: Output, fault: string): 1 {
  output.value({ ok: false, problems: [{ kind: 'forged', message: fault }] })
  output.line(`${output.paint('red', 'not proven')}: ${fault}`)
  return 1
}

function readHeadNote(text: string): TrustedHead {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash }
  throw new ArgumentError(
    `\`${text}\` is not a head`,
    'write it as `sluice ledger verify` printed it: the number, `:` and 64 hex digits',
  )
}
