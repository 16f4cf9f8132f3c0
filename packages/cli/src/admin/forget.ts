// `sluice forget NAME`: asks the gate to delete a name, and says what that does not reach: records of older versions, which
// have the name in clear, and copies outside of the data directory.

import { FORGET_PERSON } from '@sluice/gateway/operations/forget-person'
import { listRecordSpans, recordText } from '@sluice/ledger/chain/block'
import { blocksFrom, openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { header, readHeader } from '@sluice/ledger/records/header'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import { type DataOptions, findData } from '../connect/find-data.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { plural, printable } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  sluice forget ann.smith@example.com --dry-run     what would be done
  sluice forget ann.smith@example.com               asks for your PIN (role admin)

Hashes, checkpoints and proofs stay as they are; the records have a token in place of the name. Revoke the grant of a
caller, or remove an approver, first. Afterwards \`sluice ledger query --who TOKEN\` still finds the calls.`

const NOT_REACHED =
  'not reached from here: backups, the archive and replicas of a database, exports and kept copies, logs, spans, mails'

export function addForget(parent: Command, answer: SetExitCode): void {
  let data = ''
  addOperationCommand(parent, answer, {
    row: FORGET_PERSON,
    name: 'forget',
    args: { name: '<name>' },
    examples: EXAMPLES,
    find: (options: DataOptions) => {
      const place = findData(options)
      data = place.data
      return place
    },
    print: ({ isForgotten, rows, tokens }, output, { name }) => {
      const { clear, hidden, lastMs } = countRecords(data, name, tokens)
      const what = isForgotten ? output.paint('green', 'forgotten') : 'would be forgotten'
      output.line(
        `${what}: ${printable(name)}, ${plural(hidden, 'record')} and ${plural(rows, 'row')}`,
      )
      for (const token of tokens) output.line(`  ${token}`)
      if (clear > 0)
        output.remark(
          `note: ${plural(clear, 'older record')} of this gate have the name in clear, the last of ${new Date(lastMs).toISOString()}: they go with \`ledger: { keep: … }\``,
        )
      output.remark(`note: ${NOT_REACHED}`)
    },
  })
}

interface RecordCounts {
  readonly hidden: number
  /** Records that have the name itself. */
  readonly clear: number
  readonly lastMs: number
}

function countRecords(data: string, name: string, tokens: readonly string[]): RecordCounts {
  using ledger = openLedgerReadOnly(data)
  const quoted = JSON.stringify(name).slice(1, -1)
  let [clear, hidden, lastMs] = [0, 0, 0]
  for (const { data: block } of blocksFrom(ledger)) {
    for (const span of listRecordSpans(block)) {
      const text = recordText(block, span)
      if (tokens.some((token) => text.includes(token))) hidden++
      if (!text.includes(`"${quoted}"`) && !text.includes(`"${quoted}#`)) continue
      clear++
      if (readHeader(block, span.start)) lastMs = header.atMs
    }
  }
  return { clear, hidden, lastMs }
}
