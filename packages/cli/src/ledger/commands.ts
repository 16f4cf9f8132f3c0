// `sluice ledger …`: its commands in the order help shows them.

import type { Command } from 'commander'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { addLedgerExport } from './export.ts'
import { addLedgerKey, addLedgerProve } from './prove.ts'
import { addLedgerQuery } from './query.ts'
import { addLedgerReport } from './report.ts'
import { addLedgerTail } from './tail.ts'
import { addLedgerVerify } from './verify.ts'

export function add(program: Command, answer: SetExitCode): void {
  const ledger = program.command('ledger').helpCommand(false)
  for (const add of [
    addLedgerTail,
    addLedgerQuery,
    addLedgerReport,
    addLedgerExport,
    addLedgerVerify,
    addLedgerProve,
    addLedgerKey,
  ])
    add(ledger, answer)
}
