// `sluice ledger tail`: the last records, and with --follow those that come. Looks only; works
// beside the gate that writes.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  openIndexReadOnly,
  openLedgerReadOnly,
  readHead,
  recordsBackwards,
  recordsFrom,
} from '@sluice/ledger/chain/read'
import { recordJson } from '@sluice/ledger/export/record-json'
import { SessionNames } from '@sluice/ledger/query/session-names'
import type { LedgerRecord } from '@sluice/ledger/records/record'
import { DIRECTORY } from '../connect/find-data.ts'
import { readCount } from '../connect/read-option.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import type { Output } from '../terminal/output.ts'
import { recordLine } from './lines.ts'

const LINES_MAX = 100_000
const POLL_MS = 250

const EXAMPLES = `
Examples:
  sluice ledger tail
  sluice ledger tail --lines 100 --data ./.sluice
  sluice ledger tail --follow
  sluice ledger tail --follow --json                 one JSON object a line`

const OPTIONS = {
  ...DIRECTORY,
  '-n, --lines <n>': ['how many', '20'],
  '-f, --follow': 'keep printing new records',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const addLedgerTail = defineCommand({
  name: 'tail',
  description: 'show the last records',
  options: OPTIONS,
  json: 'print one JSON object per line',
  examples: EXAMPLES,
  run: tail,
})

async function tail(options: Options, output: Output): Promise<0> {
  const lines = readCount(options.lines, '--lines', LINES_MAX)
  using ledger = openLedgerReadOnly(options.data)
  using index = openIndexReadOnly(options.data)
  const names = new SessionNames(ledger, index)
  const show = (records: readonly LedgerRecord[]) => {
    for (const record of records) names.see(record)
    names.load(records.flatMap((record) => ('session' in record ? [record.session] : [])))
    for (const record of records) {
      const sessionName = 'session' in record ? names.nameOf(record.session) : undefined
      const more = sessionName === undefined ? {} : { sessionName }
      const line = output.json ? recordJson(record, more) : recordLine(record, output, sessionName)
      process.stdout.write(`${line}\n`)
    }
  }
  let { seq } = readHead(ledger)
  show(last(recordsBackwards(ledger, seq + 1), lines))
  while (options.follow) {
    await sleep(POLL_MS)
    const fresh = [...recordsFrom(ledger, seq + 1)]
    show(fresh)
    seq = fresh.at(-1)?.seq ?? seq
  }
  return 0
}

function last(backwards: Iterable<LedgerRecord>, count: number): LedgerRecord[] {
  const records: LedgerRecord[] = []
  for (const record of backwards) {
    records.push(record)
    if (records.length === count) break
  }
  return records.reverse()
}
