// `sluice ledger prove SEQ`: one record with the way to the root of a signed checkpoint, for somebody
// who has the checkpoint and shall see no other record. `sluice ledger key`: who signs here.

import { escapeUnseenJson } from '@sluice/guard/show/visible-text'
import { proveRecord } from '@sluice/ledger/verify/proof'
import { DIRECTORY } from '../connect/find-data.ts'
import { readCount } from '../connect/read-option.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { writeOutput } from '../terminal/write-new-file.ts'
import { checkpointsBeside, ownKey, readAllCheckpoints } from './keys.ts'
import { withLedger } from './source.ts'

const EXAMPLES = `
Examples:
  sluice ledger prove 1207 --out record-1207.json
  sluice ledger prove 1207 --checkpoint gate.jsonl   for a checkpoint that somebody has

The proof has the record as it was hashed, and hashes. Its receiver checks it with
  sluice ledger verify --proof record-1207.json --checkpoint gate.jsonl --key gate.pub`

const OPTIONS = {
  ...DIRECTORY,
  '--checkpoint <file>': 'for the first checkpoint in there that is over the record',
  '--out <file>': 'file to write (default: stdout)',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const addLedgerProve = defineCommand({
  name: 'prove',
  description: 'prove one record to somebody who has only a checkpoint',
  args: { '<seq>': 'the number of the record' },
  options: OPTIONS,
  json: 'it is JSON anyway',
  examples: EXAMPLES,
  run: ({ seq, ...options }) => {
    const text = prove(readCount(seq, 'the number of the record', 2 ** 50), options)
    writeOutput(text, options.out, 0o600)
  },
})

function prove(seq: number, { data, checkpoint }: Options): string {
  return withLedger(data, (ledger) => {
    const beside = checkpoint === undefined
    const all = beside ? checkpointsBeside(data).toReversed() : readAllCheckpoints([checkpoint])
    const placed = all.find(({ checkpoint: { from, seq: last } }) => from < seq && seq <= last)
    if (placed === undefined)
      throw new ArgumentError(
        `no checkpoint is over record ${seq} yet`,
        'one is made within a minute, and when the gate ends',
      )
    const proof = proveRecord(ledger, seq, placed.checkpoint)
    return `${escapeUnseenJson(JSON.stringify(proof, null, 2))}\n`
  })
}

const KEY_EXAMPLES = `
Examples:
  sluice ledger key > gate.pub                       give it to the verifier

Ed25519, the 32 bytes of the public key as base64url. It is derived from identity.key.`

export const addLedgerKey = defineCommand({
  name: 'key',
  description: 'the public key that checkpoints are signed with',
  options: DIRECTORY,
  examples: KEY_EXAMPLES,
  run: (options, output) => {
    const key = ownKey(options.data)
    if (key === undefined)
      throw new CliError(
        'CLI_FILE',
        `\`${options.data}\` has no key`,
        'a gate makes one when it first runs; name its directory with --data',
      )
    output.value({ key })
    output.line(key)
  },
})
